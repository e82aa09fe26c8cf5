"""Tests of format detection: odd lines, lookalike formats, explicit formats, fallbacks."""

from __future__ import annotations

import pytest

from assay.core.errors import UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.qrels_and_runs import load_qrels, load_run
from assay.formats.reader import recognize, recognize_or


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
BEIR_QRELS = b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n"
BEIR_QRELS_JSONL = (
    b'{"query-id": "q1", "corpus-id": "d1", "score": 1.0}\n{"query-id": "q1", "corpus-id": "d2", "score": 0}\n'
)


@pytest.mark.parametrize(
    ("data", "kind", "message", "option"),
    [
        (REQUEST, "query-log", "umbrela request", "query-log-jsonl"),
        (SHORT_REQUEST, "query-log", "umbrela request", "query-log-jsonl"),
        (ANSWER, "query-log", "umbrela", "query-log-jsonl"),
        (BEIR_QUERIES, None, "BEIR's queries.jsonl", "documents-jsonl"),
        (BEIR_QUERIES, "documents", "queries-jsonl", "--format documents-jsonl"),
        (SHORT_REQUEST, "queries", "umbrela request", "--format queries-jsonl"),
        (ANSWER, "queries", "umbrela", "--format queries-jsonl"),
        (BEIR_QRELS, "run", "BEIR's qrels", "--format run-csv"),
        (BEIR_QRELS.replace(b"\t", b","), "run", "BEIR's qrels", "--format run-csv"),
        (BEIR_QRELS[:-1].replace(b"\n", b"\r\n"), "run", "BEIR's qrels", "--format run-csv"),
        (BEIR_QRELS_JSONL, "run", "BEIR's qrels", "--format run-jsonl"),
        (b"[" + BEIR_QRELS_JSONL.strip().replace(b"\n", b",") + b"]", "run", "BEIR's qrels", "--format run-json"),
    ],
)
def test_other_formats_are_refused_with_a_fix(data: bytes, kind: str | None, message: str, option: str):
    with pytest.raises(UnreadableInput) as refused:
        recognize(data, "a.jsonl", kind)
    assert refused.value.code == "F03"
    assert message in str(refused.value)
    assert option in str(refused.value)


def test_unambiguous_formats_are_detected():
    assert recognize(BEIR_QUERIES, "a", "queries") == "queries-jsonl"
    assert recognize(BEIR_CORPUS, "a") == "documents-jsonl"
    assert (recognize(REQUEST, "a"), recognize(ANSWER, "a")) == ("umbrela-requests-jsonl", "umbrela-judgments-jsonl")
    assert recognize(b'{"query": "rain", "count": 3}\n', "a") == "query-log-jsonl"
    assert recognize(b'{"query": "rain", "docno": "d1", "judgment": 3}\n', "a") is None
    assert recognize(BEIR_QRELS, "a") == recognize(BEIR_QRELS, "a", "qrels") == "beir-qrels"
    assert recognize(BEIR_QRELS.replace(b"\t1\n", b"\t12.5\n"), "a", "run") == "run-csv"
    assert recognize(BEIR_QRELS_JSONL, "a", "qrels") == "qrels-jsonl"
    assert recognize(BEIR_QRELS.replace(b"\t", b","), "a", "qrels") == "qrels-csv"
    assert recognize(BEIR_QRELS_JSONL.replace(b"1.0", b"1.5"), "a", "run") == "run-jsonl"


def test_a_named_format_is_used():
    assert FORMATS["documents-jsonl"].read(BEIR_QUERIES, path="a").rows[0].text == "rain jacket"
    assert FORMATS["query-log-jsonl"].read(ANSWER, path="a").rows[0].query == "flea"


def test_a_run_that_is_qrels_is_read_only_when_the_format_is_given():
    with pytest.raises(UnreadableInput, match="--run-format run-csv") as refused:
        load_run(BEIR_QRELS, "a")
    assert refused.value.code == "F03"
    assert load_run(BEIR_QRELS, "a", format="run-csv")[0].to_dict() == {"q1": {"d1": 1.0, "d2": 0.0}}


def test_qrels_that_are_something_else_are_called_by_its_name():
    with pytest.raises(UnreadableInput, match="umbrela-requests-jsonl"):
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


def test_unrecognized_files_are_read_as_the_default_format():
    assert recognize_or(b'{"sku": "d1"}\n', "a.jsonl", "documents", "documents-jsonl") == "documents-jsonl"
