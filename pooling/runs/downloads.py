"""Export of runs as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from django.core.files.storage import default_storage
from django.utils.text import slugify

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotFound
from pooling.models import Run
from pooling.runs import runs

if TYPE_CHECKING:
    from assay.formats.trec_run import RunRows

BLOCK = 20_000
# Formats with their file extensions.
FILES = {"trec-run": "run", "run-csv": "csv", "run-parquet": "parquet"}

Write = Callable[[str, str, int, float], str]


def filename(run: Run, format: str) -> str:
    """Return the name of a downloaded run in one of ``FILES``."""
    if format not in FILES:
        raise NotFound(f"Unknown run format {format}. Available formats: {', '.join(FILES)}.")
    return f"{slugify(run.name) or 'run'}.{FILES[format]}"


def export(run: Run, format: str) -> tuple[str, Iterator[bytes]]:
    """Return a run in one of ``FILES``: the file's name, and its content block by block."""
    name = filename(run, format)
    if format == "run-parquet":
        return name, iter([_parquet(run)])
    rows = runs.opened(run).rows()
    if format == "run-csv":
        return name, _blocks(rows, csv_row(["query_id", "doc_id", "rank", "score"]), _record)
    from assay.formats.writer import refuse_ids

    refuse_ids(format, {*rows.query_ids, *rows.doc_ids})
    tag = "-".join(run.name.split())
    return name, _blocks(rows, "", lambda query, doc, rank, score: f"{query} Q0 {doc} {rank} {score!r} {tag}\n")


def _record(query_id: str, doc_id: str, rank: int, score: float) -> str:
    return csv_row([escape(query_id), escape(doc_id), str(rank), repr(score)])


def _blocks(rows: RunRows, heading: str, write: Write) -> Iterator[bytes]:
    from assay.core.text_column import grouped
    from assay.formats.stored_run import stored_order

    groups = grouped(rows.query_ids)
    order, ranks = stored_order(rows), rows.ranks_within(groups)
    if np.isinf(ranks).any() or not ranks.any():
        ranks = np.empty(len(order))
        ranks[order] = np.arange(len(order)) - np.repeat(groups.offsets[:-1], np.diff(groups.offsets)) + 1
    yield heading.encode()
    for start in range(0, len(order), BLOCK):
        part = order[start : start + BLOCK]
        columns = (rows.query_ids.take(part), rows.doc_ids.take(part), ranks[part].astype(np.int64), rows.scores[part])
        yield "".join(map(write, *(column.tolist() for column in columns))).encode("utf-8", "surrogatepass")


def _parquet(run: Run) -> bytes:
    """Return the stored file, converted to Parquet if it has another format."""
    file = runs.opened(run)
    if run.stored_sha256:
        with default_storage.open(run.path) as stored_file:
            return stored_file.read()
    from assay.formats.row_types import RunRow
    from assay.formats.stored_run import write_stored

    stored = file.rows()
    columns = (stored.query_ids, stored.doc_ids, stored.scores.tolist(), stored.ranks.astype(int).tolist())
    rows = [RunRow(query, doc, score, rank or None) for query, doc, score, rank in zip(*columns, strict=True)]
    return write_stored(rows)[0]
