"""Tests of the JSON judgment list: golden bytes, round trip, codes for bad ratings."""

from __future__ import annotations

import io
import json

import pytest

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import judgment_list
from assay.formats.judgment_list import read
from assay.formats.row_types import LabelRow

GOLDEN = """[
  {
    "query_id": "q1",
    "query": "=shoes, \\"red\\"\\t😀\\n",
    "ratings": [
      {"doc_id": "a b", "rating": 3},
      {"doc_id": "z", "rating": 0}
    ]
  },
  {
    "query_id": "q2",
    "query": "tent",
    "ratings": [
      {"doc_id": "z", "rating": 1}
    ]
  }
]
"""
ROWS = [
    LabelRow("q1", "a b", 3, "2", '=shoes, "red"\t😀\n'),
    LabelRow("q1", "z", 0, "2", '=shoes, "red"\t😀\n'),
    LabelRow("q2", "z", 1, "2", "tent"),
]


def written(rows: list[LabelRow], **options: object) -> str:
    stream = io.BytesIO()
    judgment_list.write(rows, stream, **options)  # type: ignore[arg-type]
    return stream.getvalue().decode()


def codes(text: str, **options: object) -> dict[str, int]:
    return dict(read(text.encode(), **options).report.codes)  # type: ignore[arg-type]


def a_list(rating: str) -> str:
    return f'[{{"query_id": "q1", "query": "tent", "ratings": [{rating}]}}]\n'


def test_golden_bytes():
    assert written(list(reversed(ROWS))) == GOLDEN
    assert written([]) == "[]\n"


def test_round_trip():
    assert read(GOLDEN.encode()).rows == ROWS
    assert [entry["query_id"] for entry in json.loads(GOLDEN)] == ["q1", "q2"]


def test_a_label_that_is_carried_says_from_where_and_reads_back():
    row = LabelRow("q1", "d2", 3, "3", "tent", ("q1", "d1", "duplicate"))
    text = written([row])
    mark = {"query_id": "q1", "doc_id": "d1", "why": "duplicate"}
    assert json.loads(text)[0]["ratings"] == [{"doc_id": "d2", "rating": 3, "copied_from": mark}]
    assert read(text.encode()).rows == [row]
    assert codes(a_list('{"doc_id": "d", "rating": 1, "copied_from": "d1"}')) == {"E23": 1}


def test_a_pair_without_a_grade_is_left_out_or_null():
    rows = [*ROWS[2:], LabelRow("q2", "y", None, query="tent"), LabelRow("q3", "y", None, query="boots")]
    assert [entry["query_id"] for entry in json.loads(written(rows))] == ["q2"]
    shown = json.loads(written(rows, omit_unrated=False))
    assert shown[0]["ratings"] == [{"doc_id": "y", "rating": None}, {"doc_id": "z", "rating": 1}]
    assert shown[1]["ratings"] == [{"doc_id": "y", "rating": None}]


def test_null_is_read_as_no_grade():
    result = read(a_list('{"doc_id": "d", "rating": null}').encode())
    assert (result.rows[0].grade, result.report.histogram) == (None, {})


def test_texts_can_come_from_the_queries():
    assert '"query": "tent"' in written([LabelRow("q1", "d", 1)], queries={"q1": "tent"})
    with pytest.raises(NotValid, match="'q1' has no text"):
        written([LabelRow("q1", "d", 1)])


@pytest.mark.parametrize(
    ("rating", "code"),
    [
        ('{"doc_id": "d", "rating": 3.0}', "W32"),
        ('{"doc_id": "d", "rating": 2.5}', "E13"),
        ('{"doc_id": "d", "rating": 9}', "E14"),
        ('{"doc_id": "d", "rating": "3"}', "E12"),
        ('{"doc_id": "d", "rating": true}', "E12"),
        ('{"doc_id": "d", "rating": NaN}', "E12"),
        ('{"doc_id": "d"}', "E23"),
        ('{"doc_id": 7, "rating": 1}', "W42"),
        ('{"doc_id": 7.5, "rating": 1}', "E23"),
        ('{"doc_id": "", "rating": 1}', "E11"),
        ('{"doc_id": "a\\u0000b", "rating": 1}', "E19"),
        ('{"doc_id": "d", "rating": 1, "rating": 2}', "E20"),
        ('{"doc_id": "d", "rating": 1}, {"doc_id": "d", "rating": 1}', "W33"),
        ('{"doc_id": "d", "rating": 1}, {"doc_id": "d", "rating": 2}', "E16"),
        ("3", "E23"),
    ],
)
def test_each_odd_rating_has_its_code(rating: str, code: str):
    assert code in codes(a_list(rating), grades=(0, 1, 2, 3))


def test_position_is_reported_by_line_and_path():
    text = GOLDEN.replace('"rating": 1}', '"rating": "x"}')
    problem = read(text.encode()).report.errors[0]
    assert (problem.line, problem.column, problem.raw) == (10, "[1].ratings[0]", '{"doc_id": "z", "rating": "x"}')


def test_one_query_in_two_elements():
    one = '{"query_id": "q1", "query": "tent", "ratings": [{"doc_id": "%s", "rating": 1}]}'
    merged = f"[{one % 'a'}, {one % 'b'}]"
    assert len(read(merged.encode()).rows) == 2
    assert codes(merged.replace("tent", "boots", 1)) == {"E18": 1, "W36": 1}


def test_unknown_keys_are_named():
    text = '[{"query_id": "q1", "query": "tent", "ratings": [], "tier": "head"}]\n'
    assert codes(text) == {"W41": 1}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"judgments": []}', "F03"),
        ("q1 0 d1 3", "F03"),
        ("[1", "F05"),
        ("[1 2]", "F05"),
        ("[]]", "F05"),
        ('[{"a": }]', "F05"),
        ("[" * 100_000, "F05"),
        ("[" + "9" * 5000 + "]", "F05"),
    ],
)
def test_invalid_judgment_lists_are_refused(text: str, code: str):
    with pytest.raises(UnreadableInput) as caught:
        read(text.encode())
    assert caught.value.code == code
