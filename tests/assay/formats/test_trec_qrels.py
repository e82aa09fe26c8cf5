"""Tests of TREC qrels: read as trec_eval reads them, conflicts, scale, strict output."""

from __future__ import annotations

import gzip
import io

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import trec_qrels
from assay.formats.row_types import LabelRow
from assay.formats.trec_qrels import load_qrels, load_qrels_report, read

ODD = {
    "tabs": b"q1\t0\td1\t3\n",
    "crlf": b"q1 0 d1 3\r\n",
    "cr": b"q1 0 d1 3\rq1 0 d2 1\r",
    "mark": b"\xef\xbb\xbfq1 0 d1 3\n",
    "blank": b"\nq1 0 d1 3\n\n",
    "comment": b"# made by hand\nq1 0 d1 3\n",
    "leading": b"  q1   0 d1  3  \n",
    "no end": b"q1 0 d1 3",
    "gzip": gzip.compress(b"q1 0 d1 3\n"),
    "surplus": b"q1 0 d1 3 and more\n",
    "duplicate": b"q1 0 d1 3\nq1 Q0 d1 3\n",
    "vertical tab": b"q1\x0b0\x0cd1 3\n",
}


def written(rows: list[LabelRow], **options: object) -> bytes:
    stream = io.BytesIO()
    trec_qrels.write(rows, stream, **options)  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_kind_reading(data: bytes):
    assert load_qrels(data, "a").to_dict()["q1"]["d1"] == 3.0
    assert read(data).rows[0] == LabelRow("q1", "d1", 3.0, read(data).rows[0].origin)


def test_warnings_are_on_the_report():
    _, report = load_qrels_report(b"# c\n\nq1 0 d1 3 x\nq1 0 d1 3\n", "a")
    assert report.codes == {"W33": 1, "W34": 1, "W35": 1, "W45": 1}
    assert report.bins["duplicate"] == 1


def test_grades_may_be_fractions_and_negative():
    assert load_qrels(b"q1 0 d1 0.5\nq1 0 d2 -2\nq1 0 d3 1e-1\n").to_dict() == {"q1": {"d1": 0.5, "d2": -2, "d3": 0.1}}


def test_ids_stay_identical_to_the_byte():
    data = "q1 0 007 1\nq1 0 7 2\nq1 0 my\u00a0doc 1\nq1 0 a#b 1\nq1 0 \u00e9 1\n#q1 0 x 1\n".encode()
    assert list(load_qrels(data).to_dict()["q1"]) == ["007", "7", "my\u00a0doc", "a#b", "\u00e9"]


@pytest.mark.parametrize(
    ("line", "code", "what"),
    [
        (b"q1 0 d1", "E10", "3 fields instead of 4"),
        (b"q1 0 d1 high", "E12", "'high' is not a number"),
        (b"q1 0 d1 nan", "E12", "'nan'"),
        (b"q1 0 d1 inf", "E12", "'inf'"),
        (b"q1 0 d1 1_0", "E12", "'1_0'"),
        (b"q1 0 d1 0x3", "E12", "'0x3'"),
        ("q1 0 d1 \u0663".encode(), "E12", "is not a number"),
        (b"q1 0 d\x01 3", "E19", "control character"),
        (b"q1 0 " + b"d" * 501 + b" 3", "E21", "501 characters"),
    ],
)
def test_invalid_line_is_reported_with_its_number(line: bytes, code: str, what: str):
    with pytest.raises(UnreadableInput) as caught:
        load_qrels(b"q0 0 d1 1\n" + line + b"\n", "dir/a.qrels")
    assert (caught.value.line, caught.value.code) == (2, code)
    assert str(caught.value).startswith("dir/a.qrels:2: ")
    assert what in str(caught.value)


def test_two_grades_for_one_pair_tell_both_lines():
    with pytest.raises(UnreadableInput) as caught:
        load_qrels(b"q1 0 d1 3\nq2 0 d1 1\nq1 0 d1 2\n", "a")
    assert "a:1: 'q1 0 d1 3' contradicts line 3, 'q1 0 d1 2'" in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"\n"])
def test_no_judgments_is_an_error(data: bytes):
    with pytest.raises(UnreadableInput) as caught:
        load_qrels(data)
    assert caught.value.code == "F07"


def test_a_run_is_not_taken_for_qrels():
    with pytest.raises(UnreadableInput, match="nearest format is trec-run"):
        load_qrels(b"q1 Q0 d1 1 12.5 bm25\n")


