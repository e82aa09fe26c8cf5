"""Tests of rows of BEIR and MTEB: corpus, queries and qrels as JSONL and Parquet."""

from __future__ import annotations

import datetime
import io
from typing import Any

import polars
import pytest

from assay.formats import FORMATS, sniff
from assay.formats.row_types import DocumentRow, LabelRow, QueryRow

pytestmark = pytest.mark.usefixtures("decoded_here")
DOCUMENTS = [
    DocumentRow("d2", "Rope", "Thin, =cmd", fields={"price": 9, "tags": ["a"]}),
    DocumentRow("d 1", "", 'A "tent"\té😀', url="https://shop.example/1"),
]
QUERIES = [QueryRow("q2", "=tent, dome"), QueryRow("q1", "rope", "To climb", language="de")]
LABELS = [LabelRow("q1", "d2", 2.0), LabelRow("q1", "d 1", 0.0)]


def written(name: str, rows: list[Any], **options: Any) -> bytes:
    stream, write = io.BytesIO(), FORMATS[name].write
    assert write is not None
    write(rows, stream, **options)
    return stream.getvalue()


def rows(name: str, data: bytes) -> list[Any]:
    result = FORMATS[name].read(data, path="a")
    assert (result.report.ok, set(result.report.codes) <= {"W47"}) == (True, True)
    return list(result.rows)


def test_bytes_that_beir_reads() -> None:
    assert written("documents-jsonl", DOCUMENTS, beir=True).decode() == (
        '{"_id": "d 1", "title": "", "text": "A \\"tent\\"\\té😀", "metadata": {"url": "https://shop.example/1"}}\n'
        '{"_id": "d2", "title": "Rope", "text": "Thin, =cmd", "metadata": {"price": 9, "tags": ["a"]}}\n'
    )
    assert written("queries-jsonl", QUERIES, beir=True).decode() == (
        '{"_id": "q1", "text": "rope", "narrative": "To climb", "language": "de"}\n'
        '{"_id": "q2", "text": "=tent, dome"}\n'
    )
    assert written("qrels-jsonl", LABELS, beir=True).decode() == (
        '{"query-id": "q1", "corpus-id": "d 1", "score": 0}\n{"query-id": "q1", "corpus-id": "d2", "score": 2}\n'
    )


@pytest.mark.parametrize(
    ("name", "given"), [("documents-jsonl", DOCUMENTS), ("queries-jsonl", QUERIES), ("qrels-jsonl", LABELS)]
)
def test_writing_reading_and_writing_gives_the_same_bytes(name: str, given: list[Any]) -> None:
    first = written(name, given, beir=True)
    assert written(name, rows(name, first), beir=True) == first


@pytest.mark.parametrize(("kind", "given"), [("documents", DOCUMENTS), ("queries", QUERIES)])
def test_parquet_keeps_every_value(kind: str, given: list[Any]) -> None:
    name = f"{kind}-parquet"
    data = written(name, given)
    assert sniff(data, kind) == name
    assert rows(name, data) == sorted(given, key=lambda row: getattr(row, "doc_id", "") or row.query_id)
    assert written(name, rows(name, data)) == data
    assert "_id" in polars.read_parquet(data).columns
    assert "text" in polars.read_parquet(written(name, [])).columns


def test_names_of_mteb_in_parquet() -> None:
    frame = polars.read_parquet(written("qrels-parquet", LABELS, beir=True))
    assert frame.rows() == [("q1", "d 1", 0), ("q1", "d2", 2)]
    assert frame.columns == ["query-id", "corpus-id", "score"]


def frame(**columns: Any) -> bytes:
    stream = io.BytesIO()
    polars.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def test_rows_as_newer_versions_of_mteb_write_them() -> None:
    day = datetime.date(2026, 3, 2)
    documents = FORMATS["documents-parquet"].read(
        frame(id=["1", "2"], title=["a", None], text=["b", "c"], day=[day, day]), path="a"
    )
    assert [(row.doc_id, row.title, row.text, row.fields) for row in documents.rows] == [
        ("1", "a", "b", {"day": "2026-03-02"}),
        ("2", "", "c", {"day": "2026-03-02"}),
    ]
    queries = FORMATS["queries-parquet"].read(frame(id=[7, 8], text=["tent", ""]), path="a")
    assert [(row.query_id, row.query) for row in queries.rows] == [("7", "tent")]
    assert [(problem.code, problem.line) for problem in queries.report.errors] == [("E11", 2)]
