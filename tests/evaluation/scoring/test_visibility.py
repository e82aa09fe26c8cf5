"""Tests of score visibility: no score reveals a grade that its reader may still give."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from evaluation.scoring import history, scoring
from judgments.labels import grade_visibility
from judgments.models import QueryGroup
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from tests.evaluation.stage import Stage, by_digit

pytestmark = pytest.mark.django_db


def hidden_documents(reader, collection, query_id):
    return {doc_id for _, doc_id in grade_visibility.hidden_keys(reader, collection, query_id)}


@pytest.fixture
def again(stage, snapshot, lead):
    """An open round over two queries of the snapshot, in which the lead rates too."""
    round_ = stage.round(name="Round 2", runs=0)
    round_.pairs.exclude(query__query_id__in=["q01", "q02"]).delete()
    rounds.invite(round_, [lead], actor=lead)
    return round_


def test_readers_who_rate_nowhere_see_everything(snapshot, lead, engineer):
    assert snapshots.withheld_queries(lead, snapshot) == frozenset()
    assert hidden_documents(engineer, snapshot.collection, "q01") == set()


def test_the_queries_of_an_open_round_are_withheld_from_its_raters(again, snapshot, lead, engineer):
    assert snapshots.withheld_queries(lead, snapshot) == {"q01", "q02"}
    assert hidden_documents(lead, snapshot.collection, "q01") == {"d0", "d1", "d2"}
    assert hidden_documents(lead, snapshot.collection, "q03") == set()
    assert snapshots.withheld_queries(engineer, snapshot) == frozenset()


def test_a_hidden_document_without_a_label_tells_nothing(again, snapshot, lead):
    again.pairs.filter(query__query_id="q01").exclude(document__doc_id="d2").delete()
    again.pairs.filter(query__query_id="q01").update(document=snapshot.collection.documents.get(doc_id="d7"))
    assert snapshots.withheld_queries(lead, snapshot) == {"q02"}


def test_a_carried_label_tells_as_much_as_the_one_that_it_comes_from(again, snapshot, lead):
    collection = snapshot.collection
    again.pairs.exclude(query__query_id="q01", document__doc_id="d0").delete()
    assert snapshots.withheld_queries(lead, snapshot) == {"q01"}
    # In an earlier round d0 was judged for d2 too.
    closed = snapshot.rounds.get().pairs.get(query__query_id="q01", document__doc_id="d0")
    closed.origin = {**closed.origin, "copies": [{"doc_id": "d2"}]}
    closed.save()
    assert hidden_documents(lead, collection, "q01") == {"d0", "d2"}
    collection.queries.filter(query_id__in=["q01", "q05"]).update(group="rain")
    QueryGroup.objects.create(collection=collection, name="rain", shares=True)
    assert hidden_documents(lead, collection, "q05") == {"d0", "d2"}
    assert snapshots.withheld_queries(lead, snapshot) == {"q01", "q05"}


def test_grades_are_visible_again_after_grading(again, snapshot, lead):
    for pair in assignment.claim_batch(again, rater=lead, size=50):
        submission.submit(again, submission.Answer(uuid.uuid4(), pair.uuid, 1), rater=lead)
    assert snapshots.withheld_queries(lead, snapshot) == frozenset()


def test_a_closed_round_hides_nothing(again, snapshot, lead):
    rounds.close_round(again, actor=lead)
    assert snapshots.withheld_queries(lead, snapshot) == frozenset()


def test_the_order_of_runs_tells_nothing_of_a_query_that_is_withheld(stage, snapshot, client_of, lead, engineer):
    """Two runs that differ on q01 alone: which of them stands first would say how its documents were graded."""
    stage.queries(13)  # q12 keeps the round of the lead apart from the others
    rows = {"aaa": "2013", "zzz": "0123"}
    for name, order in rows.items():
        lines = [
            f"q{n:02d} Q0 d{digit} {rank} {99 - rank} {name}\n"
            for n in range(12)
            for rank, digit in enumerate(order if n == 1 else "0123", 1)
        ]
        stage.store("runs", "".join(lines), f"{name}.run")
    runs = list(stage.collection.runs.filter(name__in=rows))
    scoring.score_runs(snapshot, runs, actor=engineer, metrics=["nDCG@10"])
    page = "/c/shop/scores/query/?query=q05"

    def order(user: Any) -> list[str]:
        shown = [ranking.run.name for ranking, _ in client_of(user).get(page).context["sides"]]
        return [name for name in shown if name in rows]

    assert order(engineer) == ["zzz", "aaa"]
    assert order(lead) == ["zzz", "aaa"]
    _rates_again(stage, lead)
    assert order(engineer) == ["zzz", "aaa"]
    assert order(lead) == ["aaa", "zzz"]  # equal over what the lead is told: by name


def test_changes_between_snapshots_leave_out_withheld_pairs(stage, snapshot, lead, engineer):
    """The label of one document of q01 is another one in the second snapshot: a change of one label would tell it."""
    regraded = stage.round(name="Round 2", runs=2)
    other = ("q01", "d0")
    stage.graded(
        regraded,
        lambda pair, place: 0 if (pair.query.query_id, pair.document.doc_id) == other else by_digit(pair, place),
    )
    stage.frozen(rounds.close_round(regraded, actor=lead), "second")

    def changed(user: Any) -> list[int]:
        points = history.points_for(user, stage.collection, "nDCG@10", 24)
        newest = history.points_for(user, stage.collection, "nDCG@10", 1)
        return [point.change.labels_changed for point in [*points, *newest] if point.change]

    assert changed(lead) == [1, 1]
    _rates_again(stage, lead, "Round 3")
    assert changed(lead) == [0, 0]
    assert changed(engineer) == [1, 1]


def test_the_card_of_the_snapshot_counts_no_grades_for_raters(again, snapshot, client_of, lead, engineer):
    """All grades less those that the lead may see would be those of the pairs that they may not see."""
    text = f"{snapshot}, labels by grade"
    assert text in client_of(engineer).get("/c/shop/").content.decode()
    assert text not in client_of(lead).get("/c/shop/").content.decode()


def _rates_again(stage: Stage, lead: Any, name: str = "Round 2") -> None:
    """An open round over one document of q01 that the lead rates too."""
    rounds.invite(stage.round(name=name, pairs=[("q01", "d0")], raters=1), [lead], actor=lead)