@pytest.mark.parametrize(
    ("line", "code"),
    [(b"q1 0 d1 2.5", "E13"), (b"q1 0 d1 4", "E14"), (b"q1 0 d1 -1", "E14"), (b"q1 0 my doc 3", "E10")],
)
def test_an_import_holds_to_the_scale(line: bytes, code: str):
    result = read(line + b"\n", grades=(0, 1, 2, 3))
    assert (result.rows, list(result.report.codes)) == ([], [code])
    assert result.report.errors[0].raw == line.decode()


def test_a_whole_grade_with_a_point_is_repaired_on_a_scale():
    report = read(b"q1 0 d1 3.0\n", grades=(0, 1, 2, 3)).report
    assert (report.bins["repaired"], report.codes, report.histogram) == (1, {"W32": 1}, {"3": 1})


@pytest.mark.parametrize(("pick", "grade"), [("first", 1), ("last", 2), ("min", 0), ("max", 3)])
def test_conflict_is_resolved_by_the_chosen_rule(pick, grade: int):
    result = read(b"q1 0 d 1\nq1 0 d 3\nq1 0 d 0\nq1 0 d 2\n", conflicts=pick)
    assert [row.grade for row in result.rows] == [grade]
    assert (result.report.ok, result.report.accepted, result.report.bins["conflict"]) == (True, 1, 3)


def test_unresolved_conflict_excludes_all_its_rows():
    result = read(b"q1 0 d 1\nq1 0 d 3\nq1 0 d 1\nq1 0 e 1\n")
    assert [row.doc_id for row in result.rows] == ["e"]
    assert result.report.bins["conflict"] + result.report.bins["duplicate"] == 3


def test_golden_bytes():
    rows = [LabelRow("q2", "d1", 1), LabelRow("q1", "é", 0), LabelRow("q1", "z", 3.0, "1"), LabelRow("q1", "x", None)]
    assert written(rows).decode() == "q1 1 z 3\nq1 0 é 0\nq2 0 d1 1\n"
    assert written([]) == b""
    assert written(rows[:1], origin="2") == b"q2 2 d1 1\n"


def test_queries_and_documents_are_ordered_by_bytes():
    rows = [LabelRow("q1", text, 1) for text in ["é", "a", "Z", "9", "10"]]
    assert [line.split()[2].decode() for line in written(rows).splitlines()] == ["10", "9", "Z", "a", "é"]


def test_an_id_with_a_space_is_refused_or_encoded():
    rows = [LabelRow("q1", "my doc", 1), LabelRow("q1", "50%", 0)]
    with pytest.raises(NotValid, match="'my doc'"):
        written(rows)
    stream = io.BytesIO()
    done = trec_qrels.write(rows, stream, encode_ids=True)
    assert stream.getvalue() == b"q1 0 50%25 0\nq1 0 my%20doc 1\n"
    assert done.idmap == {"my doc": "my%20doc", "50%": "50%25"}


def test_a_fraction_is_no_label():
    with pytest.raises(NotValid, match=r"2\.5 is not a whole number"):
        written([LabelRow("q1", "d1", 2.5)])


IDS = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6).filter(lambda s: s[0] != "#")
LABELS = st.dictionaries(st.tuples(IDS, IDS), st.integers(0, 3), max_size=8)


@given(LABELS)
def test_round_trip_and_consumers(labels: dict[tuple[str, str], int]):
    rows = [LabelRow(query_id, doc_id, grade) for (query_id, doc_id), grade in sorted(labels.items())]
    data = written(rows)
    strict = {}
    for line in data.decode().split("\n")[:-1]:
        query_id, _, doc_id, grade = line.split(" ")
        strict[query_id, doc_id] = int(grade)
    assert strict == labels
    if rows:
        assert read(data).rows == rows
        assert load_qrels(data) == load_qrels(b"#\n" + data)


def test_pytrec_eval_takes_what_is_written():
    data = written([LabelRow("q1", "d1", 3), LabelRow("q1", "d2", 0)])
    assert pytrec_eval.parse_qrel(io.StringIO(data.decode())) == {"q1": {"d1": 3, "d2": 0}}


@given(st.lists(st.sampled_from(["q1 0 d1 1", "q1 0 d1 2", "q2 0 d1 1", "", "# c", "q1 0 d1", "q1\t0 d2 3 x"])))
def test_careful_and_quick_reading_agree(parts: list[str]):
    data = ("\n".join(["q0 0 d0 0", *parts]) + "\n").encode()
    result = read(data)
    if not result.report.ok:
        with pytest.raises(UnreadableInput) as caught:
            load_qrels(data)
        assert caught.value.line == result.report.errors[0].line
        return
    table = load_qrels(data)
    assert {(query_id, doc_id, grade) for query_id, doc_id, grade in table.rows()} == {
        (row.query_id, row.doc_id, row.grade) for row in result.rows
    }
