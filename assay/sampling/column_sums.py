"""Totals of each text over the searches in the window: searches, clients and languages."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from assay.formats.log_blocks import NO_TIME, LogBlock
from assay.sampling.log_window import Counts, counts_of, only


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
