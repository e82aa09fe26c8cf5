"""Tests of further strata: earlier queries stay, and snapshots and scores use the weights."""

from __future__ import annotations

import io
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid, UnreadableInput
from assay.formats import FORMATS
from evaluation.scoring.scoring import drawn
from judgments.jobs import jobs
from judgments.members import collections
from judgments.models import AuditRow, Collection, Job, Place, Query
from judgments.queries import strata as shares
from judgments.rounds import rounds
from judgments.snapshots import bundle, snapshots
from pooling.logs import query_logs
from pooling.models import QueryLog
from pooling.pools import pools
from pooling.strata import strata
from tests.world import grade_all

pytestmark = pytest.mark.django_db
LATER = b"query,count\nred shoes,60\nTent,30\nshoe laces,10\n"


@pytest.fixture
def first(log: Any, lead: Any) -> Collection:
    """All nine queries of the log, drawn by tier: 1 of 1, 2 of 2 and 3 of 6."""
    query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 2, "tail": 3}, seed=7)
    return log.collection


@pytest.fixture
def later(first: Collection, store: Any) -> QueryLog:
    return QueryLog.objects.get(uuid=store(first, "query-logs", LATER, "later.csv")["id"])


def design(collection: Collection) -> list[tuple[Any, ...]]:
    return list(collection.queries.values_list("query_id", "text", "tier", "probability", "weight", "frequency"))


def test_new_traffic_leaves_old_queries_as_they_are(first: Collection, later: QueryLog, lead: Any) -> None:
    before = design(first)
    joined = strata.add_stratum(later, actor=lead, name="shoes", share=0.2, sizes={"head": 1, "torso": 1, "tail": 1})
    assert design(first)[: len(before)] == before
    assert {one.name: one.share for one in first.strata.all()} == pytest.approx({"first": 0.8, "shoes": 0.2})
    assert {one.text: one.weight for one in joined.new} == {"red shoes": 0.6, "shoe laces": 0.1}
    tent = Query.objects.get(text="tent")
    assert [one.text for one in joined.there] == ["tent"]
    assert [(row.stratum, row.weight) for row in shares.places([tent])[tent.pk]] == [("first", 0.2), ("shoes", 0.3)]
    assert "added stratum shoes with 3 queries" in AuditRow.objects.get(verb="strata.add_stratum").sentence


def test_a_part_of_the_old_traffic_takes_over_what_is_in_hand(first: Collection, log: QueryLog, lead: Any) -> None:
    """Of rope (5), mug (5), lamp (4), sock (3), map (2), bag (1) three were drawn; the part is all of 20 searches."""
    before = design(first)
    small = ["rope", "mug", "lamp", "sock", "map", "bag"]
    in_hand = {one[1] for one in before} & set(small)
    joined = strata.add_stratum(log, actor=lead, name="small things", queries=small, sizes={"head": 9, "torso": 9})
    assert design(first)[: len(before)] == before
    assert {one.name: one.share for one in first.strata.all()} == pytest.approx({"first": 0.8, "small things": 0.2})
    assert {one.text for one in joined.there} == in_hand
    places = shares.places(first.queries.all())
    rows = {query.text: places[query.pk] for query in first.queries.all()}
    assert all([row.stratum for row in rows[text]] == ["small things"] for text in rows.keys() & set(small))
    assert {rows[text][0].probability for text in in_hand} == {1.0}
    assert [row.stratum for row in rows["tent"]] == ["first"]
    # By weight over probability the part stands for all of its own traffic.
    standing = sum(row[0].weight / row[0].probability for text, row in rows.items() if text in small)
    assert standing == pytest.approx(1.0, abs=0.2)


def test_a_list_joins_whole(first: Collection, lead: Any) -> None:
    joined = strata.add_list(first, actor=lead, name="de", share=0.1, queries=["Zelt", "zelt ", "TENT", ""])
    assert [one.text for one in joined.new] == ["Zelt"]
    assert [one.text for one in joined.there] == ["tent"]
    assert Place.objects.get().weight == 0.5


def test_invalid_strata_are_refused(first: Collection, log: QueryLog, later: QueryLog, lead: Any) -> None:
    for error, words, expected in (
        (NotValid, "share of the whole traffic", {"name": "shoes"}),
        (NotValid, "between 0 and 1", {"name": "shoes", "share": 1.0}),
        (NotValid, "No query of later.csv", {"name": "shoes", "share": 0.1, "words": ["boat"]}),
        (NotValid, "must not contain", {"name": "a|b", "share": 0.1}),
        (NotValid, "nowhere", {"name": "shoes", "share": 0.1, "part_of": "nowhere"}),
        (Conflict, "first", {"name": "first", "share": 0.1}),
    ):
        with pytest.raises(error, match=words):
            strata.add_stratum(later, actor=lead, **expected)
    assert not first.strata.exists()
    strata.add_stratum(later, actor=lead, name="shoes", share=0.1)
    with pytest.raises(Conflict, match="as a new stratum"):
        query_logs.draw(log, actor=lead)
    with pytest.raises(NotValid, match=r"0\.9 of the traffic"):
        strata.add_stratum(later, actor=lead, name="more", share=0.95, part_of="first")


