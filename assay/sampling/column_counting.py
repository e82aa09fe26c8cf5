"""Distinct queries of a log of any size, counted from columns. The counts equal those of
`assay.sampling.row_counting.count_log`, without a Python object for each search. A search within the window uses at
most 24 bytes until the end of the log is known; each distinct text is normalized and redacted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from assay.formats.log_blocks import EPOCH, NO_TIME, LogBlock, LogStream, LogTexts, moment
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
from assay.sampling.query_normalization import normalized, redacted
from assay.sampling.query_table import QueryTable


@dataclass(eq=False)
class TextSums:
    """The sums of each text over the searches in the window, which are processed from the last to the first."""

    normal_of: Counts
    counts: Counts
    untimed: Counts
    lines: Counts
    keys: list[npt.NDArray[np.uint64]] = field(default_factory=list)
    client_counts: Counts | None = None
    spoken: list[tuple[Counts, Counts]] = field(default_factory=list)
    first: int | None = None
    last: int | None = None

    @property
    def bits(self) -> np.uint64:
        """Return the number of bits for a normal form's position, which precede those of a client."""
        return np.uint64(max(1, (int(self.normal_of.max(initial=0)) + 1).bit_length()))

    def take(self, part: LogBlock, untimed: LogBlock) -> None:
        self.untimed += counts_of(untimed, len(self.normal_of))
        part = only(part, self.normal_of[part.text] >= 0)
        self.counts += counts_of(part, len(self.normal_of))
        # The last assignment wins: in reverse order, that is the first search with each text.
        self.lines[part.text[::-1]] = part.line[::-1]
        timed = part.moment[part.moment != NO_TIME]
        if len(timed):
            self.first = min(int(timed.min()), int(timed.min()) if self.first is None else self.first)
            self.last = max(int(timed.max()), int(timed.max()) if self.last is None else self.last)
        if part.language is not None:
            both, place = np.unique((self.normal_of[part.text] << 32) | part.language, return_inverse=True)
            self.spoken.append((both, np.bincount(place, weights=part.count).astype(np.int64)))
        if part.clients is not None:
            if self.client_counts is None:
                self.client_counts = np.zeros(int(self.normal_of.max(initial=0)) + 1, dtype=np.int64)
            # The overlap of the clients in two rows is unknown: there are at least as many as in one of them.
            np.maximum.at(self.client_counts, self.normal_of[part.text], part.clients)
        if part.client is not None:
            named = part.client != 0
            keys = self.normal_of[part.text[named]].astype(np.uint64) << (np.uint64(64) - self.bits)
            self.keys.append(keys | (part.client[named] >> self.bits))

    def languages(self, known: list[str]) -> list[str]:
        """Return the language of most searches for each normal form, or the first in byte order; empty for none."""
        import polars as pl

        chosen = [""] * (int(self.normal_of.max(initial=-1)) + 1)
        if self.spoken:
            both, counts = (np.concatenate(column) for column in zip(*self.spoken, strict=True))
            named = both & 0xFFFFFFFF > 0
            table = (
                pl.DataFrame({"both": both[named], "count": counts[named]}).group_by("both").agg(pl.col("count").sum())
            )
            tags = pl.Series(known, dtype=pl.String).gather(table["both"].to_numpy() & 0xFFFFFFFF)
            table = table.select(pl.col("both") // (1 << 32), "count", tags.alias("tag"))
            # The last assignment wins: the most frequent, or the first in a tie.
            for normal, tag in table.sort("count", "tag", descending=[False, True]).select("both", "tag").iter_rows():
                chosen[normal] = tag
        return chosen

    def clients(self) -> Counts | None:
        """Return the number of distinct clients of each normal form; None when the log has no clients."""
        if not sum(map(len, self.keys)):
            return self.client_counts
        keys = np.concatenate(self.keys)
        self.keys.clear()
        keys.sort()
        fresh = np.ones(len(keys), dtype=np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        places = (keys[fresh] >> (np.uint64(64) - self.bits)).astype(np.int64)
        named = np.bincount(places, minlength=int(self.normal_of.max(initial=0)) + 1)
        return named if self.client_counts is None else np.maximum(named, self.client_counts)


Counts = npt.NDArray[np.int64]

DAY = 24 * 3600 * 1_000_000


@dataclass(eq=False)
class WindowRows:
    """The searches that may be in the window; searches that are already too old are only counted."""

    window_days: int | None
    until: int | None
    newest: int = NO_TIME
    rows: int = 0
    searches: int = 0
    parts: list[LogBlock] = field(default_factory=list)
    outside: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def add(self, block: LogBlock) -> None:
        """Count searches, whether they are used or not; the newest search is the end of the window."""
        self.rows += len(block)
        self.searches += searches_of(block)
        if len(block):
            self.newest = max(self.newest, int(block.moment.max()))

    def take(self, block: LogBlock) -> None:
        if not len(block):
            return
        window = self.window
        if window is not None:
            inside = (block.moment > window[0]) & (block.moment <= window[1]) | (block.moment == NO_TIME)
            if not inside.all():
                self._leave_out(only(block, ~inside))
                block = only(block, inside)
        self.parts.append(block)
        if window is not None:
            # In a log ordered by time, whole blocks leave the window as it moves on.
            for part in [part for part in self.parts if int(part.moment.max()) <= window[0]]:
                if not (part.moment == NO_TIME).any():
                    self.parts.remove(part)
                    self._leave_out(part)

    @property
    def window(self) -> tuple[int, int] | None:
        """Return the start (exclusive) and end of the window, as known so far; None for all."""
        end = self.newest if self.until is None else self.until
        if self.window_days is None or end == NO_TIME:
            return None
        return end - self.window_days * DAY, end

    def _leave_out(self, block: LogBlock) -> None:
        self.outside = added(self.outside, counts_of(block))

    def from_behind(self) -> Iterator[tuple[LogBlock, LogBlock]]:
        """Yield the searches in the window, the last block first, with those without a time where needed."""
        window = self.window
        while self.parts:
            part = self.parts.pop()
            if window is None:
                yield part, only(part, np.zeros(len(part), dtype=np.bool_))
                continue
            untimed = part.moment == NO_TIME
            inside = ~untimed & (part.moment > window[0]) & (part.moment <= window[1])
            self._leave_out(only(part, ~inside & ~untimed))
            yield only(part, inside), only(part, untimed)


def counts_of(block: LogBlock, size: int = 0) -> Counts:
    # Sums of counts are whole numbers in float64 up to 2^53.
    return np.bincount(block.text, weights=block.count, minlength=size).astype(np.int64)


def searches_of(block: LogBlock) -> int:
    return len(block) if block.count is None else int(block.count.sum())


def added(some: Counts, others: Counts) -> Counts:
    """Return the sum of two tables of counts, one of which may lack the last texts."""
    total = np.zeros(max(len(some), len(others)), dtype=np.int64)
    total[: len(some)] += some
    total[: len(others)] += others
    return total


def only(block: LogBlock, chosen: npt.NDArray[np.bool_]) -> LogBlock:
    if chosen.all():
        return block
    return LogBlock(
        block.text[chosen],
        block.moment[chosen],
        None if block.client is None else block.client[chosen],
        None if block.count is None else block.count[chosen],
        block.line[chosen],
        None if block.language is None else block.language[chosen],
        clients=None if block.clients is None else block.clients[chosen],
    )


# Marks of texts that are not a query: they are empty or too long.
NOTHING = -1
LONG = -2


def count_stream(
    stream: LogStream,
    *,
    window_days: int | None = WINDOW_DAYS,
    until: datetime | None = None,
    min_clients: int = 1,
    language: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> CountedLog:
    """Count a log's queries while reading it."""
    check_counting(window_days, min_clients)
    forms = _Forms()
    rows = WindowRows(window_days, None if until is None else (until - EPOCH) // timedelta(microseconds=1))
    languages = _Languages(stream.texts.languages.known, language)
    for block in stream:
        forms.take(stream.texts.known)
        rows.add(block)
        block = languages.take(block)
        rows.take(block)
        if progress is not None:
            progress(stream.bytes_read)
    forms.take(stream.texts.known)
    return _counted(forms, rows, languages, stream.empty, min_clients)


class _Forms:
    """The counted form of each distinct text: the text without personal data, and the number of its normal form."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.kinds: dict[int, tuple[str, ...]] = {}
        self.normals = LogTexts()
        self._numbers: list[Counts] = []

    def take(self, known: list[str]) -> None:
        import polars as pl

        begin = len(self.shown)
        if begin == len(known):
            return
        shown, kinds = redacted(known[begin:])
        self.shown += shown
        self.kinds.update({begin + place: place_kinds for place, place_kinds in kinds.items()})
        normals = pl.Series(normalized(shown), dtype=pl.String)
        numbers = np.where((normals == "").to_numpy(), NOTHING, LONG)
        used = ((normals != "") & (normals.str.len_chars() <= MAX_LENGTH)).to_numpy()
        numbers[used] = self.normals.codes(normals.filter(used))
        self._numbers.append(numbers)

    @property
    def normal_of(self) -> Counts:
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._numbers])


class _Languages:
    """The number of searches in each language, and the filter for the requested one."""

    def __init__(self, known: list[str], requested: str | None) -> None:
        self.known, self.requested = known, requested
        self._counts = np.zeros(0, dtype=np.int64)
        self.others = 0

    def take(self, block: LogBlock) -> LogBlock:
        """Return the searches in the requested language."""
        spoken = block.language
        if spoken is not None:
            searches = np.bincount(spoken, weights=block.count, minlength=len(self.known)).astype(np.int64)
            self._counts = added(self._counts, searches)
        if self.requested is not None:
            wanted = np.array([language_matches(tag, self.requested) for tag in self.known])
            chosen = np.zeros(len(block), dtype=np.bool_) if spoken is None else wanted[spoken]
            self.others += searches_of(only(block, ~chosen))
            block = only(block, chosen)
        return block

    @property
    def counts(self) -> dict[str, int]:
        # Number 0 means no language.
        named = zip(self.known[1:], self._counts[1:].tolist(), strict=False)
        return {tag: number for tag, number in named if number}


def _counted(forms: _Forms, rows: WindowRows, languages: _Languages, empty: int, min_clients: int) -> CountedLog:
    normal_of = forms.normal_of
    window_days = None if rows.window is None else rows.window_days
    none = np.zeros(len(normal_of), dtype=np.int64)
    sums = TextSums(normal_of, counts=none.copy(), untimed=none.copy(), lines=none.copy())
    everything = none.copy()
    for part in rows.parts:
        everything += counts_of(part, len(normal_of))
    everything = added(everything, rows.outside)
    for part, untimed in rows.from_behind():
        sums.take(part, untimed)
    outside = added(none, rows.outside)
    dropped = {
        EMPTY: empty + int(everything[normal_of == NOTHING].sum()),
        TOO_LONG: int(everything[normal_of == LONG].sum()),
        UNTIMED: int(sums.untimed[normal_of >= 0].sum()),
        OUTSIDE: int(outside[normal_of >= 0].sum()),
        OTHER: languages.others,
    }
    taken_out: Counter[str] = Counter()
    for form, kinds in forms.kinds.items():
        taken_out.update(dict.fromkeys(kinds, int(sums.counts[form])))
    clients = sums.clients()
    return close_log(
        _queries(forms, sums, clients, sums.languages(languages.known)),
        rows=rows.rows + empty,
        searches=rows.searches + empty,
        dropped=dropped,
        redacted={kind: number for kind, number in taken_out.items() if number},
        span=(None if sums.first is None else moment(sums.first), None if sums.last is None else moment(sums.last)),
        window_days=window_days,
        min_clients=min_clients,
        has_clients=clients is not None,
        languages=languages.counts,
        language=languages.requested,
    )


def _queries(forms: _Forms, sums: TextSums, clients: Counts | None, languages: list[str]) -> QueryTable:
    """Return each normal form with its most frequent raw form, ties sorted by bytes."""
    import polars as pl

    used = np.flatnonzero(sums.counts)
    shown = pl.Series(forms.shown, dtype=pl.String).gather(used)
    columns = {"normal": sums.normal_of[used], "frequency": sums.counts[used], "raw": sums.lines[used]}
    # Different texts can become equal when personal data is removed.
    best = (
        pl.DataFrame({"text": shown, **columns})
        .group_by("normal", "text")
        .agg(pl.col("frequency").sum(), pl.col("raw").min())
    )
    whole = (
        best.sort("normal", "frequency", "text", descending=[False, True, False])
        .group_by("normal", maintain_order=True)
        .agg(pl.col("text", "raw").first(), pl.col("frequency").sum(), pl.len().cast(pl.Int64).alias("variants"))
    )
    client_counts = pl.lit(None, dtype=pl.Int64) if clients is None else pl.Series(clients).gather(whole["normal"])
    query = pl.Series(forms.normals.known, dtype=pl.String).gather(whole["normal"])
    spoken = pl.Series(languages, dtype=pl.String).gather(whole["normal"])
    return QueryTable(whole.with_columns(query=query, clients=client_counts, language=spoken))
