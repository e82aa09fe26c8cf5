"""Tests of umbrela's requests and judgments: ids by position and text, and failures that are no grade."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.row_types import PairRow
from assay.formats.writer import Written
from tests.assay.formats.table_bytes import written

PAIRS = [
    PairRow("q1", "d1", "shoes", text="A shoe."),
    PairRow("q1", "d2", "shoes", text="A bag."),
    PairRow("q2", "d3", "tent", text="A bag."),
    PairRow("q2", "d4", "tent", text="A bag."),
]
BYTES = (
    b'{"query": {"qid": "q1", "text": "shoes"}, "candidates": [{"docid": "d1", "doc": {"segment": "A shoe."}}, '
    b'{"docid": "d2", "doc": {"segment": "A bag."}}]}\n'
    b'{"query": {"qid": "q2", "text": "tent"}, "candidates": [{"docid": "d3", "doc": {"segment": "A bag."}}, '
    b'{"docid": "d4", "doc": {"segment": "A bag."}}]}\n'
)


@pytest.fixture
def requests(tmp_path: Path) -> str:
    path = tmp_path / "requests.jsonl"
    path.write_bytes(BYTES)
    return str(path)


def judgment(query: str, passage: str, **of: Any) -> dict[str, Any]:
    return (
        {"model": "m", "query": query, "passage": passage, "prompt": "p", "prediction": "3", "judgment": 3}
        | {"result_status": 1}
        | of
    )


def read(*objects: Any, **options: Any) -> Any:
    data = "".join(f"{json.dumps(one)}\n" for one in objects).encode()
    return FORMATS["umbrela-judgments-jsonl"].read(data, path="a", **options)


def test_requests_have_one_line_per_query():
    assert written("umbrela-requests-jsonl", PAIRS) == BYTES
    result = FORMATS["umbrela-requests-jsonl"].read(BYTES, path="a")
    assert (result.rows, result.report.bins["header"], result.report.units) == (PAIRS, 2, 6)


def test_line_ends_of_unicode_in_requests_are_escaped():
    rows = [PairRow("q1", "d1", "shoes", text="A\u2028shoe\x85\u00e9.")]
    data = written("umbrela-requests-jsonl", rows)
    assert len(data.decode().splitlines()) == 1
    assert FORMATS["umbrela-requests-jsonl"].read(data, path="a").rows[0].text == rows[0].text


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"query": "shoes", "candidates": ["A shoe."]}, "E23"),
        ({"query": {"text": "shoes"}, "candidates": []}, "E23"),
        ({"query": {"qid": "q1", "text": " "}, "candidates": []}, "E11"),
        ({"query": {"qid": "q1", "text": "shoes"}, "candidates": ["A shoe."]}, "E23"),
        ({"query": {"qid": "q1", "text": "shoes"}, "candidates": [{"docid": "d1"}]}, "E23"),
        ({"query": {"qid": "q1", "text": "shoes"}, "candidates": [{"docid": 7, "text": "A shoe."}]}, "W42"),
    ],
)
def test_odd_requests(request_: dict[str, Any], code: str):
    report = FORMATS["umbrela-requests-jsonl"].read(BYTES + json.dumps(request_).encode() + b"\n", path="a").report
    assert set(report.codes) == {code}
    assert code == "W42" or report.errors[0].line == 3


def test_judgments_get_ids_from_their_requests(requests: str):
    """The last two pairs differ only in their positions."""
    answers = [judgment(pair.query, pair.text, judgment=grade) for pair, grade in zip(PAIRS, (3, 0, 1, 2), strict=True)]
    result = read(*answers, requests=requests)
    assert [(row.query_id, row.doc_id, row.grade) for row in result.rows] == [
        ("q1", "d1", 3),
        ("q1", "d2", 0),
        ("q2", "d3", 1),
        ("q2", "d4", 2),
    ]
    assert (result.report.codes, {row.judge for row in result.rows}) == ({}, {"umbrela"})


def test_judgments_of_other_texts_are_rejected(requests: str):
    answers = [
        judgment("shoes", "A bag."),
        judgment("shoes", "A hat."),
        judgment("tent", "A bag."),
        judgment("tent", "A bag."),
    ]
    result = read(answers[1], answers[0], answers[3], requests=requests)
    assert [(row.query_id, row.doc_id) for row in result.rows] == [("q1", "d2"), ("q2", "d3")]
    assert [(one.line, one.code) for one in result.report.errors] == [(1, "E17")]
    shifted = read(judgment("tent", "A bag."), judgment("shoes", "A shoe."), requests=requests)
    assert [(one.line, one.code) for one in shifted.report.errors] == [(1, "E17")]


def test_a_missing_request_file_is_refused():
    with pytest.raises(UnreadableInput) as caught:
        read(judgment("shoes", "A shoe."), requests="no-such-file")
    assert caught.value.code == "F00"


def test_a_fallback_to_0_is_a_failure():
    rows = read(judgment("shoes", "A shoe.", judgment=0, result_status=0), judgment("shoes", "A bag.", judgment=0)).rows
    assert [(row.outcome, row.grade) for row in rows] == [("unparseable", None), ("graded", 0)]
    assert (rows[0].query_id, rows[0].doc_id[:5]) == ("q001", "text-")


@pytest.mark.parametrize(
    ("of", "code"),
    [
        ({"judgment": "3"}, "E12"),
        ({"judgment": 2.5}, "E13"),
        ({"judgment": 7}, "E14"),
        ({"result_status": 2}, "E23"),
        ({"passage": None}, "E23"),
        ({"model": 3}, "E23"),
    ],
)
def test_odd_judgments(of: dict[str, Any], code: str):
    report = read(judgment("shoes", "A hat."), judgment("shoes", "A shoe.") | of, grades=(0, 1, 2, 3)).report
    assert set(report.codes) == {code, "W71"}
    assert report.errors[0].line == 2


LABELS = [
    MachineLabel("q2", "d3", "graded", 0, judge="graded", model="m", rationale="No tent.", raw="0"),
    MachineLabel("q1", "d1", "refused", judge="umbrela", model="m", prompt_sha256="0" * 64, cost_usd=0.1),
]
TEXTS = {"queries": {"q1": "shoes", "q2": "tent"}, "documents": {"d1": "A shoe.", "d3": "A bag,\u2028not a tent."}}
# umbrela's own file has these keys in this order, and no characters beyond ASCII.
JUDGMENTS = (
    b'{"model": "graded m", "query": "tent", "passage": "A bag,\\u2028not a tent.", "prompt": "", "prediction": "0", '
    b'"reasoning": "No tent.", "judgment": 0, "result_status": 1}\n'
    b'{"model": "m", "query": "shoes", "passage": "A shoe.", "prompt": "", "prediction": "", "judgment": 0, '
    b'"result_status": 0}\n'
)


def write(labels: list[MachineLabel], **options: Any) -> tuple[bytes, Written]:
    stream, member = io.BytesIO(), FORMATS["umbrela-judgments-jsonl"]
    assert member.write is not None
    done = member.write(labels, stream, **options)
    return stream.getvalue(), done


def test_labels_become_judgments():
    data, done = write(LABELS, **TEXTS)
    assert (data, done.rows) == (JUDGMENTS, 2)
    assert [note.partition(" cannot store ")[2] for note in done.notes] == [
        "details of an answer, such as its rationale and cost: left out for 1 judgment; labels-jsonl keeps them",
        "hashes of prompts: left out for 1 judgment; labels-jsonl keeps them",
        "ids of queries and documents: written without, in the order of the rows, for 2 judgments; labels-jsonl keeps "
        "them",
        "types of failure: written with result_status 0 for 1 judgment; labels-jsonl keeps them",
    ]
    result = FORMATS["umbrela-judgments-jsonl"].read(data, path="a")
    assert [(row.outcome, row.grade, row.rationale) for row in result.rows] == [
        ("graded", 0, "No tent."),
        ("unparseable", None, ""),
    ]
    assert write(result.rows)[0] == data


@pytest.mark.parametrize(
    ("label", "options", "words"),
    [
        (LABELS[0], {}, "the query has no text.*--queries FILE"),
        (LABELS[0], {"queries": TEXTS["queries"]}, "the document has no text.*--documents FILE"),
        (MachineLabel("q1", "d1", "graded", 4), TEXTS, "the grade 4 is not on umbrela's scale from 0 to 3"),
        (MachineLabel("q1", "d1", "graded", usefulness=1), TEXTS, "umbrela cannot store usefulness"),
        (MachineLabel("q1", "d1", "graded", 1, raw="a\0"), TEXTS, "a NUL character in a text; correct the text"),
    ],
)
def test_labels_that_cannot_be_judgments(label: MachineLabel, options: dict[str, Any], words: str):
    with pytest.raises(NotValid, match=words):
        write([label], **options)
