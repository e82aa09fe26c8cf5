"""Tests of query groups: shared labels only on a lead's request and never as judgments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.agreement import agreement_summary, resolutions
from judgments.labels import group_labels
from judgments.models import AuditRow, QueryGroup, RefusedProposal
from judgments.queries import groups as query_groups
from judgments.rating import assignment
from judgments.snapshots import snapshots
from judgments.snapshots.final_labels import compute_labels

# Of spellings q1, q2, q3: d1 was judged for one, d2 for two that agree, d3 for two that differ.
LABELS = {("q1", "d1"): 3, ("q1", "d2"): 1, ("q2", "d2"): 1, ("q1", "d3"): 3, ("q2", "d3"): 0, ("q9", "d1"): 2}
JUDGMENTS = [("q1", "d3", "r01", 3), ("q2", "d3", "r01", 0), ("q2", "d3", "r02", 0)]


def share(groups: dict[str, list[str]], labels: dict[tuple[str, str], int], rule: str = "median") -> dict[Any, Any]:
    shared = group_labels.shared(groups, labels, rule=rule, scale=(0, 1, 2, 3), judgments=lambda: JUDGMENTS)
    return {(one.query_id, one.doc_id): (one.grade, one.source, one.by_rule) for one in shared}


def test_spellings_that_agree_hand_on_their_label_and_the_rule_decides_else() -> None:
    assert share({"g": ["q1", "q2", "q3"]}, LABELS) == {
        ("q2", "d1"): (3, "q1", False),
        ("q3", "d1"): (3, "q1", False),
        ("q3", "d2"): (1, "q1", False),
        # The median of 3, 0, 0; the highest; and the mean of 3, 0, 0, whose nearest label is q2's.
        ("q3", "d3"): (0, "q2", True),
    }
    assert share({"g": ["q1", "q2", "q3"]}, LABELS, "max")["q3", "d3"] == (3, "q1", True)
    assert share({"g": ["q1", "q2", "q3"]}, LABELS, "mean")["q3", "d3"] == (1, "q2", True)
    # Dawid-Skene needs a rater's whole work; inside a group the median stands in for it.
    assert share({"g": ["q1", "q2", "q3"]}, LABELS, "dawid-skene")["q3", "d3"] == (0, "q2", True)


def test_a_group_says_nothing_about_others() -> None:
    assert share({"g": ["q9", "q8"], "h": ["q5", "q6"]}, LABELS) == {("q8", "d1"): (2, "q9", False)}


@pytest.fixture
def spelled(make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, rater2: Any) -> Any:
    """q1 with d1-1 and d1-2, q2 with d2-1 and d2-2: two spellings of one need, in one group."""
    round_ = make_round(queries=2, documents=2, raters=[rater, rater2])
    rate_all(round_, rater, lambda pair: 3 if pair.query.query_id == "q1" else 1)
    rate_all(round_, rater2, lambda pair: 3 if pair.query.query_id == "q1" else 2)
    return round_


@pytest.mark.django_db
def test_labels_are_shared_where_the_lead_says_so(spelled: Any, lead: Any) -> None:
    collection = spelled.collection

    def freeze(name: str, **options: Any) -> Any:
        return snapshots.freeze(collection, name=name, rounds=[spelled], actor=lead, **options)

    def qrels(snapshot: Any) -> list[str]:
        return snapshots.export(snapshot, "trec-qrels")[1].decode().splitlines()

    plain = freeze("plain")
    group = query_groups.gather(collection, queries=list(collection.queries.all()), actor=lead, name="spellings")
    own = ["q1 0 d1-1 3", "q1 0 d1-2 3", "q2 0 d2-1 1", "q2 0 d2-2 1"]
    assert qrels(freeze("grouped")) == qrels(plain) == own
    agreement = agreement_summary.agreement(spelled)
    query_groups.let_share(collection, [group], shares=True, actor=lead)
    resolutions.resolve(spelled.pairs.get(document__doc_id="d2-2"), grade=0, reason="Another brand.", actor=lead)
    shared = freeze("shared")
    assert qrels(shared) == [
        *own[:2],
        "q1 3 d2-1 1",
        "q1 3 d2-2 0",
        "q2 3 d1-1 3",
        "q2 3 d1-2 3",
        own[2],
        "q2 0 d2-2 0",
    ]
    source = json.loads(snapshots.export(shared, "judgment-list")[1])[0]["ratings"][2]["copied_from"]
    assert source == {"query_id": "q2", "doc_id": "d2-1", "why": "query group"}
    # A shared label is no judgment: nobody is said to have made it, and agreement does not know it.
    assert len(snapshots.export(shared, "ratings-csv")[1].splitlines()) == 1 + 8 + 1
    assert (shared.manifest["counts"]["ratings"], shared.manifest["counts"]["carried"]) == (8, 4)
    assert agreement_summary.agreement(spelled)["alpha"] == agreement["alpha"]
    query_groups.dissolve(group, actor=lead)
    spelled.refresh_from_db()
    assert "3" not in {line.split()[1] for line in qrels(freeze("apart"))}


@pytest.mark.django_db
def test_two_rounds_that_differ_go_by_the_newest_judgments(
    spelled: Any, make_round: Callable[..., Any], answer: Callable[..., Any], rater: Any, lead: Any
) -> None:
    """q2 gets q1's document in a later round, with another grade; a third spelling has the rule over both."""
    collection = spelled.collection
    later = make_round(queries=3, documents=1, raters=[rater], ratings_per_pair=1, name="Later")
    shared_document = later.pairs.get(query__query_id="q1").document
    later.pairs.filter(query__query_id="q2").update(document=shared_document)
    for pair in assignment.claim_batch(later, rater=rater, size=9):
        answer(later, rater, pair, {"q1": 2, "q2": 0, "q3": 1}[pair.query.query_id])
    group = query_groups.gather(collection, queries=list(collection.queries.all()), actor=lead, shares=True)
    preview = compute_labels(collection, [spelled, later])
    labels = {(one.query_id, one.doc_id): one for one in preview.carried}
    # The first round's grades 3 and 3 of q1 are superseded by the later 2; the lower median of 2 and 0 is 0.
    assert labels["q3", "d1-1"].grade == 0
    assert labels["q3", "d1-1"].source == ("q2", "d1-1", "query group, by the label rule")
    assert group.name == "query 1"


