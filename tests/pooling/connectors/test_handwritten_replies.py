"""Are replies in the form of engines that are not here read as they should be?

They are written by hand, from what is known of each engine's API, with our documents in them, and come over HTTP from a
server of the test. No server of these kinds was asked: the page of connectors says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pooling.connectors import Allowed, Engine, EngineFault, Hit
from tests.pooling.bad_engine import BadEngine

Opened = Callable[..., Engine]
SOLR = {
    "responseHeader": {"status": 0, "QTime": 1, "params": {"json": "{}"}},
    "response": {
        "numFound": 2,
        "start": 0,
        "maxScore": 1.9,
        "numFoundExact": True,
        "docs": [
            {"id": "d1", "title": ["Rain jacket"], "text": ["Dry.", "Warm."], "_version_": 1, "score": 1.9},
            {"id": "d2", "name": "Hat", "score": 0.5},
        ],
    },
}
VESPA = {
    "root": {
        "id": "toplevel",
        "relevance": 1.0,
        "fields": {"totalCount": 2},
        "coverage": {"coverage": 100, "documents": 3, "full": True, "nodes": 1, "results": 1, "resultsFull": 1},
        "children": [
            {"id": "group:root:0", "relevance": 1.0, "children": []},
            {
                "id": "id:shop:product::d1",
                "relevance": 0.97,
                "source": "shop",
                "fields": {"sddocname": "product", "title": "Rain jacket", "text": "Dry."},
            },
            {"id": "index:shop/0/c4ca", "relevance": 0.2, "source": "shop", "fields": {"name": "Hat"}},
        ],
    }
}
ALGOLIA = {
    "hits": [
        {"objectID": "d1", "name": "Rain jacket", "description": "Dry.", "_highlightResult": {}},
        {"objectID": "d2", "title": "Hat"},
    ],
    "nbHits": 2,
    "page": 0,
    "nbPages": 1,
    "hitsPerPage": 20,
    "processingTimeMS": 1,
}
TYPESENSE = {
    "facet_counts": [],
    "found": 2,
    "out_of": 3,
    "page": 1,
    "search_time_ms": 1,
    "hits": [
        {
            "document": {"id": "124", "title": "Rain jacket", "text": "Dry.", "price": 9},
            "highlights": [],
            "text_match": 578730123365711993,
        },
        {"document": {"id": "125", "name": "Hat"}, "highlights": [], "text_match": 578730089005449337},
    ],
}
# Connector, settings, the address that it must ask, its reply, what it must ask, and the hits in it.
CASES: dict[str, tuple[dict[str, str], str, Any, Any, list[Hit]]] = {
    "solr": (
        {"index": "shop"},
        "/solr/shop/query",
        SOLR,
        {"query": {"edismax": {"query": "rain", "qf": "title^2 text"}}, "limit": 5, "fields": "*,score"},
        [Hit("d1", 1.9, "Rain jacket", "Dry.\nWarm."), Hit("d2", 0.5, "Hat")],
    ),
    "vespa": (
        {},
        "/search/",
        VESPA,
        {"yql": "select * from sources * where userInput(@words)", "words": "rain", "hits": 5, "offset": 0},
        [
            Hit("id:shop:product::d1", 0.97, "Rain jacket", "Dry.", fields={"sddocname": "product"}),
            Hit("index:shop/0/c4ca", 0.2, "Hat"),
        ],
    ),
    "algolia": (
        {"index": "shop"},
        "/1/indexes/shop/query",
        ALGOLIA,
        {"query": "rain", "hitsPerPage": 5, "analytics": False},
        [Hit("d1", None, "Rain jacket", "Dry."), Hit("d2", None, "Hat")],
    ),
    "typesense": (
        {"index": "shop"},
        "/collections/shop/documents/search",
        TYPESENSE,
        {"q": "rain", "query_by": "title,text", "per_page": "5", "page": "1"},
        [
            Hit("124", 578730123365711993.0, "Rain jacket", "Dry.", fields={"id": "124", "price": 9}),
            Hit("125", 578730089005449337.0, "Hat", fields={"id": "125"}),
        ],
    ),
}
SENT = {
    "solr": ("user:pw", {"Authorization": "Basic dXNlcjpwdw=="}),
    "vespa": ("key", {"Authorization": "Bearer key"}),
    "algolia": ("key", {"X-Algolia-Api-Key": "key", "X-Algolia-Application-Id": "APPLICATION"}),
    "typesense": ("key", {"X-Typesense-Api-Key": "key"}),
}


@pytest.mark.parametrize("name", CASES)
def test_request_and_reply(name: str, opened: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    values, path, reply, asked, hits = CASES[name]
    secret, headers = SENT[name]
    bad_engine.replies[path] = reply
    address = f"http://127.0.0.1:{bad_engine.port}/"
    engine = opened(name, {"address": address, "secret": secret, **values}, here)
    assert engine.search("rain", 5) == hits
    request = bad_engine.asked[0]
    assert (request["path"], request["asked"]) == (path, asked)
    sent = {key.lower(): value for key, value in request["headers"].items()}
    assert {key: sent[key.lower()] for key in headers} == headers


PARTIAL: list[tuple[str, str, dict[str, Any], str]] = [
    ("solr", "/solr/shop/query", {**SOLR, "responseHeader": {"partialResults": True}}, "in part"),
    ("vespa", "/search/", {"root": {"coverage": {"coverage": 60, "full": False}}}, "covered 60 %"),
    ("vespa", "/search/", {"root": {"errors": [{"code": 4, "message": "bad yql"}]}}, "bad yql"),
    ("elasticsearch", "/shop/_search", {"timed_out": True, "hits": {"hits": []}}, "in part"),
    ("opensearch", "/shop/_search", {"_shards": {"failed": 2}, "hits": {"hits": []}}, "2 shards"),
]


@pytest.mark.parametrize(("name", "path", "reply", "told"), PARTIAL)
def test_half_an_answer_is_none(
    name: str, path: str, reply: Any, told: str, opened: Opened, bad_engine: BadEngine, here: Allowed
) -> None:
    bad_engine.replies[path] = reply
    given = {"address": f"http://127.0.0.1:{bad_engine.port}", "index": "shop"}
    if name == "vespa":
        del given["index"]
    with pytest.raises(EngineFault, match=told):
        opened(name, given, here).search("rain", 5)


def test_vespa_sends_no_list_where_nothing_was_found(opened: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    bad_engine.replies["/search/"] = {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}}
    engine = opened("vespa", {"address": f"http://127.0.0.1:{bad_engine.port}"}, here)
    assert engine.search("nothing", 5) == []
