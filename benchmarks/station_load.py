"""Load test of the server with fifty raters: latencies, and each acknowledged judgment stored exactly once.

    python benchmarks/station_load.py [--only CASE] [--reps N] [--quick] [--json FILE]

The server runs as `manage.py serve` starts it. For one minute, 50 raters send two judgments a second each through the
API, as the rating station does. In the cases with "kill", every process of the server is killed (SIGKILL) half way
and the server is restarted; the raters send unacknowledged judgments again. Afterwards the database is checked: each
acknowledged judgment is stored exactly once, no pair has more ratings than slots, and the counters match a recount.

The ratios are 95th percentiles over their limits: 500 ms on SQLite and 250 ms on PostgreSQL for a submit request,
500 ms for a request for the next batch, and one second for the first batch, which all raters request at the same
moment. The raters run in this process, on the same processors as the server; the output gives the share of each.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from first_run import free_port
from side_by_side import databases, rater_crowd
from side_by_side.processes import ROOT, CouldNotRun
from side_by_side.rows import Row, note, options, print_table

LIMITS = {"sqlite": 500.0, "postgresql": 250.0}
BATCH_LIMIT, FIRST_BATCH_LIMIT = 500.0, 1000.0
RATERS, SECONDS, EVERY = 50, 60.0, 0.5
FEW_RATERS, FEW_SECONDS = 10, 8.0
WARM_UP = 3.0
Environment = Mapping[str, str]


def main() -> int:
    """Measure each case."""
    inside: dict[str, Callable[[], Any]] = {"--make": make, "--check": check}
    if sys.argv[1:2] and sys.argv[1] in inside:
        print(json.dumps(inside[sys.argv[1]]()))
        return 0
    cases = {f"{name}{end}": partial(rows, name, bool(end)) for name in LIMITS for end in ("", "-kill")}
    return print_table(cases, options(__doc__, cases).parse_args())


def rows(database: str, kill: bool, args: argparse.Namespace) -> Iterator[Row]:
    """One row for each kind of request: the percentile of every repetition over the limit."""
    if not databases.there(database):
        note(f"{database} is left out: set {databases.SERVER}")
        return
    raters, seconds = (FEW_RATERS, FEW_SECONDS) if args.quick else (RATERS, SECONDS)
    crowds, summary = [], ""
    for _ in range(args.reps or 1):
        with databases.fresh(database) as environment:
            crowd, summary = measured(environment, raters, seconds, kill)
        crowds.append(crowd)
    kinds: dict[str, tuple[float, Callable[[rater_crowd.Crowd], list[float]]]] = {
        "submit": (LIMITS[database], lambda crowd: crowd.submits),
        "next batch": (BATCH_LIMIT, lambda crowd: crowd.batches),
        "first batch, all at once": (FIRST_BATCH_LIMIT, lambda crowd: crowd.first_batches),
    }
    for kind, (limit, times) in kinds.items():
        name = f"{database}: {kind} of {raters} raters{', server killed half way' if kill else ''}, p95"
        ratios = [percentile(times(crowd), 0.95) / limit for crowd in crowds]
        latencies = "p50 {:.0f} p95 {:.0f} p99 {:.0f} ms".format(
            *(percentile(times(crowd), at) for at in (0.5, 0.95, 0.99))
        )
        # With a kill the waits are those of the raters who had to send again: no limit belongs to them.
        at_most = None if args.quick or kill else 1.0
        yield Row(
            name, f"{limit:.0f} ms", ratios, at_most, None, f"{latencies}; {summary}" if kind == "submit" else latencies
        )


def measured(environment: Environment, raters: int, seconds: float, kill: bool) -> tuple[rater_crowd.Crowd, str]:
    """What the raters saw, and the rest in words; raises where something is lost or doubled."""
    made = aside(environment, "--make", str(raters), str(int(raters * seconds / EVERY)))
    port = free_port()
    server = Server(environment, port)
    try:
        server.rest()
        begin = time.monotonic() + WARM_UP
        timer = threading.Timer(WARM_UP + seconds / 2, server.kill_and_start)
        if kill:
            timer.start()
        before = (server.used(), used_here(), time.monotonic())
        crowd = rater_crowd.rate(port, made["round"], made["tokens"], seconds, EVERY, begin)
        spent = time.monotonic() - before[2]
        shares = [
            100 * (after - first) / spent for after, first in zip((server.used(), used_here()), before, strict=False)
        ]
        timer.join() if kill else None
    finally:
        server.stop()
    checked = aside(environment, "--check", input_text=json.dumps({"round": made["round"], "told": crowd.recorded}))
    faults = [fault for fault in checked["faults"] if fault]
    if crowd.lost:
        faults.append(f"{crowd.lost} judgments were never acknowledged")
    if crowd.errors and not kill:
        faults.append(f"errors: {dict(crowd.errors)}")
    if faults:
        raise CouldNotRun("; ".join(faults))
    return crowd, words(crowd, shares, seconds, kill)


def words(crowd: rater_crowd.Crowd, shares: list[float], seconds: float, kill: bool) -> str:
    """What was measured beside the percentile of the verdict."""
    parts = [f"{len(crowd.recorded):,} recorded once ({len(crowd.recorded) / seconds:.0f}/s)"]
    parts.append(f"processor: server {shares[0]:.0f} %, raters {shares[1]:.0f} %, load {os.getloadavg()[0]:.1f}")
    return ", ".join([*parts, f"sent again after {dict(crowd.errors)}"] if kill else parts)


def percentile(times: list[float], share: float) -> float:
    """In milliseconds."""
    return 1000 * (statistics.quantiles(times, n=1000)[round(1000 * share) - 1] if len(times) > 1 else times[0])


class Server:
    """The server with all of its processes, which are a process group of their own."""

    def __init__(self, environment: Environment, port: int) -> None:
        self.environment, self.port, self.before = environment, port, 0.0
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=dict(self.environment), stdout=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                line = rater_crowd.http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                line.request("GET", "/api/v1/tokens/")
                line.getresponse().read()
                return
            except OSError:
                time.sleep(0.1)
        raise CouldNotRun("the server does not answer")

    def rest(self) -> None:
        """Wait until what it still does for its own start is done: raters who begin together do not begin with it."""
        deadline, before = time.monotonic() + 30, self.used()
        while time.monotonic() < deadline:
            time.sleep(2)
            now = self.used()
            if now - before < 1:
                return
            before = now

    def kill_and_start(self) -> None:
        """Kill every process at once, as a power cut would, and start anew."""
        self.before += self.used() - self.before
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.start()

    def stop(self) -> None:
        """End it and what it started."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=30)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)

    def used(self) -> float:
        """Seconds of processor time of all its processes so far, those that were killed included."""
        completed = subprocess.run(
            ["ps", "-o", "cputimes=", "-g", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        return self.before + sum(map(float, completed.stdout.split()))


def used_here() -> float:
    """Seconds of processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def aside(environment: Environment, *words: str, input_text: str = "", file: str = __file__) -> Any:
    """What this file, or another one, answers in a process in which Django may be set up."""
    command = [sys.executable, file, *words]
    done = subprocess.run(
        command, env=dict(environment), cwd=ROOT, input=input_text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CouldNotRun(done.stderr.strip()[-1000:])
    return json.loads(done.stdout.splitlines()[-1])


def ready() -> None:
    """Set Django up in this process."""
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()


def make() -> dict[str, Any]:
    """A round with twice the room that is needed, open to so many raters, and a token for each."""
    ready()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    from judgments.guidelines import guidelines
    from judgments.members import tokens
    from judgments.members.collections import create_collection
    from judgments.models import Document, Membership, Query, Role, User
    from judgments.rounds import rounds

    count, ratings = int(sys.argv[2]), int(sys.argv[3])
    lead, *raters = [User.objects.create_user(f"bench{number}") for number in range(count + 1)]
    collection = create_collection(actor=lead, slug="bench", name="Bench")
    Membership.objects.bulk_create(Membership(collection=collection, user=user, role=Role.RATER) for user in raters)
    text = "A short text about a jacket for a wet week, long enough to be read. " * 20
    each = 40
    queries = Query.objects.bulk_create(
        Query(collection=collection, query_id=f"q{place}", text=f"query {place}")
        for place in range(-(-ratings // each))
    )
    documents = Document.objects.bulk_create(
        Document(collection=collection, doc_id=f"d{place}", title=f"Document {place}", text=text)
        for place in range(each)
    )
    round_ = rounds.create_round(
        collection,
        name="Load",
        candidates=[rounds.Candidate(query, document, {}) for query in queries for document in documents],
        provenance={},
        guidelines=guidelines.add_version(collection, markdown="Grade what helps.", actor=lead),
        actor=lead,
        raters=raters,
    )
    rounds.open_round(round_, actor=lead)
    texts = [tokens.make_token(user, name="bench", scopes=["rate"])[1] for user in raters]
    return {"round": str(round_.uuid), "tokens": texts}


def check() -> dict[str, Any]:
    """What is wrong with what is on record, beside what the raters were told."""
    ready()
    from django.db.models import Count, F, Q

    from judgments.models import Judgment, Round, Tally
    from judgments.rating import pair_state

    request = json.loads(sys.stdin.read())
    round_ = Round.objects.get(uuid=request["round"])
    there = [str(one) for one in Judgment.objects.values_list("client_id", flat=True)]
    missing, doubled = set(request["told"]) - set(there), len(there) - len(set(there))
    counted = Q(judgments__in=Judgment.objects.counted())
    over = (
        round_.pairs.annotate(number=Count("judgments", filter=counted)).filter(number__gt=F("ratings_wanted")).count()
    )
    tally_of = {row.rater_id: row for row in Tally.objects.filter(round=round_)}
    differ = sum(
        (row.graded, row.filled, row.events) != (tally_of[rater].graded, tally_of[rater].filled, tally_of[rater].events)
        for rater, row in pair_state.recount(round_).items()
        if rater in tally_of or row.events
    )
    return {
        "faults": [
            f"{len(missing)} acknowledged judgments are not there" if missing else "",
            f"{doubled} judgments are there twice" if doubled else "",
            f"{over} pairs have more ratings than room" if over else "",
            f"{differ} tallies are not what counting says" if differ else "",
        ]
    }


if __name__ == "__main__":
    sys.exit(main())
