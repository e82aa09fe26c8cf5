"""Tests of snapshot baselines: document hashes and counts are stored outside the content hash."""

from __future__ import annotations

import csv
import io

import pytest

from judgments.models import Document
from judgments.snapshots import baselines, snapshots

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated(make_round, rate_all, rater):
    round_ = make_round(queries=2, documents=3, raters=[rater], ratings_per_pair=1)
    rate_all(round_, rater, 1)
    return round_


def freeze(rated, lead, name="one"):
    return snapshots.freeze(rated.collection, name=name, rounds=[rated], actor=lead)


def test_the_manifest_holds_counts_and_digests_and_the_file_holds_the_hashes(rated, lead):
    snapshot = freeze(rated, lead)
    summary = snapshot.manifest["baseline"]["documents"]
    rows = list(csv.DictReader(io.StringIO(snapshots.export(snapshot, "document-hashes-csv")[1].decode())))
    judged = set(Document.objects.filter(pairs__round=rated).values_list("doc_id", "content_sha256"))
    assert {(row["doc_id"], row["content_sha256"]) for row in rows} == judged
    assert [row["doc_id"] for row in rows] == sorted((row["doc_id"] for row in rows), key=str.encode)
    assert (summary["count"], summary["judged"]) == (Document.objects.filter(stub=False).count(), len(judged))
    assert len(summary["hashes_sha256"]) == 64


def test_the_baseline_is_no_part_of_the_identity(rated, lead):
    first = freeze(rated, lead)
    Document.objects.create(collection=rated.collection, doc_id="later", title="Later", content_sha256="0" * 64)
    second = freeze(rated, lead, "two")
    assert second.manifest["baseline"]["documents"]["count"] == first.manifest["baseline"]["documents"]["count"] + 1
    assert second.content_sha256 == first.content_sha256


def test_a_changed_document_is_frozen_as_it_was_rated(rated, lead):
    document = Document.objects.filter(pairs__round=rated).first()
    seen = document.content_sha256
    Document.objects.filter(pk=document.pk).update(content_sha256="f" * 64)
    hashes = baselines.judged_hashes(rated.collection, [document.doc_id], [rated])
    assert hashes == {document.doc_id: seen}


def test_values_of_a_field_are_counted_alike_on_both_databases(collection):
    values = ["shoes", "shoes", 7, 2.5, True, None, "", ["tents", "shoes", "tents"], "[odd", {"a": 1}]
    for number, value in enumerate(values):
        Document.objects.create(
            collection=collection, doc_id=f"d{number}", content_sha256="0" * 64, fields={"a b": value, "x": "y"}
        )
    Document.objects.create(collection=collection, doc_id="bare", content_sha256="0" * 64)
    Document.objects.create(collection=collection, doc_id="stub", content_sha256="0" * 64, stub=True)
    counted = baselines.values_of(collection, "a b")
    assert counted["total"] == len(values) + 1
    plain = {value: number for value, number in counted["values"].items() if not value.startswith("{")}
    assert plain == {"shoes": 3, "tents": 1, "7": 1, "2.5": 1, "true": 1, "[odd": 1}
    assert baselines.values_of(collection, 'no"such__field')["values"] == {}


def test_a_field_of_many_values_keeps_none_of_them(collection, monkeypatch):
    monkeypatch.setattr(baselines, "MOST_VALUES", 2)
    for number in range(3):
        Document.objects.create(
            collection=collection, doc_id=f"d{number}", content_sha256="0" * 64, fields={"sku": str(number)}
        )
    assert baselines.values_of(collection, "sku") == {"field": "sku", "total": 3, "distinct": 3, "values": {}}


def test_a_value_that_only_begins_like_a_list_is_a_value():
    for odd in ("[odd", "[" * 200_000):
        assert baselines.plain_values(odd) == [odd]
