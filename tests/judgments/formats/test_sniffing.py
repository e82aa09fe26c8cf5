"""Tests of format detection: odd lines, lookalike formats, explicit formats, fallbacks."""

from __future__ import annotations

import pytest

from judgments.core.errors import UnreadableInput
from judgments.formats import FORMATS, sniff
from judgments.formats.sniffing import recognize, recognize_or
from judgments.formats.tables import load_qrels


@pytest.mark.parametrize(
    ("name", "good", "odd"),
    [("trec-run", "q1 Q0 d1 1 2.5 a\n", "q1 Q0 d2 2 1.5\n"), ("trec-qrels", "q1 0 d1 3\n", "q1 0 d2 x 3 y\n")],
)
def test_one_odd_line_does_not_hide_the_format(name: str, good: str, odd: str):
    assert sniff((good * 2 + odd + good * 3).encode()) == name
    assert sniff((good + odd).encode()) != name


REQUEST = b'{"query": {"text": "flea", "qid": "1"}, "candidates": [{"docid": "7", "doc": {"segment": "A flea"}}]}\n'
SHORT_REQUEST = b'{"query": "flea", "candidates": ["A flea"]}\n'
ANSWER = b'{"model": "m", "query": "flea", "passage": "A flea", "prediction": "3", "judgment": 3, "result_status": 1}\n'
BEIR_QUERIES = b'{"_id": "1", "text": "rain jacket", "metadata": {}}\n'
BEIR_CORPUS = b'{"_id": "d1", "title": "Jacket", "text": "For rain", "metadata": {}}\n'


@pytest.mark.parametrize(
    ("data", "kind", "told", "option"),
    [
        (REQUEST, None, "umbrela request", "query-log-jsonl"),
        (SHORT_REQUEST, "query-log", "umbrela request", "query-log-jsonl"),
        (ANSWER, "query-log", "umbrela", "query-log-jsonl"),
        (BEIR_QUERIES, None, "BEIR's queries.jsonl", "documents-jsonl"),
        (BEIR_QUERIES, "documents", "queries-jsonl", "--format documents-jsonl"),
        (SHORT_REQUEST, "queries", "umbrela request", "--format queries-jsonl"),
        (ANSWER, "queries", "umbrela", "--format queries-jsonl"),
    ],
)
def test_what_looks_like_something_else_is_refused_with_the_way_to_read_it(
    data: bytes, kind: str | None, told: str, option: str
):
    with pytest.raises(UnreadableInput) as refused:
        recognize(data, "a.jsonl", kind)
    assert refused.value.code == "F03"
    assert told in str(refused.value)
    assert option in str(refused.value)


def test_what_can_be_only_one_thing_is_recognized():
    assert recognize(BEIR_QUERIES, "a", "queries") == "queries-jsonl"
    assert recognize(BEIR_CORPUS, "a") == "documents-jsonl"
    assert recognize(b'{"query": "rain", "count": 3}\n', "a") == "query-log-jsonl"
    assert recognize(b'{"query": "rain", "docno": "d1", "judgment": 3}\n', "a") is None


def test_who_names_the_format_is_believed():
    assert FORMATS["documents-jsonl"].read(BEIR_QUERIES, path="a").rows[0].text == "rain jacket"
    assert FORMATS["query-log-jsonl"].read(ANSWER, path="a").rows[0].query == "flea"


def test_qrels_that_are_something_else_are_called_by_its_name():
    with pytest.raises(UnreadableInput, match="umbrela request"):
        load_qrels(REQUEST, "a")


@pytest.mark.parametrize(
    ("data", "kind", "near"),
    [
        (b'{"query_id": "q1", "doc_id": "d1", "score": 1.5}\n', "documents", "run-jsonl"),
        (b'{"query_id": "q1", "doc_id": "d1", "grade": 2}\n', "documents", "qrels-jsonl"),
        (b'{"query_id": "q1", "doc_id": "d1", "text": "A tent"}\n', "documents", "pairs-jsonl"),
        (b'{"query": "tent", "doc_id": "d1", "clicked": true}\n', "documents", "click-log-jsonl"),
        (b'{"doc_id": "d1", "title": "Tent"}\n', "queries", "documents-jsonl"),
        (b'{"doc_id": "d1", "title": "Tent"}\n', "query-log", "documents-jsonl"),
    ],
)
def test_json_of_another_kind_is_not_read_as_the_usual_format(data: bytes, kind: str, near: str):
    with pytest.raises(UnreadableInput, match=f"looks like {near}.*--format usual") as refused:
        recognize_or(data, "a.jsonl", kind, "usual")
    assert refused.value.code == "F03"


def test_what_looks_like_nothing_known_is_read_as_the_usual_format():
    assert recognize_or(b'{"sku": "d1"}\n', "a.jsonl", "documents", "documents-jsonl") == "documents-jsonl"
