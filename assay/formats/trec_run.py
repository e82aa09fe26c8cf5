"""TREC runs: ``query Q0 document rank score tag``. Runs of any size are read in bounded memory.

Scores decide the order; the rank column is only compared with them. Reading is as tolerant as for qrels. Written scores
decrease strictly, so that readers cannot break ties differently.

`read` reports every odd line of a file. `RunFile` reads for scores, strictly, in pieces. If the rows of each query are
adjacent, as systems usually write them, each piece is a run of some whole queries; otherwise the pieces are joined
first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.read_report import Report, RowFault, Tally
from assay.core.run import Run
from assay.core.text_column import Groups, Places, Texts, grouped, repeated
from assay.formats.column_reader import Layout, Plain, TrecLayout, plain_ids, rows_in_columns
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, checked_id
from assay.formats.reader import finish, note_skipped, note_unusual, open_as, reader, refuse_early
from assay.formats.row_columns import Coded, Column, Meant, RowColumns
from assay.formats.row_types import RunRow
from assay.formats.text_lines import Content, Source, numbered_lines
from assay.formats.trec_lines import (
    EXACT_WHOLE,
    Fields,
    fields,
    number,
    numbers,
    numbers_or_nan,
    rank_of,
    records,
    split_fields,
)

if TYPE_CHECKING:
    from assay.formats.writer import Written

NAME = "trec-run"
EXAMPLE = "q001 Q0 doc-abc 1 12.5 bm25\nq001 Q0 doc-xyz 2 11.25 bm25\n"
LINE = "q001 Q0 doc-abc 1 12.5 bm25"
Numbers = npt.NDArray[np.float64]

MOST_RANK = 2**31
# Few queries have more rows than this.
LAST = 2048
PIECE = 4 << 20
# A file with fewer pieces is read before threads would be ready.
FEW = 3


def usable_ranks(ranks: Numbers, invalid: float = 0.0) -> Numbers:
    """Replace invalid ranks: fractions and negative numbers."""
    usable = (ranks >= 0) & (ranks < EXACT_WHOLE) & (np.floor(ranks) == ranks)
    return ranks if usable.all() else np.where(usable, ranks, invalid)


def rank_column(ranks: Numbers) -> Meant:
    """Return a column of whole numbers, None where the rank is invalid."""
    return Meant(usable_ranks(ranks, np.nan), lambda rank: None if rank != rank else int(rank))


@dataclass(frozen=True, slots=True)
class RunRows:
    """Rows of a run in the order of the file."""

    query_ids: Texts
    doc_ids: Texts
    scores: Numbers
    ranks: Numbers
    lines: Places

    @classmethod
    def of(cls, rows: Sequence[RunRow]) -> RunRows:
        """Build the columns from rows, which may already be columns."""
        if isinstance(rows, RowColumns):
            columns = rows.columns
            ranks = columns.get("rank")
            return cls(
                rows.texts("query_id"),
                rows.texts("doc_id"),
                np.asarray(columns["score"]),
                np.nan_to_num(np.asarray(ranks.given)) if isinstance(ranks, Meant) else np.zeros(len(rows)),
                np.asarray(columns["line"]),
            )
        return cls(
            Texts.of([row.query_id for row in rows]),
            Texts.of([row.doc_id for row in rows]),
            np.array([row.score for row in rows], dtype=np.float64),
            np.array([row.rank or 0 for row in rows], dtype=np.float64),
            np.array([row.line or 0 for row in rows], dtype=np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[RunRows]) -> RunRows:
        """Concatenate rows."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            Texts.joined([part.query_ids for part in parts]),
            Texts.joined([part.doc_ids for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.lines for part in parts]),
        )

    def between(self, start: int, stop: int) -> RunRows:
        """Return a range of the rows."""
        part = slice(start, stop)
        return RunRows(
            self.query_ids.take(part), self.doc_ids.take(part), self.scores[part], self.ranks[part], self.lines[part]
        )

    def last_query(self) -> int:
        """Return the row at which the last query begins."""
        rows, looked = len(self.scores), LAST
        while True:
            start = max(0, rows - looked)
            changes = np.flatnonzero(self.query_ids.take(slice(start, rows)).changes()[1:])
            if len(changes) or not start:
                return start + 1 + int(changes[-1]) if len(changes) else 0
            looked *= 8

    def run(self, name: str, tally: Tally) -> Run:
        """Return the run of these rows, and report contradicting ranks."""
        groups = grouped(self.query_ids)
        self.compare_ranks(groups, tally)
        return Run.from_groups(groups, self.doc_ids, self.scores, name)

    def by_rank(self, name: str) -> Run:
        """Return the run sorted by rank, rows without rank last; the scores are the negated ranks."""
        return Run.from_columns(self.query_ids, self.doc_ids, -self.ranks_within(grouped(self.query_ids)), name)

    def ranks_agree(self) -> bool:
        """Return whether every row has a unique rank in its query that agrees with the scores."""
        groups = grouped(self.query_ids)
        ranks, query = self.ranks_within(groups), groups.query_of
        order = np.lexsort((ranks, query))
        scores, above, query = self.scores[order], ranks[order], query[order]
        falls = (scores[1:] <= scores[:-1]) & (above[1:] > above[:-1])
        return bool(np.isfinite(ranks).all() and (falls | (query[1:] != query[:-1])).all())

    def ranks_within(self, groups: Groups) -> Numbers:
        """Return the ranks, infinite if missing; 0 is a rank if every query has it once."""
        none = self.ranks == 0
        if not none.any() or (np.bincount(groups.query_of[none], minlength=len(groups.names)) == 1).all():
            return self.ranks
        return np.where(none, np.inf, self.ranks)

    def compare_ranks(self, groups: Groups, tally: Tally) -> None:
        """Warn if ranks contradict the scores (W40), that is, do not increase as the scores decrease."""
        scores, ranks = self.scores, self.ranks
        if groups.order is not None:
            scores, ranks = scores[groups.order], ranks[groups.order]
        query = np.repeat(np.arange(len(groups.names)), np.diff(groups.offsets))
        first = np.zeros(len(scores), dtype=np.bool_)
        first[groups.offsets[:-1]] = True
        rises = (ranks[1:] > ranks[:-1]) & (scores[1:] <= scores[:-1])
        if (rises | first[1:]).all():
            return
        order = np.lexsort((ranks, -scores, query))
        ranks = np.clip(ranks[order], 0, MOST_RANK - 1)
        # The largest rank so far of each query, in one pass, with the query in the high bits of the number.
        high = query * MOST_RANK + ranks.astype(np.int64)
        before = np.where(first, query * MOST_RANK - 1, np.concatenate(([0], np.maximum.accumulate(high)[:-1])))
        odd = np.flatnonzero(high <= before)
        if len(odd):
            places = order[odd] if groups.order is None else groups.order[order[odd]]
            place = int(places[0])
            what = f"the rank of document {self.doc_ids[place]!r} contradicts its score"
            tally.once("W40", int(self.lines[place]), what, done="ordered by score", times=len(odd))