def test_as_a_job_it_joins_once(first: Collection, later: QueryLog, lead: Any) -> None:
    job = strata.add_later(later, actor=lead, name="shoes", share=0.2)
    assert strata.add_later(later, actor=lead, name="shoes", share=0.2) == job
    strata.work_on_stratum(jobs.Work(job))
    # The job stopped after it stored its result.
    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, first.strata.count()) == (Job.State.DONE, 2)


def test_scores_weigh_each_stratum_by_its_share(
    first: Collection, later: QueryLog, store: Any, guidelines: Any, lead: Any, rater: Any
) -> None:
    strata.add_stratum(later, actor=lead, name="shoes", share=0.2, sizes={"head": 1, "torso": 1, "tail": 1})
    ids = list(first.queries.values_list("query_id", flat=True))
    pairs = [{"query_id": one, "doc_id": "d1"} for one in ids]
    pool = pools.draw_pool(first, strategy="list", parameters={"pairs": pairs}, actor=lead)
    made = pools.make_round(pool, actor=lead, name="One", guidelines=guidelines, ratings_per_pair=1, raters=[rater])
    grade_all(rounds.open_round(made, actor=lead), rater, {"d1": 2})
    snapshot = snapshots.freeze(first, name="one", rounds=[made], actor=lead)
    result = drawn(snapshot, ids)
    assert (result.reason, result.design.shares) == ("", pytest.approx({"first": 0.8, "shoes": 0.2}))
    weights = dict(zip(ids, result.design.weights_of(ids) or [], strict=True))
    # The tent has 0.2 of the first stratum, which stands for all of itself, and 0.3 of the second.
    tent = Query.objects.get(text="tent").query_id
    sampled = sum(row.weight / row.probability for row in first.queries.filter(stratum__name="first"))
    assert weights[tent] == pytest.approx(0.8 * 0.2 / sampled + 0.2 * 0.3)
    rows = FORMATS["queries-csv"].read(snapshots.export(snapshot, "queries-csv")[1], path="q").rows
    assert next(row for row in rows if row.query_id == tent).also[0].stratum == "shoes"
    assert len(snapshot.manifest["provenance"]["sampling"]) == 2
    assert (result.judged, result.drawn) == (8, 8)


def test_a_queries_file_carries_strata_into_another_collection(
    first: Collection, later: QueryLog, store: Any, lead: Any
) -> None:
    strata.add_stratum(later, actor=lead, name="shoes", share=0.2, sizes={"head": 1, "torso": 1, "tail": 1})
    stream = io.BytesIO()
    write = FORMATS["queries-csv"].write
    assert write is not None
    write(bundle.rows_of_queries(list(first.queries.all())), stream)
    other = collections.create_collection(slug="other", name="Other", actor=lead)
    store(other, "queries", stream.getvalue(), "queries.csv")
    places = [
        {query.text: rows for query in one.queries.all() if (rows := shares.places([query]).get(query.pk))}
        for one in (first, other)
    ]
    assert places[0] == places[1]
    assert len(places[0]["tent"]) == 2
    with pytest.raises(UnreadableInput, match="elsewhere"):
        store(other, "queries", b"query_id,query,stratum,share\nq900,boat,shoes,0.5\n", "more.csv")


def test_a_language_of_the_log_is_a_stratum(collection: Collection, store: Any, lead: Any) -> None:
    """English was drawn first, so German is no part of it: its share must be told."""
    spoken = b"query,count,language\ntent,50,en\nrope,10,en\nZelt,30,de-AT\nSeil,10,de\n"
    log = QueryLog.objects.get(uuid=store(collection, "query-logs", spoken, "spoken.csv")["id"])
    query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 1, "tail": 1}, language="en")
    with pytest.raises(NotValid, match="share of the whole traffic"):
        strata.add_stratum(log, actor=lead, name="de", language="de")
    with pytest.raises(NotValid, match="No search is in 'fr'"):
        strata.add_stratum(log, actor=lead, name="fr", language="fr", share=0.1)
    joined = strata.add_stratum(
        log, actor=lead, name="de", language="de", share=0.4, first="en", head_ranks=1, torso_ranks=2
    )
    assert {one.text: (one.tier, one.weight) for one in joined.new} == {"Zelt": ("head", 0.75), "Seil": ("torso", 0.25)}
    assert {one.name: one.share for one in collection.strata.all()} == {"en": 0.6, "de": 0.4}
