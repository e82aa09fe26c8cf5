"""Export of runs as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from django.utils.text import slugify

from judgments import storage
from judgments.core.cells import csv_row, escape
from judgments.core.errors import NotFound
from pooling import runs
from pooling.models import Run

if TYPE_CHECKING:
    from judgments.formats.run_rows import RunRows

BLOCK = 20_000
# Each format with the ending of its files.
FILES = {"trec-run": "run", "run-csv": "csv", "run-parquet": "parquet"}

Write = Callable[[str, str, int, float], str]


def filename(run: Run, format: str) -> str:
    """What a run is called when it is downloaded in one of ``FILES``."""
    return f"{slugify(run.name) or 'run'}.{FILES[format]}"


def export(run: Run, format: str) -> tuple[str, Iterator[bytes]]:
    """A run in one of ``FILES``: the file's name, and its content block by block.

    Scores are the numbers that came. Ranks are the system's own where every row has one, else the places in
    trec_eval's order, in which the rows stand.

    Raises
    ------
    NotFound
        There is no such format.
    NotValid
        An id has white space in it, which a TREC run cannot carry.
    """
    if format not in FILES:
        raise NotFound(f"Runs are not written as {format}. Known: {', '.join(FILES)}.")
    name = filename(run, format)
    if format == "run-parquet":
        return name, iter([_parquet(run)])
    rows = runs.opened(run).rows()
    if format == "run-csv":
        return name, _blocks(rows, csv_row(["query_id", "doc_id", "rank", "score"]), _record)
    from judgments.formats.writing import refuse_ids

    refuse_ids(format, {*rows.query_ids, *rows.doc_ids})
    tag = "-".join(run.name.split())
    return name, _blocks(rows, "", lambda query, doc, rank, score: f"{query} Q0 {doc} {rank} {score!r} {tag}\n")


def _record(query_id: str, doc_id: str, rank: int, score: float) -> str:
    return csv_row([escape(query_id), escape(doc_id), str(rank), repr(score)])


def _blocks(rows: RunRows, heading: str, write: Write) -> Iterator[bytes]:
    from judgments.core.grouping import grouped
    from judgments.formats.stored_run import stored_order

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
    """The file as it lies in storage; of a run that was stored otherwise one like it."""
    file = runs.opened(run)
    if run.stored_sha256:
        return storage.read_bytes(run.path)
    from judgments.formats.rows import RunRow
    from judgments.formats.stored_run import write_stored

    found = file.rows()
    columns = (found.query_ids, found.doc_ids, found.scores.tolist(), found.ranks.astype(int).tolist())
    rows = [RunRow(query, doc, score, rank or None) for query, doc, score, rank in zip(*columns, strict=True)]
    return write_stored(rows)[0]