@pytest.mark.django_db
def test_groups_are_made_merged_split_and_named(make_round: Callable[..., Any], lead: Any, rater: Any) -> None:
    collection = make_round(queries=5, documents=1, raters=[rater]).collection
    one, two, three, four, five = collection.queries.order_by("query_id")
    first = query_groups.gather(collection, queries=[one, two], actor=lead, name="tents")
    second = query_groups.gather(collection, queries=[three, four], actor=lead, name="boots")
    with pytest.raises(Conflict, match="Another group"):
        query_groups.rename(second, name="tents", actor=lead)
    for name in ("", "a\tb"):
        with pytest.raises(NotValid):
            query_groups.rename(second, name=name, actor=lead)
    with pytest.raises(NotValid, match="two queries"):
        query_groups.gather(collection, queries=[five], actor=lead)
    query_groups.merge(first, [second], actor=lead)
    assert [query.query_id for query in first.queries] == ["q1", "q2", "q3", "q4"]
    assert list(QueryGroup.objects.values_list("name", flat=True)) == ["tents"]
    # Two that leave for a group of their own; the one that is left alone is no group.
    query_groups.gather(collection, queries=[two, three], actor=lead, name="poles")
    query_groups.take_out(first, [one], actor=lead)
    assert set(collection.queries.exclude(group="").values_list("query_id", "group")) == {
        ("q2", "poles"),
        ("q3", "poles"),
    }
    query_groups.refuse(collection, [four, five], actor=lead)
    query_groups.refuse(collection, [five, four], actor=lead)
    assert RefusedProposal.objects.count() == 1
    verbs = set(AuditRow.objects.filter(verb__startswith="query_groups.").values_list("verb", flat=True))
    assert {"query_groups.gather", "query_groups.take_out", "query_groups.refuse"} <= verbs


@pytest.mark.django_db
def test_groups_of_a_file_are_known(collection: Any, store_file: Callable[..., Any]) -> None:
    store_file("queries", "query_id,query,group\nq1,tent,g\nq2,tents,g\nq3,boots,\n", "queries.csv")
    query_groups.note(collection)
    assert [(group.name, group.shares) for group in collection.query_groups.all()] == [("g", False)]
