"""Read a query log of any size as columns, in blocks of several hundred thousand searches. A search consists of
numbers for its text, time, client, count and line. Each distinct text is stored once. Client names are never stored,
only a number per client.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from assay.core.read_report import Report, Tally
from assay.formats.reader import finish, open_as
from assay.formats.row_types import LogRow
from assay.formats.text_lines import Content, Source
from assay.formats.timestamps import instant

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars

    Codes = npt.NDArray[np.uint32]
    Whole = npt.NDArray[np.int64]
    Keys = npt.NDArray[np.uint64]

# Value that represents "no time" among microseconds since 1970.
NO_TIME = -(1 << 63)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CAREFUL_ROWS = 100_000
# Number of searches shown so that users can check how the log was read.
FIRST = 10
# A file that expands to more is not a log; the expansion ratio is checked as for every file.
MAX_LOG = 1 << 40


@dataclass(frozen=True, eq=False, slots=True)
class LogBlock:
    """Some searches in the order of the file."""

    text: Codes
    moment: Whole
    client: Keys | None
    count: Whole | None
    line: Whole
    language: Codes | None = None
    written: polars.DataFrame | None = None
    clients: Whole | None = None

    def __len__(self) -> int:
        return len(self.text)


class NumberedTexts:
    """Distinct texts, numbered in order of appearance."""

    def __init__(self) -> None:
        import polars as pl

        self.known: list[str] = []
        self._type = pl.Categorical(pl.Categories.random())
        # polars drops a category table when its last column is deleted, so this column is kept.
        self._anchor = pl.Series([], dtype=self._type)

    def codes(self, texts: polars.Series) -> Codes:
        """Return the number of each text, adding new ones."""
        import numpy as np

        codes: Codes = texts.cast(self._type).to_physical().to_numpy()
        fresh = np.flatnonzero(codes >= len(self.known))
        if len(fresh):
            numbers, first = np.unique(codes[fresh], return_index=True)
            if len(numbers) != numbers[-1] + 1 - len(self.known):
                raise AssertionError("polars no longer numbers categories consecutively")
            self.known += texts.gather(fresh[first]).to_list()
        return codes


class LogTexts(NumberedTexts):
    """Distinct texts and languages of a log, numbered in order of appearance."""

    def __init__(self, *, written: bool = False) -> None:
        import polars as pl

        super().__init__()
        self.written = written
        self.languages = NumberedTexts()
        # Number 0 means no language.
        self.languages.codes(pl.Series([""]))


@dataclass(eq=False)
class LogStream:
    """A log that can be read once: iterate over its blocks, then read the report."""

    source: Source
    path: str
    format: str
    encoding: str = "utf-8"
    options: Mapping[str, Any] = field(default_factory=dict)
    texts: LogTexts = field(default_factory=LogTexts)
    bytes_read: int = 0
    first_lines: list[int] = field(default_factory=list)
    empty: int = 0
    report: Report | None = None

    def __iter__(self) -> Iterator[LogBlock]:
        from assay.formats import FORMATS

        content, tally = _opened(self.source, self.path, self.format, self.encoding)
        blocks = FORMATS[self.format].blocks
        with content:
            for block in blocks(content, tally, self.texts, **self.options) if blocks else ():
                self.bytes_read = content.size
                if len(self.first_lines) < FIRST:
                    self.first_lines += block.line[: FIRST - len(self.first_lines)].tolist()
                yield block
        if not tally.units - tally.bins["blank"] - tally.bins["comment"]:
            tally.refuse("contains no searches", code="F07")
        self.bytes_read, self.empty = content.size, tally.codes.get("W50", 0)
        self.report = finish(content, tally)


def open_log(
    source: Source, *, path: str, format: str, encoding: str = "utf-8", written: bool = False, **options: Any
) -> LogStream:
    """Open a log of any format to read it in blocks."""
    return LogStream(source, path, format, encoding, options, LogTexts(written=written))


def _opened(source: Source, path: str, format: str, encoding: str) -> tuple[Content, Tally]:
    from assay.formats import FORMATS

    example = FORMATS[format].example.splitlines()[0]
    return open_as(source, path, format, example, encoding=encoding, limit=MAX_LOG)


def careful_blocks(rows: Iterable[LogRow], texts: LogTexts) -> Iterator[LogBlock]:
    """Group rows that were read one by one into blocks."""
    waiting = iter(rows)
    while some := list(islice(waiting, CAREFUL_ROWS)):
        yield block_of(some, texts)


def block_of(rows: list[LogRow], texts: LogTexts) -> LogBlock:
    """Return a block of some rows."""
    import numpy as np
    import polars as pl

    moments = [microseconds(row.timestamp) if row.timestamp else NO_TIME for row in rows]
    clients = pl.Series([row.client_id for row in rows], dtype=pl.String)
    counts = np.array([row.count for row in rows], dtype=np.int64)
    named = any(row.language for row in rows)
    return LogBlock(
        texts.codes(pl.Series([row.query for row in rows], dtype=pl.String)),
        np.array(moments, dtype=np.int64),
        client_keys(clients),
        None if (counts == 1).all() else counts,
        np.array([row.line for row in rows], dtype=np.int64),
        texts.languages.codes(pl.Series([row.language for row in rows], dtype=pl.String)) if named else None,
        as_written(*([getattr(row, name) for row in rows] for name in ("timestamp", "clicks", "query_id")))
        if texts.written
        else None,
        np.array([row.clients or 0 for row in rows], dtype=np.int64) if any(row.clients for row in rows) else None,
    )


def as_written(
    timestamps: polars.Series | list[str] | None,
    clicks: polars.Series | list[str] | None,
    query_ids: list[str] | None = None,
    *,
    number: int = 0,
) -> polars.DataFrame:
    """Return the `written` columns of a block; missing columns are filled with nulls."""
    import polars as pl

    given = {"timestamp": timestamps, "clicks": clicks, "query_id": query_ids}
    columns = {
        name: pl.Series([None] * number if texts is None else texts, dtype=pl.String) for name, texts in given.items()
    }
    return pl.DataFrame(columns).with_columns(pl.col("timestamp").str.strip_chars()).select(pl.all().replace("", None))


def client_keys(clients: polars.Series) -> Keys | None:
    """Return a number for each client, 0 for none; None if no client is named."""
    import numpy as np

    named = (clients.is_not_null() & (clients != "")).fill_null(False).to_numpy()
    if not named.any():
        return None
    # Bit 0 is set so that no key is 0.
    return np.where(named, clients.hash().to_numpy() | np.uint64(1), np.uint64(0))


def microseconds(text: str) -> int:
    """Return a time in microseconds since 1970."""
    return (instant(text) - EPOCH) // timedelta(microseconds=1)


def moment(microseconds: int) -> datetime:
    """Return the time that is this many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=int(microseconds))


def rows_on_lines(source: Source, lines: set[int], *, path: str, format: str, **options: Any) -> dict[int, LogRow]:
    """Read the rows on the given lines of a log."""
    from assay.formats import FORMATS

    content, tally = _opened(source, path, format, options.pop("encoding", "utf-8"))
    by_line: dict[int, LogRow] = {}
    member = FORMATS[format]
    assert member.stream is not None  # noqa: S101 (each format of a query log has one)
    with content:
        if member.rows is None:
            rows = member.stream(content, tally, **options)
        else:
            rows = member.rows(content, tally, lines=lines, **options)
        for row in rows:
            if row.line in lines:
                by_line[row.line] = row
                if len(by_line) == len(lines):
                    break
    return by_line
