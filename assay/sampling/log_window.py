"""Searches of a large log that may be in the window while its newest search is still unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assay.formats.log_blocks import NO_TIME, LogBlock

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
        """Count searches whether they are used or not; the newest one is the end of the window."""
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
