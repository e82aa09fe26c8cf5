"""Runs in MS MARCO's format: query, document and rank separated by TABs, without header and score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from assay.core.read_report import Tally
from assay.formats.delimited_pairs import checked_ids, checked_numbers, headless_columns
from assay.formats.format import Format
from assay.formats.pair_entries import Absent, Entry, note_ranks_for_scores
from assay.formats.reader import NeedsCare, Read, open_as
from assay.formats.row_types import RunRow
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written, ranked_order, refuse_ids

if TYPE_CHECKING:
    from assay.formats.pair_columns import PairColumns

NAME = "msmarco-run"
EXAMPLE = "q001\tdoc-abc\t1\nq001\tdoc-xyz\t2\nq001\tdoc-mno\t3\n"


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[RunRow]:
    """Read a run and account for every line; the score is minus the rank (W49)."""
    from assay.formats.column_reader import read_in_columns
    from assay.formats.run_layouts import MsMarcoRun

    content, tally = open_as(source, path, NAME, EXAMPLE.partition("\n")[0], encoding=encoding)
    return read_in_columns(content, tally, MsMarcoRun(), empty="results")


def quick(content: Content, tally: Tally) -> Iterator[PairColumns]:
    """Yield the columns of a well-formed file, a piece at a time."""
    from assay.formats.pair_columns import PairColumns

    for before, block in headless_columns(content, tally):
        ranks = checked_numbers(block, 2)
        if (ranks < 0).any() or (ranks % 1).any():
            raise NeedsCare
        lines = block.lines_from(before)
        note_ranks_for_scores(tally, int(lines[0]), len(lines))
        yield PairColumns(checked_ids(block, 0), checked_ids(block, 1), 0.0 - ranks, ranks, lines)


def write(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run, best document first, ranks from 1; the scores are lost."""
    ordered = ranked_order(rows)
    refuse_ids(NAME, ordered.ids(), spaces=False)
    for query_id, doc_id, rank in ordered.values("query_id", "doc_id", "rank"):
        stream.write(f"{query_id}\t{doc_id}\t{rank}\n".encode())
    note = f"{NAME} cannot store scores; only the ranks are written"
    return Written(len(ordered), (note,) if len(ordered) else ())


def entries(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[Entry]:
    """Yield the pairs of numbered lines; other lines are put in their bins here."""
    for line, text in lines:
        tally.read()
        cells = text.split("\t")
        if not text.strip():
            tally.put("blank")
            tally.once("W35", line, "a blank line", done="skipped")
        elif len(cells) != 3:
            what = f"{len(cells)} column{'s' * (len(cells) != 1)} instead of 3"
            tally.reject("E10", line, what, fix="expected query, document and rank with TABs between", raw=text)
        else:
            yield Entry(line, cells[0], cells[1], Absent, cells[2], raw=text)


FORMAT = Format(
    name=NAME,
    title="MS MARCO run, TSV",
    kind="run",
    extensions=(".tsv", ".txt"),
    description="One result per line with a rank but no score, without a header; the score is minus the rank.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
    quick=quick,
)
