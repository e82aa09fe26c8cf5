"""Counted query log: its queries, totals and omissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from assay.core.errors import NotValid
from assay.sampling.languages import check_language
from assay.sampling.query_table import LogQuery, QueryTable, frequencies_of, in_order

WINDOW_DAYS = 90
MAX_LENGTH = 200

EMPTY = "empty"
TOO_LONG = f"longer than {MAX_LENGTH} characters"
UNTIMED = "no readable timestamp"
OUTSIDE = "outside the window"


@dataclass(frozen=True, slots=True)
class CountedLog:
    """A log, counted."""

    queries: Sequence[LogQuery]
    rows: int
    searches: int
    dropped: dict[str, int]
    first: datetime | None
    last: datetime | None
    window_days: int | None
    suppressed_queries: int
    suppressed: int
    min_clients: int
    has_clients: bool
    redacted: dict[str, int] = field(default_factory=dict)
    languages: dict[str, int] = field(default_factory=dict)
    language: str | None = None

    @property
    def traffic(self) -> int:
        """Return the searches for the remaining queries: the denominator of traffic shares."""
        return sum(frequencies_of(self.queries))


def close_log(
    queries: Sequence[LogQuery],
    *,
    rows: int,
    searches: int,
    dropped: Mapping[str, int],
    redacted: Mapping[str, int],
    span: tuple[datetime | None, datetime | None],
    window_days: int | None,
    min_clients: int,
    has_clients: bool,
    languages: Mapping[str, int],
    language: str | None,
) -> CountedLog:
    """Sort counted queries, and leave out queries from too few clients."""
    check_language(language, languages)
    if min_clients > 1 and not has_clients:
        raise NotValid(
            (
                f"The log has no clients, so a minimum of {min_clients} clients cannot be checked. Add a column "
                "client_id (one row per search) or clients (counted queries), or remove the minimum."
            ),
            {"min_clients": "The log has no clients: leave this empty."},
        )
    supported, few = _by_support(in_order(queries), min_clients)
    return CountedLog(
        queries=supported,
        rows=rows,
        searches=searches,
        dropped={reason: number for reason, number in sorted(dropped.items()) if number},
        first=span[0],
        last=span[1],
        window_days=window_days,
        suppressed_queries=len(few),
        suppressed=sum(frequencies_of(few)),
        min_clients=min_clients,
        has_clients=has_clients,
        redacted=dict(sorted(redacted.items())),
        languages=dict(sorted(languages.items(), key=lambda item: (-item[1], item[0].encode()))),
        language=language,
    )


def check_counting(window_days: int | None, min_clients: int) -> None:
    """Raise `NotValid` for a window or a threshold below 1."""
    if window_days is not None and window_days < 1:
        raise NotValid(f"The window is {window_days} days. Use at least 1.", {"window_days": "At least 1."})
    if min_clients < 1:
        raise NotValid(f"min_clients is {min_clients}. Use at least 1.", {"min_clients": "At least 1."})


def _by_support(queries: Sequence[LogQuery], least: int) -> tuple[Sequence[LogQuery], Sequence[LogQuery]]:
    """Return the queries with enough clients, and the others."""
    if least <= 1:
        return queries, ()
    if isinstance(queries, QueryTable):
        return queries.split_by_clients(least)
    support = [query.clients or 0 for query in queries]
    return (
        tuple(query for query, number in zip(queries, support, strict=True) if number >= least),
        tuple(query for query, number in zip(queries, support, strict=True) if number < least),
    )
