"""Resume an interrupted fetch: read the run and documents already written, so that only the rest is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from assay.cli.inputs.files import STDIN
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.formats.row_types import DocumentRow, RunRow


@dataclass(frozen=True)
class EarlierFetch:
    """The rows of the run and the documents, with the ids of the engine."""

    rows: tuple[RunRow, ...] = ()
    documents: tuple[DocumentRow, ...] = ()

    @property
    def answered(self) -> set[str]:
        """The queries with an answer; an answer is written completely or not at all."""
        return {row.query_id for row in self.rows}


def read_earlier_fetch(
    out: str | None, documents_out: str | None, *, name: str, depth: int, queries: Iterable[str]
) -> EarlierFetch:
    """Return the results of an earlier fetch; empty if it wrote nothing."""
    if out in (None, STDIN):
        raise NotValid("--resume needs --out FILE with the file to complete")
    assert out is not None  # noqa: S101 (for mypy)
    if not Path(out).exists():
        return EarlierFetch()
    rows = _rows(out)
    _check(out, rows, name, depth, set(queries))
    there = documents_out and Path(documents_out).exists()
    if documents_out and not there:
        raise NotValid(
            f"{documents_out}: does not exist, although {out} does, so the documents fetched so far would be "
            "missing. Name the file that the interrupted fetch wrote"
        )
    return EarlierFetch(rows, _documents(str(documents_out)) if there else ())


def _check(out: str, rows: tuple[RunRow, ...], name: str, depth: int, queries: set[str]) -> None:
    deep: dict[str, int] = {}
    for row in rows:
        deep[row.query_id] = deep.get(row.query_id, 0) + 1
    if others := {row.tag for row in rows} - {"-".join(name.split())}:
        raise NotValid(f"{out}: contains the run {min(others)}, not {name}; write each run to a separate file")
    if odd := deep.keys() - queries:
        raise NotValid(f"{out}: contains the query {min(odd)}, which is not in QUERIES; use the queries of that run")
    if max(deep.values(), default=0) > depth:
        raise NotValid(
            f"{out}: has {max(deep.values())} documents for a query, more than --depth {depth}; use the depth of "
            "that run"
        )


def _rows(path: str) -> tuple[RunRow, ...]:
    from assay.formats import trec_run

    read = trec_run.read(Path(path), path=path)
    read.report.raise_if_errors()
    return tuple(replace(row, query_id=unquote(row.query_id), doc_id=unquote(row.doc_id)) for row in read.rows)


def _documents(path: str) -> tuple[DocumentRow, ...]:
    from assay.formats import FORMATS

    read = FORMATS["documents-jsonl"].read(Path(path), path=path)
    read.report.raise_if_errors()
    return tuple(replace(row, doc_id=unquote(row.doc_id)) for row in read.rows)
