"""Distinct queries of a log, counted row by row."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from assay.core.redaction import redact
from assay.sampling.counted_log import (
    EMPTY,
    MAX_LENGTH,
    OUTSIDE,
    TOO_LONG,
    UNTIMED,
    WINDOW_DAYS,
    CountedLog,
    check_counting,
    close_log,
)
from assay.sampling.languages import OTHER, language_matches
from assay.sampling.query_table import LogQuery


class LogRow(Protocol):
    """The interface of a log row; the readers of `assay.formats` return rows of this kind."""

    @property
    def query(self) -> str:
        """Return the typed text."""

    @property
    def timestamp(self) -> datetime | str | None:
        """Return the time, if the log has it: ISO 8601, or seconds or milliseconds since 1970."""

    @property
    def client_id(self) -> str | None:
        """Return the client, if the log has it."""

    @property
    def count(self) -> int | None:
        """Return the number of searches in a counted log; None in a log with one row per search."""


@dataclass(slots=True)
class _Tally:
    """The running counts of one normalized query."""

    forms: Counter[str] = field(default_factory=Counter)
    raw: dict[str, object] = field(default_factory=dict)
    clients: set[str] = field(default_factory=set)
    least_clients: int = 0
    languages: Counter[str] = field(default_factory=Counter)

    def add(self, form: str, row: LogRow, count: int) -> None:
        self.forms[form] += count
        self.raw.setdefault(form, row if form == row.query else without_personal_data(row, form))
        if row.client_id:
            self.clients.add(row.client_id)
        # The overlap of the clients in two rows is unknown: there are at least as many as in one row.
        self.least_clients = max(self.least_clients, getattr(row, "clients", None) or 0)
        if spoken := _language(row):
            self.languages[spoken] += count


@dataclass(slots=True)
class _Count:
    """The running counts of the whole log."""

    window: tuple[datetime, datetime] | None
    language: str | None = None
    languages: Counter[str] = field(default_factory=Counter)
    tallies: dict[str, _Tally] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    searches: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, row: LogRow, moment: datetime | None) -> None:
        number = 1 if row.count is None else row.count
        form, kinds = redact(row.query)
        query = normalize(form)
        self.rows += 1
        self.searches += number
        spoken = _language(row)
        if spoken:
            self.languages[spoken] += number
        other = self.language is not None and not language_matches(spoken, self.language)
        reason = OTHER if other else _why_dropped(query, moment, self.window)
        if reason:
            self.dropped[reason] += number
            return
        self.tallies.setdefault(query, _Tally()).add(form, row, number)
        self.redacted.update(dict.fromkeys(kinds, number))
        if moment is not None:
            self.first = moment if self.first is None else min(self.first, moment)
            self.last = moment if self.last is None else max(self.last, moment)


def normalize(text: str) -> str:
    """Return the form that typed queries share: NFKC, case folded, trimmed, white space collapsed.

    Examples
    --------
    >>> normalize("  Rain   JACKET ")
    'rain jacket'
    >>> normalize("Straße")
    'strasse'
    """
    if text.isascii():
        # Five times as fast for ASCII, which most queries are.
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def count_log(
    rows: Iterable[LogRow],
    *,
    window_days: int | None = WINDOW_DAYS,
    until: datetime | None = None,
    min_clients: int = 1,
    language: str | None = None,
) -> CountedLog:
    """Count a log's queries, row by row; see `assay.sampling.column_counting.count_stream` for a large one."""
    check_counting(window_days, min_clients)
    timed = ((row, moment_of(row.timestamp)) for row in rows)
    if window_days is not None and until is None:
        held = list(timed)
        until = max((moment for _, moment in held if moment is not None), default=None)
        timed = (pair for pair in held)
    window = None if window_days is None or until is None else (_utc(until) - timedelta(days=window_days), _utc(until))
    count = _Count(window, language)
    for row, moment in timed:
        count.add(row, moment)
    has_clients = any(tally.clients or tally.least_clients for tally in count.tallies.values())
    return close_log(
        list(_queries(count.tallies, has_clients)),
        rows=count.rows,
        searches=count.searches,
        dropped=count.dropped,
        redacted=count.redacted,
        span=(count.first, count.last),
        window_days=window_days if window else None,
        min_clients=min_clients,
        has_clients=has_clients,
        languages=count.languages,
        language=language,
    )


def without_personal_data(row: LogRow, form: str) -> object:
    """Return the row with the redacted text in place of the typed one."""
    whole: Any = row
    return replace(whole, query=form) if is_dataclass(row) else form


def moment_of(timestamp: datetime | str | None) -> datetime | None:
    """Return the time in a log's cell, in UTC; None for an empty or unreadable one.

    Examples
    --------
    >>> moment_of("2026-01-02T03:04:05+01:00").isoformat()
    '2026-01-02T02:04:05+00:00'
    >>> moment_of("1767323045") == moment_of("1767323045000")
    True
    """
    if not timestamp:
        return None
    try:
        if isinstance(timestamp, str):
            timestamp = _parsed(timestamp.strip())
        return _utc(timestamp)
    except (ValueError, OverflowError, OSError):
        return None


def _parsed(text: str) -> datetime:
    if not text.lstrip("-").replace(".", "", 1).isdigit():
        return datetime.fromisoformat(text)
    number = float(text)
    # Seconds reach this number in the year 5138, milliseconds in 1973.
    return datetime.fromtimestamp(number / 1000 if abs(number) >= 1e11 else number, UTC)


def _utc(moment: datetime) -> datetime:
    """Return the time in UTC; times without a time zone are assumed to be UTC, because the window needs a single
    clock."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _why_dropped(query: str, moment: datetime | None, window: tuple[datetime, datetime] | None) -> str:
    if not query:
        return EMPTY
    if len(query) > MAX_LENGTH:
        return TOO_LONG
    if window is None:
        return ""
    if moment is None:
        return UNTIMED
    return "" if window[0] < moment <= window[1] else OUTSIDE


def _queries(tallies: dict[str, _Tally], has_clients: bool) -> Iterator[LogQuery]:
    for query, tally in tallies.items():
        text = min(tally.forms, key=lambda form: (-tally.forms[form], form.encode()))
        clients = max(len(tally.clients), tally.least_clients) if has_clients else None
        spoken = min(tally.languages, key=lambda tag: (-tally.languages[tag], tag.encode()), default="")
        yield LogQuery(query, text, tally.forms.total(), clients, len(tally.forms), tally.raw[text], spoken)


def _language(row: LogRow) -> str:
    """Return the language of a search; rows without languages need not have the attribute."""
    return str(getattr(row, "language", "") or "")
