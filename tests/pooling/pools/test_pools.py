"""Tests of pools: pairs, their runs, and the copy in a round."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.jobs import jobs
from judgments.models import AuditRow, Document
from judgments.rating import assignment, submission
from pooling.models import Pool
from pooling.pools import pools
from pooling.pools.effort import Pace, pace
from pooling.pools.forms import read_pairs
from pooling.runs.known_pairs import known_pairs


def _pairs(pool: Any) -> set[str]:
    return set(pool.entries.values_list("document__doc_id", flat=True))


def test_the_depth_3_pool_of_the_example(pool: Any) -> None:
    assert _pairs(pool) == {"d1", "d2", "d3", "d4", "d5"}
    d1 = pool.entries.get(document__doc_id="d1")
    assert d1.origin["runs"] == {"bm25": 1, "neural": 2}
    assert (d1.best_rank, d1.origin["why"], d1.origin["probability"]) == (1, "depth", 1.0)


def test_missing_documents_become_stubs(pool: Any) -> None:
    assert Document.objects.filter(collection=pool.collection, stub=True).count() == 5


def test_the_summary_is_what_the_preview_stated(pool: Any) -> None:
    assert (pool.summary["pairs"], pool.summary["queries"], pool.summary["in_all"]) == (5, 1, 1)
    assert pool.summary["by_best_rank"] == [[1, 2], [2, 1], [3, 2]]


def test_provenance_names_files_by_hash_and_nothing_else(pool: Any) -> None:
    hashes = [run["sha256"] for run in pool.provenance["runs"]]
    assert hashes == sorted(run.sha256 for run in pool.runs.all())
    assert "bm25" not in str(pool.provenance)


def test_a_draw_is_on_record(pool: Any) -> None:
    row = AuditRow.objects.get(verb="pools.draw_pool")
    assert row.sentence == "lena created pool depth-3 with 5 pairs"


def test_a_given_list_is_taken_as_it_is(example: Any, lead: Any) -> None:
    pairs = read_pairs(b"query_id,doc_id\nq2,d9\nq1,d1\nq1,d1\n").pairs
    pool = pools.draw_pool(example, strategy="list", actor=lead, parameters={"pairs": pairs})
    assert list(pool.entries.values_list("query__query_id", "document__doc_id")) == [("q1", "d1"), ("q2", "d9")]
    assert "pairs" not in pool.parameters


def test_a_list_that_names_an_unknown_query_stores_nothing(example: Any, lead: Any) -> None:
    with pytest.raises(NotValid, match="q7 is not in this collection"):
        pools.draw_pool(example, strategy="list", actor=lead, parameters={"pairs": [("q7", "d1")]})
    assert not Pool.objects.exists()


def test_runs_of_another_collection_are_refused(example: Any, elsewhere: Any, lead: Any) -> None:
    with pytest.raises(NotValid, match="belong to another collection"):
        pools.draw_pool(elsewhere, strategy="depth", actor=lead, runs=list(example.runs.all()))


def test_judged_pairs_can_be_left_out(open_round: Any, pool: Any, lead: Any, rater: Any) -> None:
    _grade_all(open_round, rater)
    runs = list(pool.collection.runs.all())
    chosen = pools.choose(pool.collection, strategy="depth", runs=runs, parameters={"depth": 3}, leave_out_judged=True)
    assert (len(chosen), chosen.judged) == (0, 5)
    with pytest.raises(NotValid, match="would be empty"):
        pools.draw_pool(
            pool.collection, strategy="depth", actor=lead, runs=runs, parameters={"depth": 3}, leave_out_judged=True
        )


def test_a_round_copies_the_provenance_and_links_its_pool(open_round: Any, pool: Any) -> None:
    assert open_round.provenance == {**pool.provenance, "pairs": 5}
    origins = [pair.origin for pair in open_round.pairs.all()]
    assert {origin["pool"] for origin in origins} == {str(pool.uuid)}


def test_a_round_name_is_taken_once(open_round: Any, pool: Any, guidelines: Any, lead: Any) -> None:
    with pytest.raises(Conflict, match="Round 1"):
        pools.make_round(pool, actor=lead, name="Round 1", guidelines=guidelines)


def test_the_pace_is_assumed_until_raters_were_timed(collection: Any) -> None:
    assert pace(collection) == Pace(20.0, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"  ", "list has no pairs"),
        (b"query_id,doc_id\n", "header but no pairs"),
        (b"query,doc\nq1,d1\n", "query_id"),
        (b"query_id,doc_id\nq1\n", "pairs:2"),
    ],
)
def test_a_list_that_cannot_be_read_says_where(content: bytes, message: str) -> None:
    with pytest.raises(NotValid, match=message):
        read_pairs(content)


def test_a_list_reads_back_as_it_was_written() -> None:
    pairs = read_pairs(b'query_id,doc_id\nq1,=d1\nq1,"d,2"\n')
    assert read_pairs(pairs.text.encode()).pairs == pairs.pairs == (("q1", "=d1"), ("q1", "d,2"))


def _grade_all(round_: Any, rater: Any) -> None:
    import uuid

    for pair in assignment.claim_batch(round_, rater=rater):
        submission.submit(round_, submission.Answer(uuid.uuid4(), pair.uuid, 2), rater=rater)


def test_a_pool_over_large_runs_is_drawn_by_a_job_that_draws_once(example: Any, lead: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(pools, "LARGE", 5)
    runs = list(example.runs.all())
    assert pools.is_large(runs)
    job = pools.draw_later(example, actor=lead, runs=runs, strategy="depth", parameters={"depth": 3})
    result = pools.work_on_pool(jobs.Work(job))
    assert result["pairs"] == 5
    with pytest.raises(jobs.Lost):  # a second worker, begun before the first was through
        pools.work_on_pool(jobs.Work(job))
    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.result) == (jobs.Job.State.DONE, result)
    assert Pool.objects.count() == 1


def test_the_seed_decides_what_is_drawn_at_random(example: Any, lead: Any) -> None:
    def drawn(seed: int) -> list[str]:
        options = {"runs": list(example.runs.all()), "parameters": {"depth": 1}, "residual": 1, "seed": seed}
        pool = pools.draw_pool(example, strategy="depth", actor=lead, **options)
        return [entry.document.doc_id for entry in pool.entries.select_related("document")]

    first = {seed: drawn(seed) for seed in range(8)}
    assert len({tuple(ids) for ids in first.values()}) > 1
    assert all(drawn(seed) == ids for seed, ids in first.items())


def test_a_strategy_that_learns_reads_the_grades_that_are_complete(open_round: Any, lead: Any, rater: Any) -> None:
    collection = open_round.collection
    runs = list(collection.runs.all())
    options: dict[str, Any] = {"strategy": "hedge", "runs": runs, "parameters": {"depth": 3}}
    assert set(known_pairs(collection).values()) == {None}
    assert len(pools.choose(collection, **options)) == 0
    _grade_all(open_round, rater)
    known = known_pairs(collection)
    assert known == {("q1", f"d{n}"): 2 for n in range(1, 6)}
    assert pools.choose(collection, **options).judged == 5


def test_text_learning_reads_the_documents_of_the_collection(example: Any, lead: Any, store: Any) -> None:
    runs = list(example.runs.all())
    with pytest.raises(NotValid, match="no text to learn from"):
        pools.choose(example, strategy="text-learning", runs=runs)
    store(example, "documents", b'{"doc_id": "d1", "title": "Jacket", "text": "for rain"}\n', "documents.jsonl")
    pool = pools.draw_pool(example, strategy="text-learning", actor=lead, runs=runs, budget=2)
    assert {entry.origin["why"] for entry in pool.entries.all()} == {"text-learning/rbp"}


TIED = b"q1 Q0 d1 1 5 sys\nq1 Q0 d2 2 5 sys\nq1 Q0 d3 3 5 sys\nq1 Q0 d4 4 5 sys\nq2 Q0 d1 1 5 sys\n"


def test_a_pool_of_depth_k_leaves_nothing_unjudged_in_the_top_k(example: Any, lead: Any, store: Any) -> None:
    """Ties: metrics take d4 first, the rank column d1. A pool by ranks leaves a hole where a metric looks."""
    store(example, "runs", TIED, "tied.run")
    run = example.runs.get(name="tied")
    how: dict[str, Any] = {"strategy": "depth", "runs": [run], "parameters": {"depth": 2}}
    by_default, by_rank = pools.choose(example, **how), pools.choose(example, by="rank", **how)
    assert {pair.doc_id for pair in by_default.pairs if pair.query_id == "q1"} == {"d3", "d4"}
    assert {pair.doc_id for pair in by_rank.pairs if pair.query_id == "q1"} == {"d1", "d2"}
    summary = pools.draw_pool(example, actor=lead, **how)
    assert summary.parameters["by"] == "score"


def test_the_preview_tells_what_will_be_judged_at_the_metrics_cutoff(example: Any, store: Any) -> None:
    store(example, "runs", TIED, "tied.run")
    run = example.runs.get(name="tied")
    how: dict[str, Any] = {"strategy": "depth", "runs": [run], "parameters": {"depth": 2}}
    shallow = pools.preview(example, pools.choose(example, **how), [run])
    assert (shallow["cutoff"], shallow["shallow"]) == (10, True)
    # Of q1 two of four are in the pool, of q2 all of one.
    assert shallow["expected_judged"] == {"tied": (0.5 + 1) / 2}
    how["parameters"] = {"depth": 10}
    deep = pools.preview(example, pools.choose(example, **how), [run])
    assert (deep["shallow"], deep["expected_judged"]) == (False, {"tied": 1.0})
