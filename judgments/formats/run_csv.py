"""How does a run stand in a CSV or TSV file with a header?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

from judgments.core.cells import csv_row, escape
from judgments.core.report import Tally
from judgments.formats.column_names import RESULT_COLUMNS, SILENT
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.delimited import Columns
from judgments.formats.entries import results
from judgments.formats.pair_tables import table_columns, table_entries
from judgments.formats.reading import Read, collect, open_as
from judgments.formats.rows import RunRow
from judgments.formats.writing import Written, ranked_order, refuse_ids, tags_left_out

NAME = "run-csv"
EXAMPLE = "query_id,doc_id,rank,score\nq001,doc-abc,1,12.5\nq001,doc-xyz,2,11.25\n"
COLUMNS = Columns(RESULT_COLUMNS, ("query_id", "doc_id"), numeric=frozenset({"score", "rank"}), silent=SILENT)


def read(
    source: Source,
    *,
    path: str = "-",
    columns: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Read[RunRow]:
    """Read a run and account for every record. Where there is no score, minus the rank is the score (W49).

    Parameters
    ----------
    source, path, encoding
        As for ``run-json``.
    columns : dict of str to str, optional
        Which column of the file is which: ``{"doc_id": "sku"}``.
    delimiter : str, optional
        By default what the header shows: ``,``, ``;`` or TAB.

    Raises
    ------
    UnreadableInput
        When the whole file is refused; F04 when a column is missing.
    """

    def parse(content: Content, tally: Tally) -> Iterator[RunRow]:
        entries = table_entries(content, tally, COLUMNS, "score", mapping=columns, delimiter=delimiter)
        return results(entries, tally)

    return collect(*open_as(source, path, NAME, "query_id,doc_id,score", encoding=encoding), parse, empty="results")


def write(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run, best document first, ranks from 1.

    Raises
    ------
    NotValid
        When an id cannot be written.
    """
    ordered = ranked_order(rows)
    refuse_ids(NAME, (text for row, _ in ordered for text in (row.query_id, row.doc_id)), spaces=True)
    stream.write(b"query_id,doc_id,rank,score\n")
    for row, rank in ordered:
        stream.write(csv_row([escape(row.query_id), escape(row.doc_id), str(rank), repr(float(row.score))]).encode())
    return Written(len(ordered), tags_left_out(NAME, ordered))


FORMAT = Format(
    name=NAME,
    title="Run, CSV",
    kind="run",
    extensions=(".csv", ".tsv"),
    description="One result a record under a header: query_id, doc_id, and score, rank or both.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={
        "columns": "which column of the file is which, such as doc_id=sku",
        "delimiter": "comma, semicolon or TAB; by default what the header shows",
        "encoding": "latin-1 for old files",
    },
    quick=partial(table_columns, columns=COLUMNS, value="score"),
)
