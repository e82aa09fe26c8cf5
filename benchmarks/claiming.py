"""Time a rater waits for a batch in a round of a million pairs.

    python benchmarks/claiming.py [--only sqlite] [--only postgresql] [--reps N] [--quick] [--json FILE]

The round has 1,000,000 pairs with two ratings each. The first half is complete. In the next fifth, one rater has
rated every pair alone, so 200,000 of these pairs wait for another rater. That rater, and one with no ratings yet,
lease batch after batch of ten pairs and answer them, both query by query and breadth first. The full requests of the
API and of the rating station are timed too. A ratio is the 95th percentile over 30 ms; the table also shows the
processor time, because a busy machine distorts the wall time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from side_by_side import databases
from side_by_side.processes import ROOT, CouldNotRun
from side_by_side.rows import Row, note, options, print_table

LIMIT = 30.0
PAIRS, FEW = 1_000_000, 20_000
REPS = 100
Spent = tuple[float, float]  # milliseconds of the clock and of the processor


def main() -> int:
    """Measure on each database that is there."""
    if sys.argv[1:2] == ["--inside"]:
        return inside(int(sys.argv[2]), int(sys.argv[3]))
    cases = {name: lambda args, name=name: rows(args, name) for name in ("sqlite", "postgresql")}
    return print_table(cases, options(__doc__, cases).parse_args())


def rows(args: argparse.Namespace, database: str) -> Iterator[Row]:
    """One row for each act."""
    if not databases.there(database):
        note(f"{database} is left out: set {databases.SERVER}")
        return
    pairs, reps = (FEW, 10) if args.quick else (PAIRS, args.reps or REPS)
    with databases.fresh(database) as environment:
        command = [sys.executable, __file__, "--inside", str(pairs), str(reps)]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CouldNotRun(done.stderr.strip()[-2000:])
    for name, times in json.loads(done.stdout.splitlines()[-1]).items():
        walls, used = zip(*times, strict=True)
        high = percentile(walls, 0.95)
        summary = f"p50 {statistics.median(walls):.1f} ms, p95 {high:.1f} ms, longest {max(walls):.0f} ms"
        summary += (
            f"; processor p50 {statistics.median(used):.1f} ms, p95 {percentile(used, 0.95):.1f} ms; {len(times)}x"
        )
        limited = not args.quick and name.startswith("claim")
        yield Row(f"{database}: {name}", f"{LIMIT:.0f} ms", [high / LIMIT], 1.0 if limited else None, None, summary)


def percentile(times: Sequence[float], share: float) -> float:
    """The value that so large a share of the times does not exceed."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def inside(pairs: int, reps: int) -> int:
    """Build and measure in this process, which has a database of its own; print the times in milliseconds as JSON."""
    import os

    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.test import override_settings

    # Pages name their stylesheets without a collected folder of them.
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    override_settings(STORAGES={**settings.STORAGES, "staticfiles": plain}).enable()
    from django.core.management import call_command
    from side_by_side import large_round

    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    made = large_round.make(pairs)
    print(json.dumps(measured(made.round, made.raters, reps)))
    return 0


def measured(round_: Any, raters: list[Any], reps: int) -> dict[str, list[Spent]]:
    """Times of each act by its name."""
    ahead, new = raters[0], raters[3]
    times: dict[str, list[Spent]] = {}
    for breadth, order in ((False, "each query to its end"), (True, "breadth first")):
        round_.breadth_first = breadth
        round_.save(update_fields=["breadth_first"])
        for rater, who in ((ahead, "rater with 200,000 answers"), (new, "new rater")):
            one = walk(round_, rater, reps)
            times[f"claim, {who}, {order}"] = one["claim"]
            times.setdefault("submit ten answers", []).extend(one["submit"])
    times |= requests(round_, new, reps)
    times["once: past 200,000 own pairs to one that is free"] = once(round_, ahead)
    return times


def walk(round_: Any, rater: Any, reps: int) -> dict[str, list[Spent]]:
    """Batches one after the other, each answered before the next."""
    from judgments.rating import assignment, submission
    from judgments.rating.submission import Answer

    times: dict[str, list[Spent]] = {"claim": [], "submit": []}
    for number in range(reps + 3):
        batch, spent = timed(lambda: assignment.claim_batch(round_, rater=rater, size=10))
        answers = [Answer(client_id=uuid.uuid4(), pair=pair.uuid, grade=2) for pair in batch]
        _, submission_ms = timed(lambda given: submission.submit_all(round_, given, rater=rater), answers)
        if number >= 3:  # the first ones warm up
            times["claim"].append(spent)
            times["submit"].append(submission_ms)
    assert len(batch) == 10
    return times


def requests(round_: Any, rater: Any, reps: int) -> dict[str, list[Spent]]:
    """Whole requests, without a network: the API's batch, and the station's next documents and page."""
    from django.test import Client
    from django.urls import reverse

    from judgments.rating import assignment, submission
    from judgments.rating.submission import Answer

    client = Client(HTTP_HOST="localhost")
    client.force_login(rater)
    asks: dict[str, Callable[[], Any]] = {
        "whole request, API batch": lambda: client.post(f"/api/v1/rounds/{round_.uuid}/batch/?size=10"),
        "whole request, station's next": lambda: client.post(reverse("rate_next", args=[round_.uuid])),
        "whole request, station's page": lambda: client.get(reverse("rate", args=[round_.uuid])),
    }
    times: dict[str, list[Spent]] = {}
    for name, ask in asks.items():
        for number in range(reps // 2 + 3):
            answer, spent = timed(ask)
            assert answer.status_code == 200, answer.content[:300]
            if number >= 3:
                times.setdefault(name, []).append(spent)
            held = assignment.claim_batch(round_, rater=rater, size=12)
            answers = [Answer(client_id=uuid.uuid4(), pair=pair.uuid, grade=2) for pair in held]
            submission.submit_all(round_, answers, rater=rater)
    return times


def once(round_: Any, rater: Any) -> list[Spent]:
    """The worst place to stand: at the beginning, with all own pairs between there and the next free one."""
    from judgments.models import Tally
    from judgments.rating import assignment

    round_.breadth_first = False
    round_.save(update_fields=["breadth_first"])
    assignment.release(round_, rater, for_good=True)
    Tally.objects.filter(round=round_, rater=rater).update(reached=0)
    return [timed(lambda: assignment.claim_batch(round_, rater=rater, size=10))[1]]


def timed(act: Callable[..., Any], *words: Any) -> tuple[Any, tuple[float, float]]:
    """What the act answered, and how many milliseconds it took: of the clock, and of this process's processor time."""
    began, used = time.perf_counter(), time.process_time()
    answer = act(*words)
    return answer, ((time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000)


if __name__ == "__main__":
    sys.exit(main())
