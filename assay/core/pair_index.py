"""Index of pair keys: look up many keys at once and return their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.text_column import Keys, Places

# A wider table rejects more unknown keys immediately, but needs more memory and time to build.
SMALL, MOST = 17, 22


@dataclass(frozen=True, eq=False, slots=True)
class PairIndex:
    """Keys in ascending order, with the start of each group that shares its first bits.

    Examples
    --------
    >>> index = PairIndex.of(np.array([5 << 60, 2 << 60], dtype=np.uint64))
    >>> rows, places = index.find(np.array([1 << 60, 2 << 60, 5 << 60], dtype=np.uint64))
    >>> rows.tolist(), places.tolist()
    ([1, 2], [1, 0])
    """

    keys: Keys
    rows: Places
    begins: npt.NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys) -> PairIndex:
        """Build the index of a table's keys."""
        rows = np.argsort(keys)
        ascending = keys[rows]
        needed = len(keys).bit_length()
        bits = min(MOST, max(min(SMALL, needed + 4), needed + 2))
        counts = np.bincount((ascending >> np.uint64(64 - bits)).astype(np.int64), minlength=1 << bits)
        begins = np.zeros((1 << bits) + 1, dtype=np.int32)
        np.cumsum(counts, out=begins[1:])
        return cls(ascending, rows, begins)

    def find(self, keys: Keys) -> tuple[Places, Places]:
        """Return which of the keys are in the index, ascending, and the table row of each. If the table has a key
        several times, one of its rows is returned.
        """
        bits = (len(self.begins) - 1).bit_length() - 1
        head = (keys >> np.uint64(64 - bits)).astype(np.int64)
        place, end = self.begins[head], self.begins[1:][head]
        matches, where = [], []
        candidates = np.flatnonzero(place < end)
        at, end = place[candidates], end[candidates]
        # Few keys share their first bits, so this ends after two or three rounds.
        while len(candidates):
            same = self.keys[at] == keys[candidates]
            matches.append(candidates[same])
            where.append(at[same])
            at += 1
            more = ~same & (at < end)
            candidates, at, end = candidates[more], at[more], end[more]
        rows = np.concatenate([*matches, np.zeros(0, dtype=np.int64)])
        places = np.concatenate([*where, np.zeros(0, dtype=np.int64)]).astype(np.int64)
        order = np.argsort(rows)
        return rows[order], self.rows[places[order]]