class RunLayout(Layout[RunRow]):
    """Common part of all run layouts: a document occurs once per query, and ranks are compared with scores."""

    row = RunRow
    keys = ("query_id", "doc_id")
    # Whether any row has a rank.
    ranked = False

    def keyed(self, tally: Tally) -> Keyed[RunRow]:
        return Keyed(tally, twice_is_conflict=True)

    def count(self, rows: Sequence[RunRow], tally: Tally) -> None:
        if self.ranked and len(rows):
            compare_ranks(rows, tally)


def compare_ranks(rows: Sequence[RunRow], tally: Tally) -> None:
    """Warn if the ranks of a run contradict its scores (W40)."""
    columns = RunRows.of(rows)
    columns.compare_ranks(grouped(columns.query_ids), tally)


class TrecRun(TrecLayout[RunRow], RunLayout):
    """Lines with query, Q0, document, rank, score and tag."""

    width = 6
    ranked = True

    def plain(self, fields: Fields) -> Plain:
        query_ids, doc_ids = fields.texts(0), fields.texts(2)
        scores = numbers_or_nan(fields.texts(4))
        good = ~np.isnan(scores) & plain_ids(query_ids) & plain_ids(doc_ids)
        # The tag includes the rest of the line.
        good[fields.wider(6)] = False
        columns: dict[str, Column] = {
            "query_id": query_ids,
            "doc_id": doc_ids,
            "score": scores,
            "rank": rank_column(numbers_or_nan(fields.texts(3))),
            "tag": Coded.of(fields.texts(5)),
        }
        return Plain(columns, good)

    def add(self, parts: list[str], line: int, raw: str, tally: Tally, by_key: Keyed[RunRow]) -> None:
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


