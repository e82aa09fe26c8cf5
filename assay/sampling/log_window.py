"""Searches of a large log that may be in the window while its newest search is still unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assay.formats.log_blocks import NO_TIME, LogBlock


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
