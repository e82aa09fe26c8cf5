"""Tests of reading Elasticsearch's ``_rank_eval`` responses, and of errors for invalid ones.

``rank_eval.json`` is a reply of a real Elasticsearch 7.0 to three queries, one of which found nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.core.errors import UnreadableInput
from assay.staleness.rank_eval import holes_of, of, read

REPLY = (Path(__file__).parent / "rank_eval.json").read_bytes()


def test_unrated_documents_are_holes():
    reply = read(REPLY)
    assert reply.pairs() == [("q1", "d3")]
    result = holes_of(reply, {"q1": {"d1", "d2"}, "q2": {"d4"}, "q3": {"d9"}})
    assert (result.holes, result.returned, result.queries) == (1, 4, 2)
    assert result.mean == pytest.approx((1 / 3 + 0) / 2)
    assert result.worst == (("q1", 1, 3),)


def test_later_judged_documents_are_not_unjudged():
    assert holes_of(read(REPLY), {"q1": {"d1", "d2", "d3"}, "q2": {"d4"}}).holes == 0


def test_queries_that_the_engine_could_not_answer_are_named():
    body = json.loads(REPLY) | {"failures": {"q9": {"error": {"type": "search_phase_execution_exception"}}}}
    assert of(body).failed == ("q9",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>", "is not JSON"),
        (b"[1, 2]", "has no `details` by query"),
        (b'{"details": {"q1": {"hits": []}}}', "details.q1 has no list `unrated_docs`"),
        (b'{"details": {"q1": {"unrated_docs": []}}}', "details.q1 has no list `hits`"),
        (b'{"details": {"q1": {"unrated_docs": [{"_index": "a"}], "hits": []}}}', "has no `_id`"),
        (
            b'{"error": {"reason": "no such index", "type": "index_not_found_exception"}, "status": 404}',
            "no such index",
        ),
        (b"[" * 100_000, "is not JSON"),
        # What no run's file could hold, and a database would not take.
        (rb'{"details": {"q\u0000": {"unrated_docs": [], "hits": []}}}', "U+0000"),
        (rb'{"details": {"q1": {"unrated_docs": [{"_id": "d\ud800"}], "hits": []}}}', "U+D800"),
        (rb'{"details": {"q1": {"unrated_docs": [], "hits": [{"hit": {"_id": "d\u001b"}}]}}}', "U+001B"),
        (rb'{"details": {}, "failures": {"q\u0000": {}}}', "U+0000"),
    ],
)
def test_invalid_responses_are_refused_with_the_place(content, message):
    with pytest.raises(UnreadableInput, match=r"reply\.json") as caught:
        read(content, "reply.json")
    assert message in str(caught.value)
