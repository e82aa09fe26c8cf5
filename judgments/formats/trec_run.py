"""How does a run stand in a TREC file: ``query Q0 document rank score tag``?

Scores decide the order, the rank column is only compared with them. Read as kindly as qrels; written with scores that
fall strictly, so that no reader breaks a tie in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from sys import float_info
from typing import TYPE_CHECKING, BinaryIO

from judgments.core.ids import id_fault
from judgments.core.report import Report, Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source, numbered_lines, plain_lines
from judgments.formats.grades import Fault, Keyed
from judgments.formats.reading import Read, collect, finish, note_unusual, open_as, refuse_early
from judgments.formats.rows import RunRow
from judgments.formats.trec_fields import number, records
from judgments.formats.writing import Written, id_encoder, refuse_ids

if TYPE_CHECKING:
    from judgments.core.run import Run

NAME = "trec-run"
EXAMPLE = "q001 Q0 doc-abc 1 12.5 bm25\nq001 Q0 doc-xyz 2 11.25 bm25\n"
_LINE = "q001 Q0 doc-abc 1 12.5 bm25"


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[RunRow]:
    """Read a run and account for every line.

    Parameters
    ----------
    source : path, bytes or binary stream
        The file; ``Path("-")`` is standard input.
    path : str
        The file as the user named it.
    encoding : str
        ``latin-1`` where the user says so.

    Raises
    ------
    UnreadableInput
        When the whole file is refused.
    """

    def parse(content: Content, tally: Tally) -> Iterator[RunRow]:
        return parse_lines(content.lines(), tally)

    return collect(*open_as(source, path, NAME, _LINE, encoding=encoding), parse, empty="results")


def load_run(source: Source, path: str = "-", name: str = "run") -> Run:
    """Return the run of a file, strictly: an odd line ends it.

    Raises
    ------
    UnreadableInput
        With file and line, for too few fields, a score that is a word or NaN, or a document that stands twice in a
        query (both lines are told). Infinite scores and surplus fields are fine.
    """
    return load_run_report(source, path, name)[0]


def load_run_report(source: Source, path: str = "-", name: str = "run") -> tuple[Run, Report]:
    """Return the run of a file as `load_run` does, and the report with its hash and warnings."""
    from judgments.core.run import Run

    content, tally = open_as(source, path, NAME, _LINE)
    with content:
        refuse_early(content, tally, parse_lines)
        data = content.data()
    ranked = _plain(data, tally)
    if ranked is None:
        rows = list(parse_lines(numbered_lines(data), tally))
        report = finish(content, tally)
        report.raise_if_errors()
        if not rows:
            tally.refuse("holds no results", code="F07")
        return Run.from_rows(((row.query_id, row.doc_id, row.score) for row in rows), name), report
    return Run.from_dict(ranked, name), finish(content, tally)


def parse_lines(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[RunRow]:
    """Yield the rows of numbered lines; every line ends in one bin of the books."""
    kept: Keyed[RunRow] = Keyed(tally, twice_is_conflict=True)
    for line, text, parts in records(lines, tally):
        _result(parts, line, text, tally, kept)
    rows = list(kept.rows())
    _compare_ranks(rows, tally)
    yield from rows


def write(rows: Iterable[RunRow], stream: BinaryIO, *, tag: str | None = None, encode_ids: bool = False) -> Written:
    """Write a run: ranks from 1 without gaps, scores that fall strictly inside a query.

    Parameters
    ----------
    rows : iterable of RunRow
        The results, in any order; they are put into trec_eval's.
    stream : binary stream
        Where to.
    tag : str, optional
        The system's name; by default each row's own. White space in it becomes ``-``.
    encode_ids : bool
        Percent-encode what the format cannot carry in an id.

    Raises
    ------
    NotValid
        When an id has white space in it.
    """
    by_query: dict[str, list[RunRow]] = {}
    for row in rows:
        by_query.setdefault(row.query_id, []).append(row)
    ids = [(row.query_id, row.doc_id) for found in by_query.values() for row in found]
    encoded = id_encoder(ids) if encode_ids else {}
    if not encode_ids:
        refuse_ids(NAME, (text for pair in ids for text in pair))
    notes = []
    for query_id in sorted(by_query):
        ordered = sorted(by_query[query_id], key=lambda row: (row.score, row.doc_id), reverse=True)
        scores, replaced = _falling([row.score for row in ordered])
        if replaced:
            notes.append(f"query {query_id!r}: tied scores were replaced by depth - rank + 1")
        for rank, (row, score) in enumerate(zip(ordered, scores, strict=True), 1):
            name = "-".join((tag or row.tag or "run").split())
            parts = (encoded.get(query_id, query_id), "Q0", encoded.get(row.doc_id, row.doc_id), rank, score, name)
            stream.write((" ".join(map(str, parts)) + "\n").encode())
    return Written(len(ids), tuple(notes), encoded)


def _falling(scores: Sequence[float]) -> tuple[list[str], bool]:
    if all(high > low for high, low in pairwise(scores)):
        return [repr(float(score)) for score in scores], False
    return [str(len(scores) - place) for place in range(len(scores))], True


def _result(parts: list[str], line: int, raw: str, tally: Tally, kept: Keyed[RunRow]) -> None:
    fault = _row_fault(parts)
    if fault:
        tally.reject(fault.code, line, fault.what, fix=fault.fix, raw=raw)
        return
    score = number(parts[4], infinite=True) or 0.0
    if score in (float("inf"), float("-inf")):
        tally.once("W44", line, "an infinite score", done="kept, sorts as such")
    if len(parts) > 6:
        tally.once("W45", line, f"{len(parts)} fields where a run line has 6", done="the tag keeps the rest")
    note_unusual(tally, line, parts[0], parts[2])
    rank = int(parts[3]) if parts[3].isascii() and parts[3].isdigit() and len(parts[3]) < 19 else None
    row = RunRow(parts[0], parts[2], score, rank, " ".join(parts[5:]), line)
    kept.add((parts[0], parts[2]), score, row, line, raw)


def _row_fault(parts: list[str]) -> Fault | None:
    if len(parts) < 6:
        fix = f"expected query, Q0, document, rank, score, tag, such as {_LINE!r}"
        return Fault("E10", f"{len(parts)} field{'s' * (len(parts) != 1)} instead of 6", fix)
    for name, text in (("query", parts[0]), ("document", parts[2])):
        if fault := id_fault(text, spaces=False):
            return Fault(fault[0], f"the {name} id {fault[1]}", "mend the id")
    if number(parts[4], infinite=True) is None:
        return Fault("E12", f"the score {parts[4]!r} is not a number", "expected a number such as 12.5 in field 5")
    return None


def _compare_ranks(rows: list[RunRow], tally: Tally) -> None:
    """Warn where the rank column contradicts the scores (W40): a rank that does not rise, begins at 0 or is a word."""
    by_query: dict[str, list[RunRow]] = {}
    for row in rows:
        by_query.setdefault(row.query_id, []).append(row)
    for found in by_query.values():
        before = 0
        for row in sorted(found, key=lambda row: (-row.score, row.rank or 0)):
            rank = row.rank or 0
            if rank <= before:
                what = f"the rank of document {row.doc_id!r} contradicts its score"
                tally.once("W40", row.line, what, done="ordered by score")
            before = max(rank, before)


def _plain(data: bytes, tally: Tally) -> dict[str, dict[str, float]] | None:
    """Return the results of a file that has nothing odd in it, quickly; None sends the reader the careful way."""
    lines = plain_lines(data)
    if lines is None:
        return None
    ranked: dict[str, dict[str, float]] = {}
    of_query: dict[str, float] = {}
    current, before, rank_before = "", 0.0, 0
    try:
        for line in lines:
            query_id, _, doc_id, rank, text, _ = line.split()
            score = float(text)
            if query_id != current:
                # Coming back to a query is not odd, but its ranks are then compared the careful way.
                if query_id in ranked:
                    return None
                current, of_query, before, rank_before = query_id, {}, float_info.max, 0
                ranked[query_id] = of_query
            place = int(rank)
            if doc_id in of_query or not -float_info.max <= score <= before or place <= rank_before or "_" in text:
                return None
            of_query[doc_id] = before = score
            rank_before = place
    except ValueError:
        return None
    tally.read(len(lines))
    tally.put("accepted", len(lines))
    return ranked


FORMAT = Format(
    name=NAME,
    title="TREC run",
    kind="run",
    extensions=(".run", ".txt"),
    description="One result a line with its score; what trec_eval and its relatives read.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