def _read(content: Content, tally: Tally) -> Sequence[RunRow]:
    return rows_in_columns(content, tally, TrecRun())


def parse_lines(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[RunRow]:
    """Yield the rows of numbered lines; every line is counted in one bin."""
    layout = TrecRun()
    by_key = layout.keyed(tally)
    for line, text, parts in records(lines, tally):
        layout.add(parts, line, text, tally, by_key)
    yield from by_key.rows()


class Interleaved(Exception):
    """Raised when the rows of a query are not adjacent: the file must be read as a whole."""


class RunFile:
    """A run file that is read on demand."""

    def __init__(
        self, source: Source, path: str = "-", name: str = "run", threads: int = 2, *, hashed: bool = True
    ) -> None:
        self.path, self.name, self.threads, self._hashed = path, name, threads, hashed
        self.report: Report
        self._source = sys.stdin.buffer if isinstance(source, str | Path) and str(source) == "-" else source
        self._held: list[bytes] = []

    @property
    def size(self) -> int:
        """Return the size of the file in bytes; 0 if unknown before reading."""
        if isinstance(self._source, bytes):
            return len(self._source)
        try:
            return Path(self._source).stat().st_size if isinstance(self._source, str | Path) else 0
        except OSError:
            return 0

    def blocks(self) -> Iterator[Run]:
        """Yield runs of some whole queries each; together they are the file."""
        if not isinstance(self._source, str | Path | bytes):
            yield self.whole()
            return
        content, tally = self._open()
        seen: set[str] = set()
        with content:
            for rows in whole_queries(self._pieces(content, tally)):
                run = self._run(rows, tally)
                if not seen.isdisjoint(run.query_ids):
                    raise Interleaved
                seen.update(run.query_ids)
                yield run
        self._close(content, tally)

    def whole(self) -> Run:
        """Return the run in one piece."""
        rows, content, tally = self._read()
        run = self._run(rows, tally)
        self._close(content, tally)
        return run

    def rows(self) -> RunRows:
        """Return the rows in the order of the file, with their ranks."""
        rows, content, tally = self._read()
        self._tell_twice(rows, tally)
        rows.compare_ranks(grouped(rows.query_ids), tally)
        self._close(content, tally)
        return rows

    def _read(self) -> tuple[RunRows, Content, Tally]:
        """Read all rows; the caller finishes the report."""
        content, tally = self._open()
        with content:
            parts = list(self._pieces(content, tally))
        if not parts:
            self._close(content, tally)
            raise AssertionError("an empty file was not refused")
        return RunRows.joined(parts), content, tally

    def _open(self) -> tuple[Content, Tally]:
        """Open the run and read its first lines, so that a large file of the wrong format is refused early."""
        content, tally = open_as(self._source, self.path, NAME, LINE, hashed=self._hashed)
        try:
            if split_fields(content.head[: content.head.rfind(b"\n") + 1], 6) is None:
                refuse_early(content, tally, parse_lines)
        except BaseException:
            content.close()
            raise
        return content, tally

    def _pieces(self, content: Content, tally: Tally) -> Iterator[RunRows]:
        for rows, books in _ahead(self._raw_pieces(content), tally, self.threads):
            tally.take_in(books)
            if rows is not None:
                yield rows

    def _raw_pieces(self, content: Content) -> Iterator[tuple[int, bytes]]:
        for before, data in content.pieces(PIECE):
            if not isinstance(self._source, str | Path | bytes):
                self._held.append(data)
            yield before, data

    def _run(self, rows: RunRows, tally: Tally) -> Run:
        try:
            return rows.run(self.name, tally)
        except NotValid:
            self._tell_twice(rows, tally)
            raise

    def _tell_twice(self, rows: RunRows, tally: Tally) -> None:
        """Locate both lines of a repeated document, and refuse the file."""
        rows_of_duplicate = repeated(grouped(rows.query_ids).query_of, rows.doc_ids)
        if rows_of_duplicate is not None:
            first, again = rows.lines[list(rows_of_duplicate)].tolist()
            texts = self._lines(first, again)
            what = f"{texts[first]!r} contradicts line {again}, {texts[again]!r}"
            tally.refuse(what, line=first, expected="keep one of the two", code="E16")

    def _lines(self, *numbers: int) -> dict[int, str]:
        """Return the text of some lines by number; empty for a line that no longer exists."""
        texts = dict.fromkeys(numbers, "")
        with Content(b"".join(self._held) if self._held else self._source, self.path) as content:
            for line, text in islice(content.lines(), max(numbers)):
                if line in texts:
                    texts[line] = " ".join(fields(text))
        return texts

    def _close(self, content: Content, tally: Tally) -> None:
        self.report = finish(content, tally)
        self.report.raise_if_errors()
        if not self.report.accepted:
            tally.refuse("contains no results", code="F07")


def load_run(source: Source, path: str = "-", name: str = "run") -> Run:
    """Return the run of a file, strictly: an invalid line is an error."""
    return load_run_report(source, path, name)[0]


def load_run_report(source: Source, path: str = "-", name: str = "run") -> tuple[Run, Report]:
    """Return the run of a file as `load_run` does, and the report with its hash and warnings."""
    file = RunFile(source, path, name)
    return file.whole(), file.report


def _read_rows(data: bytes, before: int, tally: Tally) -> RunRows | None:
    """Return the rows of some whole lines, strictly; None if there are none."""
    fields = split_fields(data, 6)
    scores = None if fields is None else numbers(fields.texts(4))
    ranks = None if fields is None or scores is None else numbers(fields.texts(3))
    if fields is None or scores is None or ranks is None:
        rows = list(parse_lines(((before + line, text) for line, text in numbered_lines(data)), tally))
        tally.report().raise_if_errors()
        return RunRows.of(rows) if rows else None
    tally.read(fields.rows + len(fields.comments) + len(fields.blanks))
    tally.put("accepted", fields.rows)
    note_skipped(tally, before, fields.comments, fields.blanks)
    if not fields.rows:
        return None
    if len(wider := fields.wider(6)):
        row = int(wider[0])
        note_surplus(tally, before + fields.line(row), fields.width(row), len(wider))
    return RunRows(fields.texts(0), fields.texts(2), scores, usable_ranks(ranks), fields.lines_from(before))


def _ahead(pieces: Iterator[tuple[int, bytes]], tally: Tally, threads: int) -> Iterator[tuple[RunRows | None, Tally]]:
    """Read pieces in advance in other threads; yield them in order, each with its own counters."""

    def read(before: int, data: bytes) -> tuple[RunRows | None, Tally]:
        books = tally.part()
        return _read_rows(data, before, books), books

    few = list(islice(pieces, FEW if threads > 1 else 0))
    if len(few) < FEW or threads < 2:
        yield from (read(*piece) for piece in chain(few, pieces))
        return
    from collections import deque
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(threads - 1) as pool:
        waiting: deque[Future[tuple[RunRows | None, Tally]]] = deque()
        waiting.extend(pool.submit(read, *piece) for piece in few)
        for piece in pieces:
            yield waiting.popleft().result()
            waiting.append(pool.submit(read, *piece))
        while waiting:
            yield waiting.popleft().result()


def whole_queries(pieces: Iterator[RunRows]) -> Iterator[RunRows]:
    """Yield pieces of whole queries: the last query of each piece waits for the next piece."""
    held: list[RunRows] = []
    last = next(pieces, None)
    for following in pieces:
        if last is not None and (begin := last.last_query()):
            yield RunRows.joined([*held, last.between(0, begin)])
            held, last = [], last.between(begin, len(last.scores))
        held += [last] if last is not None else []
        last = following
    if last is not None:
        yield RunRows.joined([*held, last])


def write(rows: Iterable[RunRow], stream: BinaryIO, *, tag: str | None = None, encode_ids: bool = False) -> Written:
    """Write a run: ranks from 1 without gaps, and scores that decrease strictly within a query."""
    from assay.formats.writer import Written, ranked_order, written_ids

    ordered = ranked_order(rows)
    encoded = written_ids(NAME, ordered.ids(), encode_ids)
    notes = []
    values = ordered.values("query_id", "doc_id", "score", "tag")
    names: dict[str, str] = {}
    for query_id, group in groupby(values, key=itemgetter(0)):
        results = list(group)
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
