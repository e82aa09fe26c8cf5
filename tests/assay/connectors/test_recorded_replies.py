"""Tests of reading responses of engines that are not installed here.

Their keys, types and odd places are those of replies that were recorded from such engines and stand in public
repositories; the documents in them are ours. They come over HTTP from a server of the test. No server of these kinds
was asked: the page of connectors says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.connectors import Allowed, Engine, EngineFault, Hit
from assay.connectors.fetch import run_scores
from tests.assay.connectors.bad_engine import BadEngine

Opened = Callable[..., Engine]
# As Solr 8 and 9 in cloud mode: documents of one schema have lists where another has text.
SOLR = {
    "responseHeader": {
        "zkConnected": True,
        "status": 0,
        "QTime": 12,
        "params": {"indent": "true", "q.op": "OR", "json": "{}"},
    },
    "response": {
        "numFound": 52,
        "start": 0,
        "maxScore": 1.9,
        "numFoundExact": True,
        "docs": [
            {
                "id": "d1",
                "title": ["Rain jacket"],
                "text": ["Dry.", "Warm."],
                "price": 6.99,
                "price_c": "6.99,USD",
                "inStock": False,
                "_version_": 1743864806832603136,
                "score": 1.9,
            },
            {
                "id": "d2",
                "name": "Hat",
                "content": ["Keeps the sun off."],
                "_version_": 1743864806832603137,
                "score": 0.5,
            },
        ],
    },
    "facet_counts": {"facet_queries": {}, "facet_fields": {"year": ["2012", 4457, "2011", 4369]}, "facet_dates": {}},
}
# Where only ids were asked for, no document has a score, and the order is all there is.
SOLR_IDS = {
    "responseHeader": {"status": 0, "QTime": 6, "params": {"fl": "id", "wt": "json"}},
    "response": {"numFound": 77850, "start": 0, "docs": [{"id": "5583392"}, {"id": "76257"}]},
}
VESPA = {
    "root": {
        "id": "toplevel",
        "relevance": 1.0,
        "fields": {"totalCount": 2},
        "coverage": {"coverage": 100, "documents": 147, "full": True, "nodes": 1, "results": 1, "resultsFull": 1},
        "children": [
            {"id": "group:root:0", "relevance": 1.0, "continuation": {"this": ""}, "children": []},
            {
                "id": "id:shop:product::2798327259924297827",
                "relevance": 0.08584490282742775,
                "source": "shop",
                "fields": {
                    "sddocname": "product",
                    "documentid": "id:shop:product::2798327259924297827",
                    "id": "2798327259924297827",
                    "title": "Rain jacket",
                    "body": "<sep />keeps <hi>rain</hi> out<sep />",
                    "url": "http://shop.example/jacket.html",
                },
            },
            {
                "id": "index:shop/0/91ba7c3a0633aeabd9878503",
                "relevance": 0.02,
                "source": "shop",
                "fields": {"name": "Hat"},
            },
        ],
    }
}
ALGOLIA = {
    "hits": [
        {
            "objectID": "/catalog/jackets#4",
            "name": "Rain jacket",
            "url": "/catalog/jackets",
            "content": "Dry.",
            "_highlightResult": {
                "name": {
                    "value": "<mark>Rain</mark> jacket",
                    "matchLevel": "full",
                    "fullyHighlighted": False,
                    "matchedWords": ["rain"],
                }
            },
            "_rankingInfo": {"nbTypos": 0, "firstMatchedWord": 0, "userScore": 521, "words": 0, "filters": 0},
        },
        {"objectID": "Facility:9", "title": "Hat", "categoryID": 19, "value": {"en": "Hat", "pt": "Boné"}},
    ],
    "nbHits": 2,
    "page": 0,
    "nbPages": 1,
    "hitsPerPage": 7,
    "exhaustiveNbHits": True,
    "exhaustiveTypo": True,
    "exhaustive": {"nbHits": True, "typo": True},
    "query": "rain",
    "params": "query=rain&hitsPerPage=7",
    "renderingContent": {},
    "processingTimeMS": 1,
    "processingTimingsMS": {"_request": {"queue": 1, "roundTrip": 117}, "total": 0},
    "serverTimeMS": 2,
}
# The second hit has a better text_match than the first: other rules ranked them, and their order is what counts.
TYPESENSE = {
    "facet_counts": [],
    "found": 2,
    "out_of": 11,
    "page": 1,
    "request_params": {"collection_name": "shop", "per_page": 10, "q": "rain"},
    "search_cutoff": False,
    "search_time_ms": 17,
    "hits": [
        {
            "document": {"id": "10", "name": "Rain jacket", "description": "Dry.", "price": 9},
            "highlight": {"name": {"matched_tokens": ["Rain"], "snippet": "<mark>Rain</mark> jacket"}},
            "highlights": [{"field": "name", "matched_tokens": ["Rain"], "snippet": "<mark>Rain</mark> jacket"}],
            "text_match": 1157451436544491626,
            "text_match_info": {
                "best_field_score": "2211880828928",
                "best_field_weight": 13,
                "fields_matched": 2,
                "num_tokens_dropped": 0,
                "score": "1157451436544491626",
                "tokens_matched": 2,
                "typo_prefix_score": 1,
            },
        },
        {
            "document": {"id": "9", "titles": ["Hat"], "title": "Hat"},
            "highlight": {},
            "highlights": [],
            "text_match": 1157451470367359081,
            "text_match_info": {"best_field_score": "2211897344000", "score": "1157451470367359081"},
        },
    ],
}
# Connector, settings, the address that it must ask, its reply, what it must ask, and the hits in it.
CASES: dict[str, tuple[dict[str, str], str, Any, Any, list[Hit]]] = {
    "solr": (
        {"index": "shop"},
        "/solr/shop/query",
        SOLR,
        {"query": {"edismax": {"query": "rain", "qf": "title^2 text"}}, "limit": 5, "fields": "*,score"},
        [Hit("d1", 1.9, "Rain jacket", "Dry.\nWarm."), Hit("d2", 0.5, "Hat", "Keeps the sun off.")],
    ),
    "vespa": (
        {},
        "/search/",
        VESPA,
        {"yql": "select * from sources * where userInput(@words)", "words": "rain", "hits": 5, "offset": 0},
        [
            Hit(
                "id:shop:product::2798327259924297827",
                0.08584490282742775,
                "Rain jacket",
                "<sep />keeps <hi>rain</hi> out<sep />",
                "http://shop.example/jacket.html",
                fields={
                    "sddocname": "product",
                    "documentid": "id:shop:product::2798327259924297827",
                    "id": "2798327259924297827",
                },
            ),
            Hit("index:shop/0/91ba7c3a0633aeabd9878503", 0.02, "Hat"),
        ],
    ),
    "algolia": (
        {"index": "shop"},
        "/1/indexes/shop/query",
        ALGOLIA,
        {"query": "rain", "hitsPerPage": 5, "analytics": False},
        [
            Hit("/catalog/jackets#4", None, "Rain jacket", "Dry.", "/catalog/jackets"),
            Hit("Facility:9", None, "Hat"),
        ],
    ),
    "typesense": (
        {"index": "shop"},
        "/collections/shop/documents/search",
        TYPESENSE,
        {"q": "rain", "query_by": "title,text", "per_page": "5", "page": "1"},
        [
            Hit("10", 1157451436544491626.0, "Rain jacket", "Dry.", fields={"id": "10", "price": 9}),
            Hit("9", 1157451470367359081.0, "Hat", fields={"id": "9", "titles": ["Hat"]}),
        ],
    ),
}
SUBMITTED = {
    "solr": ("user:pw", {"Authorization": "Basic dXNlcjpwdw=="}),
    "vespa": ("key", {"Authorization": "Bearer key"}),
    "algolia": ("key", {"X-Algolia-Api-Key": "key", "X-Algolia-Application-Id": "APPLICATION"}),
    "typesense": ("key", {"X-Typesense-Api-Key": "key"}),
}


@pytest.mark.parametrize("name", CASES)
def test_request_and_reply(name: str, opened: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    values, path, reply, options, hits = CASES[name]
    secret, headers = SUBMITTED[name]
    bad_engine.replies[path] = reply
    address = f"http://127.0.0.1:{bad_engine.port}/"
    engine = opened(name, {"address": address, "secret": secret, **values}, here)
    assert engine.search("rain", 5) == hits
    request = bad_engine.requests[0]
    assert (request["path"], request["asked"]) == (path, options)
    form_data = {key.lower(): value for key, value in request["headers"].items()}
    assert {key: form_data[key.lower()] for key in headers} == headers


def test_without_scores_the_order_is_stored(opened: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    bad_engine.replies["/solr/shop/query"] = SOLR_IDS
    hits = opened("solr", {"address": f"http://127.0.0.1:{bad_engine.port}", "index": "shop"}, here).search("rain", 5)
    assert [(hit.doc_id, hit.score) for hit in hits] == [("5583392", None), ("76257", None)]
    assert run_scores(hits) == [2.0, 1.0]


def test_scores_that_contradict_the_order_give_way_to_it(opened: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    bad_engine.replies["/collections/shop/documents/search"] = TYPESENSE
    address = f"http://127.0.0.1:{bad_engine.port}"
    hits = opened("typesense", {"address": address, "index": "shop"}, here).search("rain", 5)
    assert run_scores(hits) == [2.0, 1.0]


PARTIAL: list[tuple[str, str, dict[str, Any], str]] = [
    ("solr", "/solr/shop/query", {**SOLR, "responseHeader": {"partialResults": True}}, "partial result"),
    ("vespa", "/search/", {"root": {"coverage": {"coverage": 60, "full": False}}}, "covered only 60%"),
    ("vespa", "/search/", {"root": {"errors": [{"code": 4, "message": "bad yql"}]}}, "bad yql"),
    ("elasticsearch", "/shop/_search", {"timed_out": True, "hits": {"hits": []}}, "partial result"),
    ("opensearch", "/shop/_search", {"_shards": {"failed": 2}, "hits": {"hits": []}}, "2 shards"),
]


@pytest.mark.parametrize(("name", "path", "reply", "message"), PARTIAL)
def test_half_an_answer_is_none(
    name: str, path: str, reply: Any, message: str, opened: Opened, bad_engine: BadEngine, here: Allowed
) -> None:
    bad_engine.replies[path] = reply
    given = {"address": f"http://127.0.0.1:{bad_engine.port}", "index": "shop"}
    if name == "vespa":
        del given["index"]
    with pytest.raises(EngineFault, match=message):
        opened(name, given, here).search("rain", 5)


def test_vespa_sends_no_list_where_nothing_was_detected(opened: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    bad_engine.replies["/search/"] = {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}}
    engine = opened("vespa", {"address": f"http://127.0.0.1:{bad_engine.port}"}, here)
    assert engine.search("nothing", 5) == []
