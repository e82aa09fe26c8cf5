"""Labels and runs as the bytes of a file, for tests of what is read from it."""

from __future__ import annotations

import io
from typing import Any

import polars

from assay.formats import FORMATS
from assay.formats.row_types import LabelRow, RunRow

PAIR = {"q_id": ["q1", "q1"], "doc_id": ["d1", "d2"]}


def parquet(**columns: Any) -> bytes:
    stream = io.BytesIO()
    polars.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def written(name: str, rows: list[Any]) -> bytes:
    stream = io.BytesIO()
    member = FORMATS[name]
    assert member.write is not None
    member.write(rows, stream)
    return stream.getvalue()


def run_rows(scores: dict[str, dict[str, float]]) -> list[RunRow]:
    return [RunRow(query_id, doc_id, score) for query_id, of in scores.items() for doc_id, score in of.items()]


def label_rows(grades: dict[str, dict[str, int]]) -> list[LabelRow]:
    return [LabelRow(query_id, doc_id, grade) for query_id, of in grades.items() for doc_id, grade in of.items()]
