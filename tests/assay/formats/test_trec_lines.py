"""Tests of the columnar TREC reader: same tables and issues as the careful reader for any input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.errors import UnreadableInput
from assay.core.qrels import Qrels
from assay.core.read_report import Report
from assay.core.run import Run
from assay.core.text_column import Texts
from assay.formats import trec_qrels, trec_run
from assay.formats.trec_lines import number as read_number
from assay.formats.trec_lines import numbers, numbers_or_nan, split_fields

QUERIES = ["q1", "q2", "10", "007", "Jacke", "q\u00e9", "#4"]
DOCUMENTS = [
    "d1",
    "d2",
    "d3",
    "a#b",
    "gr\u00fcn",
    "cafe\u0301",
    "my\u00a0doc",
    "\u6587\u66f8",
    "x" * 30,
    "x" * 501,
    "d\x7f",
]
NUMBERS = ["1", "0", "-1", "+2", "12.5", ".5", "7.", "1e3", "1E-5", "0.98765432109876543", "3.141592653589793238462643"]
SCORES = [
    *NUMBERS,
    "-0",
    "9007199254740993",
    "1e22",
    "123456789012345678",
    "inf",
    "-Infinity",
    "1e999",
    "nan",
    "two",
    "1_0",
]
RANKS = ["1", "2", "3", "0", "00", "-1", "1.5", "2.0", "+1", "1e1", "first", "1e999"]
GAPS = [" ", "\t", "  ", " \t "]
ENDS = ["\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n", "\n#c\n", "\n \t\n", "\n\r\n"]
BEGINS = ["", "", "", " ", "\t"]


@st.composite
def files(draw: st.DrawFn, *columns: list[str], surplus: bool = True) -> bytes:
    """Some lines of fields, most of one shape; now and then one of another."""
    gap, end, begin = draw(st.sampled_from(GAPS)), draw(st.sampled_from(ENDS)), draw(st.sampled_from(BEGINS))
    lines = []
    plain = draw(st.booleans())
    for number in range(draw(st.integers(1, 8))):
        parts = [draw(st.sampled_from(column[: 4 if plain else None])) for column in columns]
        if plain:
            parts[2] = f"d{number}"
        if surplus and draw(st.integers(0, 9)) == 0:
            parts.append("more")
        if draw(st.integers(0, 19)) == 0:
            parts.pop()
        gap = gap if plain else draw(st.sampled_from(GAPS))
        end = end if plain else draw(st.sampled_from(ENDS))
        begin = begin if plain else draw(st.sampled_from(BEGINS))
        lines.append(begin + gap.join(parts) + end)
    text = "".join(lines)
    return (text if draw(st.booleans()) else text.rstrip("\r\n \t")).encode()


RUNS = files(QUERIES, ["Q0"], DOCUMENTS, RANKS, SCORES, ["tag", "a"])
QRELS = files(QUERIES, ["0", "Q0"], DOCUMENTS, SCORES)


def outcome_of(read: Callable[[], tuple[Any, Report]]) -> Any:
    """The table with its books, or the line and code at which reading ends."""
    try:
        table, report = read()
    except UnreadableInput as error:
        # When no line at all can be read, the quick way says that the file is something else.
        return error.line, error.code.replace("F03", "E10")
    return table, report.bins, report.codes, report.lines


def careful_run(data: bytes) -> tuple[Run, Report]:
    result = trec_run.read(data, path="a")
    result.report.raise_if_errors()
    if not result.rows:
        raise UnreadableInput("a", None, "", "", "F07")
    return Run.from_rows(((row.query_id, row.doc_id, row.score) for row in result.rows), "run"), result.report


def careful_qrels(data: bytes) -> tuple[Qrels, Report]:
    result = trec_qrels.read(data, path="a")
    result.report.raise_if_errors()
    if not result.rows:
        raise UnreadableInput("a", None, "", "", "F07")
    return Qrels.from_rows((row.query_id, row.doc_id, row.grade or 0.0) for row in result.rows), result.report


@settings(max_examples=50)
@given(data=RUNS)
@example(data=b"q1 Q0 d1 1 2.5 x\rq1 Q0 d2 2 1.5 x\rq2 Q0 d2 2 1.5 x\n")
@example(data=b" #4 Q0 d1 1 2.5 x\nq1 Q0 d2 1 1.5 x\n")
@example(data=b"q1 Q0 d1 1 2.5 x y\nq1 Q0 d2 2 1.5 x\n\n#c q1 Q0 d3 3 1 x\n q1 Q0 d3 3 1 x y z\n")
@example(data=b"q1 Q0 d1 1 2.5 x y\nq1 Q0 d2 2 1.5\n")
@example(data=b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2\n1.5 x q1 Q0 d3 3 1 x\n")
@example(data=b"\n\n")
@example(data=b"#c\n\n#c\n")
@example(data=b"q1 Q0 d1 1 1e999 x\n")
@example(data=b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2.0 1.5 x\nq1 Q0 d3 1.5 1 x\n")
@example(data="q1 Q0 gr\u00fcn 1 2.5 x\nq1 Q0 \u6587 2 1 x\n".encode())
@example(data="q1 Q0 cafe\u0301 1 2.5 x\n".encode())
@example(data="q1 Q0 a\u0085b 1 2.5 x\n".encode())
def test_runs(data: bytes):
    quick, careful = outcome_of(lambda: trec_run.load_run_report(data, "a")), outcome_of(lambda: careful_run(data))
    assert quick == careful


@settings(max_examples=50)
@given(data=QRELS)
@example(data=b"q1 0 d1 1\rq1 0 d2 0\n")
@example(data=b"q2 0 d1 1\nq1 0 d1 1\n\nq2 0 d2 1\nq1  0 d1 2\nq2 0 d1 2\n")
@example(data=b"q1 0 d1 1\nq1 0 d1 1\nq1 0 d2 1\nq1 0 d2 2\n")
@example(data=b"#c\n q1 0 d1 1\n #2 0 d1 1\n")
@example(data="q1 0 gr\u00fcn 1\nq\u00e9 0 \u6587 2\n".encode())
def test_qrels(data: bytes):
    assert outcome_of(lambda: trec_qrels.load_qrels_report(data, "a")) == outcome_of(lambda: careful_qrels(data))


@given(
    text=st.from_regex(r"[+-]?(\d{1,25}\.?\d{0,25}|\.\d{1,25})([eE][+-]?\d{1,3})?", fullmatch=True).filter(str.isascii)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str)
)
@settings(max_examples=50)
def test_numbers_are_read_to_the_last_bit(text: str):
    values = numbers(Texts.of([text, "1.25"]))
    if float(text) in (float("inf"), float("-inf")):
        assert values is None
    else:
        assert values is not None
        assert (values[0].hex(), values[1]) == (float(text).hex(), 1.25)


@pytest.mark.parametrize(
    "text", ["", "+", "-", ".", "+.", "1e", "e5", "1_0", "0x1", "nan", "inf", "\u0663", "1.2.3", "--1", "1,5"]
)
def test_invalid_numbers_give_none(text: str):
    assert numbers(Texts.of(["1", text])) is None


@pytest.mark.parametrize(
    "data",
    [
        "q1 Q0 gr\u00fcn 1 2.5 x\n",
        "q1 Q0 \u6587\u66f8 1 2.5 \u00fc\n",
        "# K\u00f6ln\nq1 Q0 d1 1 2.5 x\n",
    ],
)
def test_ids_with_umlauts_go_the_quick_way(data: str):
    assert split_fields(data.encode(), 6) is not None


@pytest.mark.parametrize("data", ["q1 Q0 cafe\u0301 1 2 x\n", "q1 Q0 a\u00a0b 1 2 x\n", "q1 Q0 a\u0085b 1 2 x\n"])
def test_ids_with_look_alikes_do_not(data: str):
    assert split_fields(data.encode(), 6) is None


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"q1 Q0 d1 1 2.5 a tag\nq1 Q0 d2 2 1.5 tag\n", [1, 2]),
        (b"# c\n\n q1 Q0 d1 1 2.5 x\n \t\r\nq1 Q0 d2 2 1.5 x\n#\n", [3, 5]),
        (b"\n" * 100, []),
    ],
    ids=["tags of several words", "comments and blank lines", "nothing else"],
)
def test_uneven_columns_use_the_fast_reader(data: bytes, lines: list[int]):
    fields = split_fields(data, 6)
    assert fields is not None
    assert fields.lines_from(0).tolist() == lines
    assert list(fields.texts(2)) == ["d1", "d2"][: len(lines)]


@given(st.integers(1, 9), st.data())
def test_numbers_of_one_length_are_what_float_reads(size: int, data: st.DataObject) -> None:
    point = data.draw(st.integers(0, size))
    characters = st.sampled_from("0123456789" * 3 + "./:e-")
    texts = data.draw(st.lists(st.text(characters, min_size=size, max_size=size), min_size=1, max_size=8))
    texts = [text[:point] + "." + text[point + 1 :] if data.draw(st.booleans()) else text for text in texts]
    read = [read_number(text) for text in texts]
    expected = [math.nan if value is None or math.isinf(value) else value for value in read]
    np.testing.assert_array_equal(numbers_or_nan(Texts.of(texts)), expected)
