"""Tests of TREC run files: trec_eval order, bad lines, ties, output that other tools order alike."""

from __future__ import annotations

import io
import random

import pytest
import pytrec_eval

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import trec_run
from assay.formats.row_types import RunRow
from assay.formats.trec_qrels import load_qrels
from assay.formats.trec_run import load_run, load_run_report, read


def written(rows: list[RunRow], **options: object) -> bytes:
    stream = io.BytesIO()
    trec_run.write(rows, stream, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def test_order_is_by_score_then_document():
    run = load_run(b"q1 Q0 d1 1 9.1 bm25\nq1 Q0 d2 2 8.7 bm25\nq1 Q0 d3 3 8.7 bm25\n", "a", "bm25")
    assert (run.name, run.ranking("q1")) == ("bm25", ["d1", "d3", "d2"])


@pytest.mark.parametrize(
    "data",
    [
        b"q1\tQ0\td1\t1\t2.5\tx\n",
        b"\xef\xbb\xbfq1 Q0 d1 1 2.5 x\r\n",
        b"\n# c\nq1 Q0 d1 1 2.5 x",
        b"q1 Q0 d1 1 2.5 a tag with spaces\n",
        b"q1 Q0 d1 1 2.5e0 x\n",
        b"q1 Q0 d1 first 2.5 x\n",
    ],
)
def test_kind_reading(data: bytes):
    assert load_run(data).to_dict() == {"q1": {"d1": 2.5}}


def test_infinite_scores_and_surplus_fields_are_counted():
    run, report = load_run_report(b"q1 Q0 d1 1 inf x y\nq1 Q0 d2 2 -Infinity x\n", "a")
    assert run.ranking("q1") == ["d1", "d2"]
    assert report.codes == {"W44": 2, "W45": 1}


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\n", {}),
        (b"q1 Q0 d1 2 2.5 x\nq1 Q0 d2 1 1.5 x\n", {"W40": 1}),
        (b"q1 Q0 d1 0 2.5 x\nq1 Q0 d2 1 1.5 x\n", {}),
        (b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 0 1.5 x\n", {"W40": 1}),
        (b"q1 Q0 d2 2 1.5 x\nq1 Q0 d1 1 2.5 x\n", {}),
        (b"q1 Q0 d1 2 2.5 x\nq1 Q0 d2 1 2.5 x\n", {}),
    ],
    ids=["agrees", "contradicts", "from zero", "contradicts from zero", "lines in another order", "a tie in any order"],
)
def test_ranks_are_compared_with_scores(data: bytes, codes: dict[str, int]):
    assert load_run_report(data, "a")[1].codes == codes


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"q1 Q0 d1 1 2.5", "E10"),
        (b"q1 Q0 d1 1 two x", "E12"),
        (b"q1 Q0 d1 1 NaN x", "E12"),
        (b"q1 Q0 d1 1 1_0 x", "E12"),
        (b"q1 Q0 d\x02 1 1 x", "E19"),
    ],
)
def test_invalid_line_is_reported_with_its_number(line: bytes, code: str):
    with pytest.raises(UnreadableInput) as caught:
        load_run(b"q0 Q0 d1 1 1 x\n" + line + b"\n", "a.run")
    assert (caught.value.line, caught.value.code) == (2, code)
    assert str(caught.value).startswith("a.run:2: ")


@pytest.mark.parametrize("score", ["2.5", "1.5"])
def test_a_document_twice_tells_both_lines(score: str):
    data = f"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 2 x\nq1 Q0 d1 3 {score} x\n".encode()
    with pytest.raises(UnreadableInput) as caught:
        load_run(data, "a")
    assert f"'q1 Q0 d1 1 2.5 x' contradicts line 3, 'q1 Q0 d1 3 {score} x'" in str(caught.value)


def test_qrels_are_not_taken_for_a_run():
    with pytest.raises(UnreadableInput, match="4 fields instead of 6"):
        load_run(b"q1 0 d1 3\n")


def test_golden_bytes():
    rows = [RunRow("q2", "d1", 1e-5), RunRow("q1", "d1", 12.5), RunRow("q1", "d2", 11.25)]
    assert written(rows, tag="my tag") == (
        b"q1 Q0 d1 1 12.5 my-tag\nq1 Q0 d2 2 11.25 my-tag\nq2 Q0 d1 1 1e-05 my-tag\n"
    )
    assert written([]) == b""


def test_ties_are_written_as_falling_scores():
    stream = io.BytesIO()
    done = trec_run.write([RunRow("q1", "d1", 1.0), RunRow("q1", "d2", 1.0)], stream, tag="x")
    assert stream.getvalue() == b"q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\n"
    assert done.notes == ("query 'q1': tied scores were replaced by depth - rank + 1",)


def test_an_id_with_a_space_is_refused_or_encoded():
    rows = [RunRow("q1", "my doc", 1.0)]
    with pytest.raises(NotValid, match="'my doc'"):
        written(rows)
    assert written(rows, encode_ids=True) == b"q1 Q0 my%20doc 1 1.0 run\n"


def test_pytrec_eval_takes_what_is_written():
    data = written([RunRow("q1", "d1", 2.0), RunRow("q1", "d2", 1.0)], tag="x")
    assert pytrec_eval.parse_run(io.StringIO(data.decode())) == {"q1": {"d1": 2.0, "d2": 1.0}}


def test_order_of_lines_does_not_matter():
    lines = [f"q{i % 7} Q0 d{i} {i // 7 + 1} {(i * 37) % 11} x\n" for i in range(200)]
    table = load_run("".join(lines).encode())
    random.Random(3).shuffle(lines)
    assert load_run("".join(lines).encode()) == table


def test_round_trip():
    rows = [RunRow("q1", "d1", 2.0), RunRow("q1", "é", 1.5), RunRow("q2", "d1", -1.0)]
    assert read(written(rows)).rows == rows


class Large(io.RawIOBase):
    """A file of 200 MB that notes how much of it was wanted."""

    def __init__(self, line: bytes) -> None:
        self.line, self.given = line, 0

    def read(self, size: int = -1) -> bytes:
        wanted = min(size, 200_000_000 - self.given)
        self.given += wanted
        return (self.line * (wanted // len(self.line) + 1))[:wanted]


@pytest.mark.parametrize("load", [load_run, load_qrels])
@pytest.mark.parametrize("line", [b"lorem ipsum dolor\n", b"{}\n", b"\xff\xfe\0"])
def test_a_wrong_file_of_200_mb_is_not_held(load, line: bytes):
    source = Large(line)
    with pytest.raises(UnreadableInput):
        load(source, "a")
    assert source.given <= 4 << 20


def test_the_nearest_format_is_named():
    message = "a:1: this does not look like trec-run: 4 fields instead of 6.*nearest format is trec-qrels"
    with pytest.raises(UnreadableInput, match=message):
        load_run(b"q1 0 d1 3\n", "a")
