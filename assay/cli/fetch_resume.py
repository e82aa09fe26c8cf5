"""Resume an interrupted fetch: read the run and documents already written, so that only the rest is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from assay.cli.files import STDIN
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgments.formats.rows import DocumentRow, RunRow


@dataclass(frozen=True)
class Left:
    """The rows of the run and the documents, by the ids that the engine gave them."""

    rows: tuple[RunRow, ...] = ()
    documents: tuple[DocumentRow, ...] = ()

    @property
    def answered(self) -> set[str]:
        """The queries that need not be asked: an answer is written whole or not at all."""
        return {row.query_id for row in self.rows}


def left_by(out: str | None, documents_out: str | None, *, name: str, depth: int, queries: Iterable[str]) -> Left:
    """Read what an earlier fetch wrote; nothing where it wrote nothing.

    Parameters
    ----------
    out, documents_out : str or None
        The files, as given.
    name : str
        What the run is called: another name in the file is another system's.
    depth : int
        How many documents of a query are asked for now.
    queries : iterable of str
        The ids of the queries that are asked.

    Raises
    ------
    NotValid
        No file to go on with is named, or it is not the beginning of what is asked for.
    """
    if out in (None, STDIN):
        raise NotValid("--resume goes on with the file that --out names; name it")
    assert out is not None  # noqa: S101 (told to mypy)
    if not Path(out).exists():
        return Left()
    rows = _rows(out)
    _check(out, rows, name, depth, set(queries))
    there = documents_out and Path(documents_out).exists()
    if documents_out and not there:
        raise NotValid(f"{documents_out}: is not there, though {out} is; without it the documents so far are lost")
    return Left(rows, _documents(str(documents_out)) if there else ())


def _check(out: str, rows: tuple[RunRow, ...], name: str, depth: int, queries: set[str]) -> None:
    deep: dict[str, int] = {}
    for row in rows:
        deep[row.query_id] = deep.get(row.query_id, 0) + 1
    if others := {row.tag for row in rows} - {"-".join(name.split())}:
        raise NotValid(f"{out}: is the run {min(others)}, not {name}; give each a file of its own")
    if odd := deep.keys() - queries:
        raise NotValid(f"{out}: answers {min(odd)}, which is none of the queries; take the file that it was made from")
    if max(deep.values(), default=0) > depth:
        raise NotValid(f"{out}: is {max(deep.values())} deep, more than --depth {depth}; go on with the depth it had")


def _rows(path: str) -> tuple[RunRow, ...]:
    from judgments.formats import trec_run

    read = trec_run.read(Path(path), path=path)
    read.report.raise_if_errors()
    return tuple(replace(row, query_id=unquote(row.query_id), doc_id=unquote(row.doc_id)) for row in read.rows)


def _documents(path: str) -> tuple[DocumentRow, ...]:
    from judgments.formats import documents_jsonl

    read = documents_jsonl.read(Path(path), path=path)
    read.report.raise_if_errors()
    return tuple(replace(row, doc_id=unquote(row.doc_id)) for row in read.rows)
