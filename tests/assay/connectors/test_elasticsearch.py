"""Tests of the Elasticsearch and OpenSearch connectors with a real Elasticsearch."""

from __future__ import annotations

import io
import json
import os
import uuid
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import httpx
import pytest

import assay
from assay.connectors import Allowed, Engine, EngineFault
from assay.connectors.fetch import Plan, fetch
from assay.formats import FORMATS
from assay.formats.row_types import LabelRow

Opened = Callable[..., Engine]
DOCUMENTS = {
    "d1": {
        "title": "Rain jacket",
        "text": "Keeps you dry in rain.",
        "url": "https://shop/1",
        "price": 99.5,
        "brand": "A",
    },
    "d2": {"title": "Wool hat", "text": "Warm, not for rain.", "price": 19},
    "d3": {"title": "Tent", "text": "Sleeps two."},
}


@pytest.fixture(scope="module")
def address() -> str:
    """Where it answers, or a skip that says what to set."""
    url = os.environ.get("TEST_ELASTICSEARCH_URL", "")
    if not url:
        pytest.skip("no Elasticsearch: set TEST_ELASTICSEARCH_URL, for example http://127.0.0.1:19200")
    return url.rstrip("/")


@pytest.fixture(scope="module")
def index(address: str) -> Iterator[str]:
    """An index of three documents, gone afterwards."""
    name = f"assay-{uuid.uuid4().hex[:8]}"
    httpx.put(f"{address}/{name}", json={"settings": {"number_of_shards": 1}}).raise_for_status()
    lines = []
    for doc_id, source in DOCUMENTS.items():
        lines += [json.dumps({"index": {"_id": doc_id}}), json.dumps(source)]
    bulk = {"content": "\n".join([*lines, ""]), "headers": {"Content-Type": "application/json"}}
    httpx.post(f"{address}/{name}/_bulk?refresh=true", **bulk).raise_for_status()
    yield name
    httpx.delete(f"{address}/{name}")


@pytest.fixture(scope="module")
def allowed(address: str) -> Allowed:
    return Allowed.of([urlsplit(address).hostname or ""], ["127.0.0.0/8", "::1/128"])


@pytest.mark.parametrize("name", ["elasticsearch", "opensearch"])
def test_hits_with_the_documents_fields(name: str, opened: Opened, address: str, index: str, allowed: Allowed) -> None:
    hits = opened(name, {"address": address, "index": index}, allowed).search("rain jacket", 10)
    assert [hit.doc_id for hit in hits] == ["d1", "d2"]
    first = hits[0]
    assert (first.title, first.text, first.url) == ("Rain jacket", "Keeps you dry in rain.", "https://shop/1")
    assert first.fields == {"price": 99.5, "brand": "A"}
    assert first.score is not None
    assert first.score > (hits[1].score or 0) > 0


def test_no_more_than_the_depth(opened: Opened, address: str, index: str, allowed: Allowed) -> None:
    engine = opened("elasticsearch", {"address": address, "index": index}, allowed)
    assert len(engine.search("rain", 1)) == 1
    assert engine.search("snowmobile", 10) == []


def test_an_answer_is_the_engine_s_own(opened: Opened, address: str, index: str, allowed: Allowed) -> None:
    """The order and scores are those that Elasticsearch itself gives for the same body."""
    body = {"size": 10, "query": {"multi_match": {"query": "rain", "fields": ["title^2", "text"]}}}
    expected = httpx.post(f"{address}/{index}/_search", json=body).json()["hits"]["hits"]
    engine = opened("elasticsearch", {"address": address, "index": index}, allowed)
    assert [(hit.doc_id, hit.score) for hit in engine.search("rain", 10)] == [
        (hit["_id"], hit["_score"]) for hit in expected
    ]


def test_many_queries(opened: Opened, address: str, index: str, allowed: Allowed) -> None:
    engine = opened("elasticsearch", {"address": address, "index": index}, allowed)
    queries = [(f"q{number}", "rain" if number % 2 else "tent") for number in range(20)]
    answers = {answer.query_id: answer for answer in fetch(engine, queries, Plan(concurrency=4))}
    assert len(answers) == 20
    assert {len(answers[f"q{number}"].hits) for number in range(0, 20, 2)} == {1}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"index": "no-such-index"}, "404.*no such index"),
        ({"template": '{"query": {"nonsense": "{query}"}}'}, r"400.*\[nonsense\] query malformed"),
        ({"doc_id": "_source.sku"}, "Hit 1 has no usable id at _source.sku"),
    ],
)
def test_its_own_words_are_passed_on(
    given: dict[str, str], message: str, opened: Opened, address: str, index: str, allowed: Allowed
) -> None:
    engine = opened("elasticsearch", {"address": address, "index": index, **given}, allowed)
    with pytest.raises(EngineFault, match=message):
        engine.search("rain", 10)


@pytest.mark.parametrize("query", ["rain", 'rain"}}, "size": 1, "x": {"y": "'])
def test_our_rank_eval_request_is_answered_and_its_reply_scores_the_same(address: str, index: str, query: str) -> None:
    labels = [LabelRow("q1", doc_id, grade, query=query) for doc_id, grade in {"d1": 1, "d2": 3, "d3": 0}.items()]
    template = {"query": {"multi_match": {"query": "{{query}}", "fields": ["title", "text"]}}, "size": 10}
    metric = {"dcg": {"k": 2, "normalize": True}}
    request = io.BytesIO()
    write = FORMATS["rank-eval-request"].write
    assert write is not None
    write(labels, request, template=template, index=index, metric=metric)
    sent = {"content": request.getvalue(), "headers": {"Content-Type": "application/json"}}
    response = httpx.post(f"{address}/{index}/_rank_eval", **sent).raise_for_status()
    assert response.json()["failures"] == {}
    rows = FORMATS["rank-eval-reply"].read(response.content, path="reply.json").rows
    qrels = {"q1": {row.doc_id: int(row.grade or 0) for row in labels}}
    run = {"q1": {row.doc_id: row.score for row in rows}}
    scores = assay.evaluate(qrels, {"run": run}, ["nDCG(gain=exp)@2"]) if rows else None
    mean = scores.runs[0].metrics["nDCG(gain=exp)@2"].mean if scores else 0.0
    assert response.json()["metric_score"] == pytest.approx(mean)
