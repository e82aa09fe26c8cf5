"""Tests of carried labels: duplicates of a judged document get its label, marked as carried everywhere."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from judgments.agreement import agreement_summary, resolutions
from judgments.models import Pair
from judgments.snapshots import snapshots
from judgments.snapshots.final_labels import compute_labels

pytestmark = pytest.mark.django_db


def _stands_for(round_: Any, doc_id: str, *copies: str) -> Pair:
    """Say in the pair's origin that its document was judged for others too, as pooling does."""
    pair = round_.pairs.get(document__doc_id=doc_id)
    pair.origin = {**pair.origin, "copies": [{"doc_id": copy, "why": "exact"} for copy in copies]}
    pair.save()
    return pair


def _text(snapshot: Any, format: str) -> str:
    return snapshots.export(snapshot, format)[1].decode()


@pytest.fixture
def rated(make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any) -> Any:
    round_ = make_round(queries=1, documents=2, raters=[rater], ratings_per_pair=1)
    rate_all(round_, rater, lambda pair: 3 if pair.document.doc_id == "d1-1" else 1)
    return round_


def test_a_label_is_carried_to_the_copies_and_marked_everywhere(rated: Any, lead: Any) -> None:
    plain = snapshots.freeze(rated.collection, name="plain", rounds=[rated], actor=lead)
    pair = _stands_for(rated, "d1-1", "twin", "d1-2")
    before = agreement_summary.agreement(rated)
    snapshot = snapshots.freeze(rated.collection, name="carried", rounds=[rated], actor=lead)
    # Its own judgment wins: d1-2 was graded 1 by a person.
    assert _text(snapshot, "trec-qrels").splitlines() == ["q1 0 d1-1 3", "q1 0 d1-2 1", "q1 3 twin 3"]
    twin = json.loads(_text(snapshot, "judgment-list"))[0]["ratings"][2]
    assert twin["copied_from"] == {"query_id": "q1", "doc_id": "d1-1", "why": "duplicate"}
    ratings = csv.DictReader(io.StringIO(_text(snapshot, "ratings-csv")))
    assert {row["doc_id"] for row in ratings} == {"d1-1", "d1-2"}
    counts = snapshot.manifest["counts"]
    assert (counts["labels"], counts["carried"], counts["ratings"]) == (3, 1, 2)
    assert any("carried" in warning for warning in snapshot.manifest["warnings"])
    assert agreement_summary.agreement(rated) == before
    # Where a label comes from is part of what the hash covers, and of nothing where none is carried.
    assert snapshot.content_sha256 != plain.content_sha256
    assert "carried" not in json.dumps(plain.manifest["provenance"])
    pair.origin.pop("copies")
    pair.save()
    again = snapshots.freeze(rated.collection, name="again", rounds=[rated], actor=lead)
    assert again.content_sha256 == plain.content_sha256


def test_resolutions_are_carried_and_ungraded_pairs_are_not(
    rated: Any, make_round: Callable[..., Any], rater: Any, lead: Any
) -> None:
    resolutions.resolve(_stands_for(rated, "d1-1", "twin"), grade=0, reason="Another product.", actor=lead)
    unrated = make_round(queries=2, documents=1, raters=[rater], ratings_per_pair=1, name="Round 2")
    _stands_for(unrated, "d2-1", "other")
    preview = compute_labels(rated.collection, [rated, unrated])
    assert [(one.doc_id, one.grade) for one in preview.carried] == [("twin", 0)]


def test_a_carried_label_wins_over_an_imported_one(rated: Any, store_file: Callable[..., Any]) -> None:
    store_file("qrels", "q1 0 twin 0\nq1 0 far 2\n", "old.txt")
    _stands_for(rated, "d1-1", "twin")
    preview = compute_labels(rated.collection, [rated], sources=["human", "imported"])
    labels = {label.doc_id: (label.grade, label.column) for label in preview.labels}
    assert (labels["twin"], labels["far"]) == ((3, "3"), (2, "2"))
