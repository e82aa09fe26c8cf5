"""Tests of duplicates: judged once from the pool to the frozen labels, with exceptions by a lead."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotFound, NotValid
from judgments.jobs import jobs
from judgments.members.collections import create_collection
from judgments.models import AuditRow, Query
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.models import Pool
from pooling.pools import duplicates, pools, previews
from pooling.runs.known_pairs import judged_pairs, known_pairs

DOCUMENTS = [
    {"doc_id": "d1", "title": "Rain jacket", "text": "Keeps you dry."},
    {"doc_id": "d2", "title": "RAIN  jacket", "text": "Keeps you  dry.", "url": "https://mirror.example/"},
    {"doc_id": "d3", "title": "Rain jacket", "text": "Keeps you dry.", "fields": {"size": 42}},
    {"doc_id": "d4", "title": "Tent", "text": "For two."},
    {"doc_id": "d5", "title": "Tent", "text": "For two."},
]


@pytest.fixture
def shop(example: Any, store: Callable[..., Any]) -> Any:
    """The worked example with texts: d2 says what d1 says, d5 what d4 says; d3 has another size."""
    store(example, "documents", "".join(json.dumps(row) + "\n" for row in DOCUMENTS).encode(), "documents.jsonl")
    return example


@pytest.fixture
def draw(shop: Any, lead: Any) -> Callable[..., Pool]:
    def make(**how: Any) -> Pool:
        options = {"strategy": "depth", "parameters": {"depth": 3}, "runs": list(shop.runs.all()), **how}
        return pools.draw_pool(shop, actor=lead, **options)

    return make


def _contents(pool: Pool) -> dict[str, list[str]]:
    rows = pool.entries.order_by("position").values_list("document__doc_id", "origin")
    return {doc_id: [copy["doc_id"] for copy in origin.get("copies", ())] for doc_id, origin in rows}


def _graded(pool: Pool, guidelines: Any, lead: Any, rater: Any, grades: dict[str, int]) -> Any:
    made = pools.make_round(
        pool, actor=lead, name=f"Round {uuid.uuid4()}", guidelines=guidelines, ratings_per_pair=1, raters=[rater]
    )
    made = rounds.open_round(made, actor=lead)
    for pair in assignment.claim_batch(made, rater=rater, size=20):
        if (grade := grades.get(pair.document.doc_id)) is not None:
            submission.submit(made, submission.Answer(uuid.uuid4(), pair.uuid, grade), rater=rater)
    return made


def test_a_pool_names_its_copies_and_one_can_be_taken_out(draw: Callable[..., Pool], lead: Any) -> None:
    assert set(_contents(draw())) == {"d1", "d2", "d3", "d4", "d5"}
    pool = draw(duplicates="exact")
    assert _contents(pool) == {"d1": ["d2"], "d4": ["d5"], "d3": []}
    assert (pool.summary["pairs"], pool.summary["copies"], pool.summary["groups"]) == (3, 2, 2)
    assert pool.provenance["duplicates"] == {"kind": "exact"}
    rows = {row.copy_id: row for row in duplicates.groups_of(pool)}
    assert (rows["d2"].doc_id, rows["d2"].copy_rank, rows["d2"].why) == ("d1", 3, "exact")  # d3 ties and comes first

    made = duplicates.judge_separately(pool, query_id="q1", doc_id="d2", actor=lead)
    pool.refresh_from_db()
    assert _contents(pool) == {"d1": [], "d4": ["d5"], "d3": [], "d2": []}
    assert (made.origin["runs"], made.origin["step"], made.origin["why"]) == ({"bm25": 3}, 4, "depth")
    assert (pool.summary["pairs"], pool.summary["copies"], pool.summary["groups"]) == (4, 1, 1)
    assert AuditRow.objects.get(verb="copies.take_out").sentence.startswith("lena separated document d2")
    # Drawn with it apart from the start, the pool and its provenance are the same.
    apart = draw(duplicates="exact", apart=[("q1", "d2")])
    assert (set(_contents(apart)), apart.provenance) == (set(_contents(pool)), pool.provenance)
    with pytest.raises(NotFound, match="d2 of query q1 is not judged through another document"):
        duplicates.judge_separately(pool, query_id="q1", doc_id="d2", actor=lead)


def test_the_label_is_carried_into_later_pools(
    draw: Callable[..., Pool], shop: Any, guidelines: Any, lead: Any, rater: Any
) -> None:
    pool = draw(duplicates="exact")
    round_ = _graded(pool, guidelines, lead, rater, {"d1": 3, "d3": 0})
    snapshot = snapshots.freeze(shop, name="one", rounds=[round_], actor=lead)
    assert snapshots.export(snapshot, "trec-qrels")[1].decode().splitlines() == ["q1 0 d1 3", "q1 3 d2 3", "q1 0 d3 0"]
    assert judged_pairs(shop) == {("q1", "d1"), ("q1", "d2"), ("q1", "d3")}
    # d4 still waits for its rating, and d5 waits with it.
    assert known_pairs(shop) == {
        ("q1", "d1"): 3, ("q1", "d2"): 3, ("q1", "d3"): 0, ("q1", "d4"): None, ("q1", "d5"): None
    }  # fmt: skip
    assert set(_contents(draw(leave_out_judged=True))) == {"d4", "d5"}
    with pytest.raises(Conflict, match="A round uses these pairs"):
        duplicates.judge_separately(pool, query_id="q1", doc_id="d2", actor=lead)


def test_a_total_is_part_of_the_provenance_and_only_where_it_is_requested(draw: Callable[..., Pool]) -> None:
    plain, few = draw(), draw(total=2, planned={"hours": 1.0, "raters": 1})
    assert not plain.provenance.keys() & {"total", "duplicates", "relevant_from"}
    assert (few.provenance["total"], few.entries.count(), few.parameters["hours"]) == (2, 2, 1.0)
    assert "hours" not in few.provenance
    learning = draw(strategy="move-to-front", parameters={}, relevant_from=2.0)
    assert (learning.provenance["relevant_from"], learning.parameters["relevant_from"]) == (2.0, 2.0)
    with pytest.raises(NotValid, match="Unknown duplicate handling 'same'"):
        draw(duplicates="same")


def test_an_adaptive_strategy_learns_from_the_grade_that_counts_as_relevant(
    draw: Callable[..., Pool], shop: Any, guidelines: Any, lead: Any, rater: Any
) -> None:
    # Both runs return d1, only neural d4. Where d4 is relevant neural was right once; where nothing is, it erred twice.
    first = draw(strategy="list", parameters={"pairs": [("q1", "d1"), ("q1", "d4")]})
    _graded(first, guidelines, lead, rater, {"d1": 1, "d4": 2})
    chosen = {
        grade: next(iter(_contents(draw(strategy="hedge", parameters={}, budget=1, relevant_from=grade))))
        for grade in (2.0, 3.0)
    }
    assert chosen == {2.0: "d5", 3.0: "d3"}


def test_two_draws_with_one_token_are_one_pool(draw: Callable[..., Pool], shop: Any, lead: Any) -> None:
    token = uuid.uuid4()
    assert draw(token=token) == draw(token=str(token))
    options = {"strategy": "depth", "runs": list(shop.runs.all()), "parameters": {"depth": 1}, "token": uuid.uuid4()}
    job = pools.draw_later(shop, actor=lead, **options)
    assert pools.draw_later(shop, actor=lead, **options) == job
    result = pools.work_on_pool(jobs.Work(job))
    assert result["pool"] == str(options["token"])
    assert Pool.objects.count() == 2
    # A worker died between the pool and the result: the next one finds the pool.
    died = pools.draw_later(shop, actor=lead, **{**options, "token": None})
    pool = draw(token=died.uuid, parameters={"depth": 1})
    assert pools.work_on_pool(jobs.Work(died))["pool"] == str(pool.uuid)
    assert Pool.objects.count() == 3
    # A token that another collection's pool has is taken, and tells nothing else.
    other = create_collection(actor=lead, name="Other", slug="other")
    pairs = {"pairs": [{"query_id": "q1", "doc_id": "d1"}]}
    Query.objects.create(collection=other, query_id="q1", text="tent")
    with pytest.raises(Conflict, match="another pool"):
        pools.draw_pool(other, strategy="list", parameters=pairs, actor=lead, token=pool.uuid)


def test_a_preview_in_the_background_tells_what_the_page_would(shop: Any, lead: Any) -> None:
    how = {"strategy": "depth", "parameters": {"depth": 3}, "duplicates": "near", "apart": [("q1", "d5")]}
    runs = list(shop.runs.all())
    job = previews.start(shop, actor=lead, page="/there/", runs=runs, **how)
    assert previews.start(shop, actor=lead, page="/there/", runs=runs, **how) == job
    result = previews.work_on_preview(jobs.Work(job))
    assert json.loads(json.dumps(result["told"])) == json.loads(json.dumps(previews.summarize(shop, runs=runs, **how)))
    assert (result["pairs"], result["told"]["summary"]["copies"]) == (4, 1)
    job.refresh_from_db()
    assert job.done == 5  # documents that were compared
    assert previews.latest(shop, runs=runs, **how) == job
    assert previews.latest(shop, runs=runs, **{**how, "duplicates": "exact"}) is None
    assert not Pool.objects.exists()
