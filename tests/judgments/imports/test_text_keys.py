"""Tests of imports of files that identify queries by their text."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from judgments.imports import ingestion
from judgments.models import ImportedLabel, Query, QueryGroup, Upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(collection: Any, lead: Any) -> Callable[..., Upload]:
    def put(kind: str, content: str, filename: str) -> Upload:
        file = io.BytesIO(content.encode())
        upload = ingestion.receive(collection, kind=kind, file=file, filename=filename, actor=lead)
        ingestion.store(upload, actor=lead)
        return upload

    return put


def test_needs_are_added_to_queries_with_the_same_text(collection: Any, store: Any) -> None:
    Query.objects.create(collection=collection, query_id="q001", text="rope")
    Query.objects.create(collection=collection, query_id="k7", text="tent")
    store("queries", "query,information_need\ntent,A dry night\nstove,Hot tea\n", "needs.csv")
    assert list(collection.queries.order_by("query_id").values_list("query_id", "text", "narrative")) == [
        ("k7", "tent", "A dry night"),
        ("q001", "rope", ""),
        ("q002", "stove", "Hot tea"),
    ]


def test_a_text_that_two_queries_have_is_an_error(collection: Any, lead: Any) -> None:
    for query_id in ("k1", "k2"):
        Query.objects.create(collection=collection, query_id=query_id, text="tent")
    file = io.BytesIO(b"query,information_need\ntent,A dry night\n")
    upload = ingestion.receive(collection, kind="queries", file=file, filename="needs.csv", actor=lead)
    assert [problem["code"] for problem in upload.report["problems"]] == ["E17"]


def test_query_groups_of_rre_become_groups_of_the_collection(collection: Any, store: Any) -> None:
    queries = [{"template": "q.json", "placeholders": {"$query": text}} for text in ("tent", "tents")]
    group = {"name": "Tents", "queries": queries, "relevant_documents": {"d1": {"gain": 3}}}
    store("qrels", json.dumps({"topics": [{"query_groups": [group]}]}), "ratings.json")
    assert set(collection.queries.values_list("text", "group")) == {("tent", "Tents"), ("tents", "Tents")}
    assert QueryGroup.objects.get(collection=collection).name == "Tents"


def test_labels_for_learning_to_rank_are_matched_by_text(collection: Any, store: Any) -> None:
    Query.objects.create(collection=collection, query_id="1", text="rope")
    Query.objects.create(collection=collection, query_id="k7", text="tent")
    store("qrels", "# qid:1: tent\n3 qid:1 # d1\n", "labels.txt")
    assert list(ImportedLabel.objects.values_list("query__query_id", "document__doc_id", "value")) == [("k7", "d1", 3)]
