"""TREC runs: ``query Q0 document rank score tag``.

Scores decide the order; the rank column is only compared with them. Reading is as tolerant as for qrels. Written scores
decrease strictly, so that readers cannot break ties differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.reader import note_unusual, reader
from assay.formats.text_lines import Content
from assay.formats.trec_lines import number, rank_of, records

if TYPE_CHECKING:
    from assay.formats.grade_cells import Keyed
    from assay.formats.row_types import RunRow
    from assay.formats.writer import Written

NAME = "trec-run"
EXAMPLE = "q001 Q0 doc-abc 1 12.5 bm25\nq001 Q0 doc-xyz 2 11.25 bm25\n"
LINE = "q001 Q0 doc-abc 1 12.5 bm25"


def _read(content: Content, tally: Tally) -> Sequence[RunRow]:
    from assay.formats.column_reader import rows_in_columns
    from assay.formats.pair_layouts import TrecRun

    return rows_in_columns(content, tally, TrecRun())


def parse_lines(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[RunRow]:
    """Yield the rows of numbered lines; every line is counted in one bin."""
    # Modules that only individually read lines need are not imported for a well-formed file.
    from assay.formats.grade_cells import Keyed

    by_key: Keyed[RunRow] = Keyed(tally, twice_is_conflict=True)
    for line, text, parts in records(lines, tally):
        add_line(parts, line, text, tally, by_key)
    yield from by_key.rows()


def write(rows: Iterable[RunRow], stream: BinaryIO, *, tag: str | None = None, encode_ids: bool = False) -> Written:
    """Write a run: ranks from 1 without gaps, and scores that decrease strictly within a query."""
    from assay.formats.writer import Written, ranked_order, written_ids

    ordered = ranked_order(rows)
    encoded = written_ids(NAME, ordered.ids(), encode_ids)
    notes = []
    values = ordered.values("query_id", "doc_id", "score", "tag")
    names: dict[str, str] = {}
    for query_id, grouped in groupby(values, key=itemgetter(0)):
        results = list(grouped)
        scores, replaced = _falling([score for _, _, score, _ in results])
        if replaced:
            notes.append(f"query {query_id!r}: tied scores were replaced by depth - rank + 1")
        query = encoded.get(query_id, query_id)
        for rank, ((_, doc_id, _, own), score) in enumerate(zip(results, scores, strict=True), 1):
            name = names.get(own) or names.setdefault(own, "-".join((tag or own or "run").split()))
            stream.write(f"{query} Q0 {encoded.get(doc_id, doc_id)} {rank} {score} {name}\n".encode())
    return Written(len(ordered), tuple(notes), encoded)


def _falling(scores: Sequence[float]) -> tuple[list[str], bool]:
    if all(high > low for high, low in pairwise(scores)):
        return [repr(float(score)) for score in scores], False
    return [str(len(scores) - place) for place in range(len(scores))], True


def add_line(parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[RunRow]) -> None:
    """Add the result of one line if it is valid."""
    # Well-formed files never reach this code; importing the rows of all formats would take longer than reading them.
    from assay.formats.grade_cells import checked_id
    from assay.formats.row_types import RunRow

    with tally.rejecting(line, raw=raw):
        if len(parts) < 6:
            fix = f"expected query, Q0, document, rank, score, tag, such as {LINE!r}"
            raise RowFault("E10", f"{len(parts)} field{'s' * (len(parts) != 1)} instead of 6", fix)
        checked_id(parts[0], "query id", spaces=False)
        checked_id(parts[2], spaces=False)
        score = number(parts[4], infinite=True)
        if score is None:
            fix = "expected a number such as 12.5 in field 5"
            raise RowFault("E12", f"the score {parts[4]!r} is not a number", fix)
        if score in (float("inf"), float("-inf")):
            tally.once("W44", line, "an infinite score", done="accepted; the document sorts first or last")
        if len(parts) > 6:
            note_surplus(tally, line, len(parts), 1)
        note_unusual(tally, line, parts[0], parts[2])
        row = RunRow(parts[0], parts[2], score or 0.0, rank_of(parts[3]), " ".join(parts[5:]), line)
        by_key.add((parts[0], parts[2]), score, row, line, raw)


def note_surplus(tally: Tally, line: int, width: int, rows: int) -> None:
    tally.once("W45", line, f"{width} fields instead of 6", done="the extra fields are added to the tag", times=rows)


read = reader(NAME, LINE, _read, empty="results")

FORMAT = Format(
    name=NAME,
    title="TREC run",
    tool="TREC",
    kind="run",
    extensions=(".run", ".txt"),
    description="One result per line with its score, as trec_eval and similar tools read it.",
    read=read,
    write=write,
    example=EXAMPLE,
)
