"""Distinct queries of a log, and a compact table of many of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, slots=True)
class LogQuery:
    """A distinct query of a log."""

    query: str
    text: str
    frequency: int
    clients: int | None
    variants: int
    raw: object = field(compare=False, repr=False)
    language: str = ""


class QueryTable(Sequence[LogQuery]):
    """Queries of a large log, most frequent first, with ties in byte order; objects are created on access."""

    COLUMNS = ("query", "text", "frequency", "clients", "variants", "raw", "language")
    HOLDS = ("_table",)

    def __init__(self, table: polars.DataFrame) -> None:
        # polars compares texts by their UTF-8 bytes.
        self._table = table.select(self.COLUMNS).sort("frequency", "query", descending=[True, False])

    def __len__(self) -> int:
        return self._table.height

    @overload
    def __getitem__(self, at: int) -> LogQuery: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[LogQuery, ...]: ...

    def __getitem__(self, at: int | slice) -> LogQuery | tuple[LogQuery, ...]:
        if isinstance(at, slice):
            return tuple(LogQuery(*row) for row in self._table[at].iter_rows())
        return LogQuery(*self._table.row(at))

    def __iter__(self) -> Iterator[LogQuery]:
        return (LogQuery(*row) for row in self._table.iter_rows())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))

    @property
    def frequencies(self) -> list[int]:
        """Return the number of searches for each query."""
        return self._table["frequency"].to_list()

    @property
    def texts(self) -> list[str]:
        """Return the most frequent raw form of each query."""
        return self._table["text"].to_list()

    def split_by_clients(self, least: int) -> tuple[QueryTable, QueryTable]:
        """Return the queries with at least this many clients, and the others."""
        import polars as pl

        support = pl.col("clients").fill_null(0)
        return QueryTable(self._table.filter(support >= least)), QueryTable(self._table.filter(support < least))


def texts_of(queries: Sequence[LogQuery]) -> list[str]:
    """Return the most frequent raw form of each query."""
    return queries.texts if isinstance(queries, QueryTable) else [query.text for query in queries]


def frequencies_of(queries: Sequence[LogQuery]) -> list[int]:
    """Return the number of searches for each query."""
    return queries.frequencies if isinstance(queries, QueryTable) else [query.frequency for query in queries]


def in_order(queries: Sequence[LogQuery]) -> Sequence[LogQuery]:
    """Return the queries, most frequent first, ties in byte order."""
    if isinstance(queries, QueryTable):
        return queries
    return tuple(sorted(queries, key=lambda query: (-query.frequency, query.query.encode())))
