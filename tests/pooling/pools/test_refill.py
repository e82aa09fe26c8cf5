"""Tests of growing rounds: pairs chosen from judgments, within the budget, reproducibly."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from assay.strategies.pool import build_pool
from judgments.jobs import jobs
from judgments.labels import carried_labels
from judgments.models import AuditRow, Job, Pair
from judgments.rating import assignment
from judgments.rounds import rounds
from pooling.models import Refill
from pooling.pools import duplicates, pools, refill, refill_job
from pooling.pools import refill_job as due_queries
from pooling.runs import runs as stored_runs
from pooling.runs.known_pairs import wording
from tests.pooling.pools.growing_round import choose_all, make_growing, rate, relevant
from tests.threads import at_once

Grow = Callable[..., Refill]
pytestmark = pytest.mark.django_db


@pytest.fixture
def grow(store: Any, collection: Any, lead: Any, rater: Any) -> Grow:
    return lambda **options: make_growing(store, collection, lead, options.pop("raters", [rater]), **options)


def pairs_of(row: Refill) -> list[tuple[str, str]]:
    return list(row.round.pairs.values_list("query__query_id", "document__doc_id"))


def fresh(row: Refill) -> Refill:
    return Refill.objects.select_related("round", "pool", "job").get(pk=row.pk)


def test_a_round_grows_with_its_judgments_to_its_budget_and_every_step_can_be_repeated(
    grow: Grow, rater: Any, lead: Any
) -> None:
    row = grow()
    # The first by name becomes the last: no step may take another order for that.
    stored_runs.rename(row.pool.runs.get(name="one"), name="zero", actor=lead)
    judged: dict[tuple[str, str], int] = {}
    choose_all(row)
    for _ in range(100):
        wide = fresh(row).ended or assignment.available_pairs(row.round)[rater.pk] >= due_queries.AHEAD * row.batch
        assert wide
        assert row.round.pairs.count() <= 60
        batch = rate(row.round, rater)
        if not batch:
            break
        judged |= {(one.query.query_id, one.document.doc_id): relevant(one.document.doc_id) for one in batch}
        known = {(step.number) for step in row.asked.all()}
        choose_all(row)
        # What the new steps knew is what was judged by now, and nothing of a pair that waits.
        for step in row.asked.exclude(number__in=known):
            facts = {(query, doc): grade for query, docs in step.known.items() for doc, grade in docs.items()}
            assert {pair: grade for pair, grade in facts.items() if grade is not None}.items() <= judged.items()
            assert {pair for pair, grade in facts.items() if grade is None}.isdisjoint(judged)
    row = fresh(row)
    assert (row.ended, row.round.growing, refill.status(row.round)["state"]) == ("budget", False, "complete")
    assert Counter(query for query, _ in pairs_of(row)) == {"q1": 20, "q2": 20, "q3": 20}
    assert (row.round.provenance["pairs"], row.round.provenance["refill"]["most_pairs"]) == (60, 60)
    assert row.asked.count() > 5
    assert [(e.query.query_id, e.document.doc_id) for e in row.pool.entries.all()] != pairs_of(row)  # shuffled
    assert set(row.pool.entries.values_list("query__query_id", "document__doc_id")) == set(pairs_of(row))
    replay(row)


def replay(row: Refill) -> None:
    """Choose every step again from what is stored, with nothing of the code that chose it."""
    names = row.pool.summary["run_names"]
    runs = [
        stored_runs.ranked(run, by=row.pool.parameters["by"]).named(names[str(run.uuid)]) for run in row.pool.runs.all()
    ]
    depth = {"depth": row.pool.parameters["depth"]}
    for step in row.asked.all():
        known = {(query, doc): grade for query, docs in step.known.items() for doc, grade in docs.items()}
        again = build_pool(
            runs,
            row.pool.strategy,
            depth,
            seed=row.pool.seed,
            budget=row.batch,
            judged=known,
            queries=list(step.known),
            wording=wording(row.pool.collection),
            duplicates=duplicates.compared(row.pool.collection, row.pool.parameters.get("duplicates", "off")),
        )
        entries = row.pool.entries.filter(origin__refill=step.number).order_by("position")
        assert len(entries) == step.added
        stored: dict[str, list[str]] = {}
        for entry in entries:
            stored.setdefault(entry.query.query_id, []).append(entry.document.doc_id)
            assert entry.origin["seed"] == row.pool.seed
            assert entry.origin["runs"]
        chosen: dict[str, list[str]] = {}
        for pair in again.pairs:
            chosen.setdefault(pair.query_id, []).append(pair.doc_id)
        assert stored == {query: chosen[query][: len(expected)] for query, expected in stored.items()}
    for query in ("q1", "q2", "q3"):
        own = row.pool.entries.filter(query__query_id=query).order_by("position")
        assert [entry.origin["step"] for entry in own] == list(range(1, len(own) + 1))
        origins = Pair.objects.filter(round=row.round, query__query_id=query).values_list("origin", flat=True)
        assert {origin["pool"] for origin in origins} == {str(row.pool.uuid)}


@pytest.mark.parametrize("strategy", ["move-to-front", "hedge", "variable-depth"])
def test_it_ends_with_the_strategy_and_draws_the_stratum_from_the_rest(grow: Grow, rater: Any, strategy: str) -> None:
    row = grow(strategy=strategy, most_pairs=500, pairs_per_query=None, residual=2, batch=10)
    # All that two runs return would be chosen; so that something is left, they are followed to rank 8.
    row.pool.parameters["depth"] = 8
    row.pool.save(update_fields=["parameters"])
    for _ in range(60):
        choose_all(row)
        if not rate(row.round, rater, size=20):
            break
    row = fresh(row)
    assert (row.ended, row.round.growing) == ("strategy", False)
    stratum = list(row.round.pairs.filter(origin__why="residual"))
    assert Counter(pair.query.query_id for pair in stratum) == {"q1": 2, "q2": 2, "q3": 2}
    returned: dict[str, set[str]] = {}
    for run in row.pool.runs.all():
        for query, docs in stored_runs.ranked(run).to_dict().items():
            returned.setdefault(query, set()).update(docs)
    for pair in stratum:
        query = pair.query.query_id
        rest = len(returned[query]) - row.round.pairs.filter(query=pair.query).exclude(origin__why="residual").count()
        assert pair.origin["probability"] == pytest.approx(2 / rest)


def test_a_pair_teaches_when_it_has_all_its_ratings(grow: Grow, rater: Any, rater2: Any) -> None:
    row = grow(raters=[rater, rater2], ratings_per_pair=2, most_pairs=200, pairs_per_query=None)
    first = row.round.pairs.count()
    while row.round.pairs.count() == first:
        rate(row.round, rater)
        choose_all(row)
    assert {grade for step in row.asked.all() for docs in step.known.values() for grade in docs.values()} == {None}
    while rate(row.round, rater2):
        pass
    choose_all(row)
    last = row.asked.last()
    known = {(query, doc) for query, docs in last.known.items() for doc, grade in docs.items() if grade is not None}
    filled = row.round.pairs.exclude(slots__filled_by__isnull=True)
    twice = set(filled.values_list("query__query_id", "document__doc_id"))
    assert known
    assert known <= twice


def test_a_strategy_that_reads_is_shown_other_queries_too(grow: Grow, rater: Any) -> None:
    words = ("boots for snow", "boots", "a tent", "a stove", "rope and boots")
    texts = (
        json.dumps({"doc_id": f"{query}-d{at}", "title": f"Thing {at}", "text": words[at % len(words)]})
        for query in ("q1", "q2", "q3")
        for at in range(41)
    )
    row = grow(strategy="text-learning", most_pairs=40, documents="\n".join(texts).encode())
    for _ in range(4):
        rate(row.round, rater, size=6)
        choose_all(row)
    assert row.asked.count() > 1
    for step in row.asked.all():
        options = set(row.pool.entries.filter(origin__refill=step.number).values_list("query__query_id", flat=True))
        assert set(step.known) == {"q1", "q2", "q3"}
        assert all(step.known[query] for query in options)
    assert {pair.origin["why"] for pair in row.round.pairs.all()} == {"text-learning", "text-learning/rbp"}
    replay(row)


def test_documents_that_say_the_same_are_judged_once_however_late_they_are_chosen(grow: Grow, rater: Any) -> None:
    # Two neighbors each say the same: d0 and d1, d2 and d3.
    texts = (
        json.dumps({"doc_id": f"{query}-d{at}", "title": "Boots", "text": f"Number {at // 2} of {query}"})
        for query in ("q1", "q2", "q3")
        for at in range(41)
    )
    row = grow(duplicates="exact", most_pairs=200, pairs_per_query=None, documents="\n".join(texts).encode())
    for _ in range(60):
        choose_all(row)
        if not rate(row.round, rater, size=20):
            break
    row = fresh(row)
    assert row.ended == "strategy"
    groups = Counter((query, int(doc.split("-d")[1]) // 2) for query, doc in pairs_of(row))
    assert set(groups.values()) == {1}
    rows = {
        (query, copy["doc_id"]) for query, _, some in carried_labels.copies_of(row.round.pairs.all()) for copy in some
    }
    in_pool = (entry for entry in row.pool.entries.filter(origin__has_key="copies").select_related("query"))
    assert rows == {(entry.query.query_id, copy["doc_id"]) for entry in in_pool for copy in entry.origin["copies"]}
    later = row.round.pairs.filter(origin__has_key="copies").exclude(origin__has_key="refill")
    assert later.exists()  # pairs of the first draw stand for documents that were met later
    tables = [stored_runs.ranked(run).to_dict() for run in row.pool.runs.all()]
    returned = {(query, doc) for table in tables for query, docs in table.items() for doc in docs}
    assert rows | set(pairs_of(row)) == returned
    replay(row)


def test_rounds_that_cannot_grow_are_refused_with_the_reason(
    grow: Grow, pool: Any, guidelines: Any, lead: Any, rater: Any, example: Any
) -> None:
    def begin(of: Any, **plan: Any) -> Any:
        return refill.begin(
            of, actor=lead, name="R", guidelines=guidelines, raters=[rater], **{"most_pairs": 50, **plan}
        )

    with pytest.raises(NotValid, match="depth does not learn"):
        begin(pool)
    runs = list(example.runs.all())
    learning = pools.draw_pool(example, strategy="hedge", actor=lead, runs=runs, budget=2)
    for plan, expected in (
        ({"most_pairs": 2}, "nothing to choose"),
        ({"most_pairs": 5, "residual": 3}, "reserved for the residual"),
        ({"pairs_per_query": 2}, "leaves nothing"),
        ({"batch": 0}, "batch"),
    ):
        with pytest.raises(NotValid, match=expected):
            begin(learning, **plan)
    assert (Refill.objects.count(), example.rounds.count()) == (0, 0)
    made = begin(learning)
    assert (made.most_pairs, made.provenance["refill"]["most_pairs"]) == (50, 50)
    with pytest.raises(Conflict, match="already adds pairs to this pool"):
        refill.begin(learning, actor=lead, name="S", guidelines=guidelines, most_pairs=50)
    sampled = pools.draw_pool(example, strategy="hedge", actor=lead, runs=runs, budget=2, residual=1)
    with pytest.raises(NotValid, match="already has a residual stratum"):
        begin(sampled)


def test_stopping_closing_and_going_on_after_a_failure(grow: Grow, rater: Any, lead: Any) -> None:
    row = grow(most_pairs=200, pairs_per_query=None)
    assert refill.status(row.round)["state"] == "choosing"  # its job waits in the queue
    row.pool.parameters["depth"] = "nonsense"
    row.pool.save(update_fields=["parameters"])
    rate(row.round, rater)
    jobs.work_on_job.func(str(row.job.uuid))
    summary = refill.status(row.round)
    assert summary["state"] == "stopped"
    assert "depth" in summary["reason"]
    refill_job.queue_if_needed(row.round)  # a failure waits for a person
    assert fresh(row).job.state == Job.State.FAILED
    row.pool.parameters["depth"] = 100
    row.pool.save(update_fields=["parameters"])
    refill.resume(fresh(row), actor=lead)
    with pytest.raises(Conflict, match="already"):
        refill.resume(fresh(row), actor=lead)
    jobs.work_on_job.func(str(row.job.uuid))
    assert refill.status(row.round)["state"] == "ahead"
    assert row.round.pairs.count() > 12
    refill.stop(fresh(row), actor=lead)
    with pytest.raises(Conflict, match="complete"):
        refill.stop(fresh(row), actor=lead)
    assert refill.status(row.round)["reason"] == "a lead stopped choosing pairs"
    verbs = set(AuditRow.objects.values_list("verb", flat=True))
    assert {"refill.begin", "refill.resume", "refill.stop", "rounds.stop_growing", "rounds.append_pairs"} <= verbs
    assert choose_all(row) == 0


def test_a_closed_round_takes_no_more(grow: Grow, rater: Any, lead: Any) -> None:
    row = grow()
    while rate(row.round, rater):
        pass
    rounds.close_round(row.round, actor=lead)
    assert refill_job.choose_next(row) is None
    assert refill.status(row.round)["reason"] == "the round is closed"


def test_the_job_is_queued_once_when_pairs_are_wanted(
    grow: Grow, rater: Any, django_capture_on_commit_callbacks: Any
) -> None:
    row = grow()
    jobs.work_on_job.func(str(row.job.uuid))
    before, attempts = Job.objects.count(), fresh(row).job.started_at
    with django_capture_on_commit_callbacks(execute=True):
        rate(row.round, rater, size=1)
    assert fresh(row).job.started_at == attempts  # eleven are ahead, eight are enough
    with django_capture_on_commit_callbacks(execute=True):
        rate(row.round, rater, size=6)
    assert fresh(row).job.started_at > attempts
    assert assignment.available_pairs(row.round)[rater.pk] >= 8
    assert Job.objects.count() == before  # one row, however often it works
    rate(row.round, rater, size=7)
    with django_capture_on_commit_callbacks(execute=True):
        jobs.tick()  # the word was lost; somebody looks now and then
    assert assignment.available_pairs(row.round)[rater.pk] >= 8


@pytest.mark.django_db(transaction=True)
def test_of_workers_at_once_one_takes_each_step(grow: Grow, rater: Any) -> None:
    row = grow(most_pairs=90, pairs_per_query=None)
    for _ in range(4):
        rate(row.round, rater, size=9)
        ends = at_once(*[lambda: choose_all(row)] * 3)
        assert {type(end) for end in ends} == {int}
    added = sum(row.asked.values_list("added", flat=True))
    assert row.round.pairs.count() == 12 + added == row.pool.entries.count()
    # One worker alone would have chosen no more: each step found what the one before had left.
    assert assignment.available_pairs(row.round)[rater.pk] < due_queries.AHEAD * row.batch + row.batch
    replay(row)
