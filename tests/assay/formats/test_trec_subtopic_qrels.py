"""Tests of TREC qrels with subtopics: issues by line, scale, conflicts, output for ndeval."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.row_types import SubtopicRow
from assay.formats.trec_qrels import load_subtopic_qrels

FORMAT = FORMATS["trec-subtopic-qrels"]
read = FORMAT.read


def written(rows: list[SubtopicRow], **options: bool) -> bytes:
    stream = io.BytesIO()
    assert FORMAT.write is not None
    FORMAT.write(rows, stream, **options)
    return stream.getvalue()


def test_a_document_appears_once_per_subtopic() -> None:
    qrels, report = load_subtopic_qrels(b"# Web Track\nq1 1 d1 0\nq1\t2  d1 2\r\nq1 1 d2 -2\nq1 1 d2 -2\n", "a")
    assert qrels.to_dict() == {"q1": {"d2": -2.0, "d1": 2.0}}
    assert sorted(qrels.rows_by_subtopic()) == [("q1", "1", "d1", 0.0), ("q1", "1", "d2", -2.0), ("q1", "2", "d1", 2.0)]
    assert (qrels.duplicates, report.codes["W33"], report.accepted) == (1, 1, 3)


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        (b"q1 1 d1", "E10", "3 fields instead of 4"),
        (b"q1 1 my doc 1", "E10", "an id cannot contain spaces here"),
        (b"q1 1 d1 high", "E12", "'high' is not a number"),
        (b"q1 1 d1 nan", "E12", "'nan'"),
        (b"q1 1\x01 d1 1", "E19", "the subtopic"),
    ],
)
def test_invalid_line_is_reported_with_its_number(line: bytes, code: str, what: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        load_subtopic_qrels(b"q0 1 d1 1\n" + line + b"\n", "dir/a.qrels")
    assert (caught.value.line, caught.value.code) == (2, code)
    assert str(caught.value).startswith("dir/a.qrels:2: ")
    assert what in str(caught.value)


def test_two_grades_for_one_subtopic_tell_both_lines() -> None:
    with pytest.raises(UnreadableInput) as caught:
        load_subtopic_qrels(b"q1 1 d1 3\nq1 2 d1 1\nq1 1 d1 2\n", "a")
    assert "a:1: 'q1 1 d1 3' contradicts line 3, 'q1 1 d1 2'" in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"\n"])
def test_no_judgments_is_an_error(data: bytes) -> None:
    with pytest.raises(UnreadableInput) as caught:
        load_subtopic_qrels(data)
    assert caught.value.code == "F07"


def test_a_run_is_not_taken_for_labels() -> None:
    with pytest.raises(UnreadableInput, match="nearest format is trec-run"):
        load_subtopic_qrels(b"q1 Q0 d1 1 12.5 bm25\nq1 Q0 d2 2 12.5 bm25\n")


def test_a_scale_is_held_to() -> None:
    result = read(b"q1 1 d1 3.0\nq1 1 d2 4\nq1 1 d3 1.5\n", grades=(0, 1, 2, 3))
    assert [row.grade for row in result.rows] == [3]
    assert dict(result.report.codes) == {"W32": 1, "E14": 1, "E13": 1}


@pytest.mark.parametrize(("pick", "grade"), [("first", 1), ("last", 2), ("min", 0), ("max", 3)])
def test_conflict_is_resolved_by_the_chosen_rule(pick, grade: int) -> None:
    result = read(b"q 1 d 1\nq 1 d 3\nq 1 d 0\nq 1 d 2\nq 2 d 9\n", conflicts=pick)
    assert [row.grade for row in result.rows] == [grade, 9]


def test_sniffing_recognizes_subtopics_by_repeated_documents() -> None:
    assert sniff(b"q1 1 d1 1\nq1 2 d1 0\nq1 1 d2 1\nq1 2 d2 1\n") == "trec-subtopic-qrels"
    assert sniff(b"q1 0 d1 1\nq1 1 d1 0\nq1 0 d2 1\nq1 0 d3 1\n") == "trec-qrels"
    assert sniff(b"q1 1 d1 1\nq1 2 d1 0\nq1 1 d2 1\nq1 2 d2 1\n", kind="qrels") == "trec-qrels"


def test_golden_bytes() -> None:
    rows = [SubtopicRow("q1", "2", "é", 0), SubtopicRow("q1", "10", "z", 3.0), SubtopicRow("q1", "2", "a", -1)]
    assert written(rows).decode() == "q1 10 z 3\nq1 2 a -1\nq1 2 é 0\n"


def test_values_the_format_cannot_store_are_refused_or_encoded() -> None:
    rows = [SubtopicRow("q1", "rain wear", "d1", 1)]
    with pytest.raises(NotValid, match="'rain wear'"):
        written(rows)
    assert written(rows, encode_ids=True) == b"q1 rain%20wear d1 1\n"
    with pytest.raises(NotValid, match=r"2\.5 is not a whole number"):
        written([SubtopicRow("q1", "1", "d1", 2.5)])


IDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=4)


@settings(max_examples=40)
@given(st.dictionaries(st.tuples(IDS, IDS, IDS), st.integers(-2, 3), min_size=1, max_size=8))
def test_round_trip(labels: dict[tuple[str, str, str], int]) -> None:
    rows = [SubtopicRow(*key, grade) for key, grade in sorted(labels.items())]
    data = written(rows)
    assert read(data).rows == rows
    assert sorted(load_subtopic_qrels(data)[0].rows_by_subtopic()) == sorted((*key, g) for key, g in labels.items())
