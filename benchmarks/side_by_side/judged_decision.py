"""A decision whose queries are judged, in the database of DATABASE_URL, and how long its parts take. Prints JSON.

python judged_decision.py QUERIES LOADS

Two raters' answers go through the usual action. ``verdict`` is the processor time from the database to verdict and
chart without a cache; the others are pages, as the test client loads them. The database must be empty.
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

DEPTH, SEED = 10, 20261127


def build(queries: int) -> Any:
    """Start a decision that stays undecided, and judge all of it."""
    from evaluation.decisions import decisions
    from judgments.imports import ingestion
    from judgments.members import collections
    from judgments.models import Pair, User
    from judgments.rating import assignment, submission

    lead = User.objects.create_user("lead", can_create_collections=True)
    rater = User.objects.create_user("rater")
    made = collections.create_collection(actor=lead, slug="shop", name="Shop search")
    collections.add_member(made, actor=lead, username="rater", role="rater")
    draw = random.Random(SEED)
    ids = [f"q{number:05}" for number in range(queries)]
    lists = [
        {query_id: draw.sample([f"{query_id}-d{n}" for n in range(15)], DEPTH) for query_id in ids} for _ in range(2)
    ]

    def put(kind: str, content: str, name: str) -> None:
        upload = ingestion.receive(made, kind=kind, file=io.BytesIO(content.encode()), filename=name, actor=lead)
        ingestion.store(upload, actor=lead)

    tiers = ("head", "torso", "tail")
    rows = "".join(f"{one},query {one},{tiers[at % 3]}\n" for at, one in enumerate(ids))
    put("queries", f"query_id,query,tier\n{rows}", "queries.csv")
    for name, ranked in zip(("current", "new"), lists, strict=True):
        lines = [f"{q} Q0 {d} {n} {DEPTH - n} {name}\n" for q, docs in ranked.items() for n, d in enumerate(docs)]
        put("runs", "".join(lines), f"{name}.run")
    runs = {run.name: run for run in made.runs.all()}
    settings = decisions.Settings(closes=False, delta=0.001)
    decision, _ = decisions.start(
        runs["current"], [runs["new"]], actor=lead, name="new", settings=settings, raters=[rater]
    )
    while batch := assignment.claim_batch(decision.round, rater=rater, size=50):
        pairs = [pair for pair in batch if isinstance(pair, Pair)]
        answers = [
            submission.Answer(client_id=pair.uuid, pair=pair.uuid, grade=draw.randrange(4), seconds_active=9.0)
            for pair in pairs
        ]
        submission.submit_all(decision.round, answers, rater=rater)
    return decision


def spent(work: Callable[[], object], loads: int) -> list[float]:
    """Return the processor time of each repetition."""
    times = []
    for _ in range(loads):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return times


def main() -> int:
    """Build and measure."""
    queries, loads = map(int, sys.argv[1:3])
    os.environ.setdefault("DEBUG", "1")
    import django

    django.setup()
    from django.core.cache import cache
    from django.core.management import call_command
    from django.test import Client
    from django.urls import reverse

    call_command("migrate", verbosity=0)
    decision = build(queries)
    from evaluation.decisions import live
    from evaluation.decisions.findings import sequence
    from judgments.models import User

    candidate = decision.candidates.get().run
    labels = live.judged(decision).labels

    def verdict() -> None:
        outcome = live.outcome_of(decision, candidate, labels)
        sequence(outcome, "difference")

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(username="lead"))
    address = reverse("decision", args=["shop", decision.uuid])
    plan = reverse("decision_plan", args=["shop"])
    chosen = f"{plan}?baseline={decision.baseline.uuid}&candidate={candidate.uuid}"

    def load(path: str) -> None:
        status = client.get(path).status_code
        if status != 200:
            raise SystemExit(f"{path} returned {status}")

    def after_an_answer() -> None:
        cache.clear()
        load(address)

    pages = {
        "home": "/",
        "systems": reverse("compare_systems"),
        "plan": chosen,
        "decision": address,
        "report": reverse("decision_report", args=["shop", decision.uuid]),
    }
    found = {"verdict and chart": spent(verdict, loads + 1)[1:]}
    found |= {name: spent(partial(load, path), loads + 1)[1:] for name, path in pages.items()}
    found["decision after an answer"] = spent(after_an_answer, loads + 1)[1:]
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
