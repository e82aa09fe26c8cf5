"""Newly chosen documents that duplicate an earlier pair of their query."""

from __future__ import annotations

import numpy as np

from judgments.core.texts import Places
from pooling.strategies.candidates import Candidates
from pooling.strategies.duplicates import Copies, Duplicates, find_copies


def late_copies(table: Candidates, earlier: Places, chosen: Places, how: Duplicates) -> Copies:
    """Find the chosen documents that may be judged as an earlier one.

    Parameters
    ----------
    table : Candidates
        The pairs.
    earlier : int64 array
        Rows that somebody judges or has judged: they stay what they are, however well another one ranks.
    chosen : int64 array
        Rows that were chosen now.
    how : Duplicates
        What counts as the same.

    Returns
    -------
    Copies
        Some of the chosen rows, each with the earlier row that it was compared with. What is like one of these alone is
        found when this is asked again without them.
    """
    found = find_copies(table, np.union1d(earlier, chosen), how)
    old, new = set(earlier.tolist()), set(chosen.tolist()) - set(earlier.tolist())
    late: dict[int, tuple[int, bool, float]] = {}
    rows = zip(found.rows.tolist(), found.of.tolist(), found.exact.tolist(), found.similarity.tolist(), strict=True)
    for row, of, exact, share in rows:
        if row in new and of in old:
            late.setdefault(row, (of, exact, share))
        elif row in old and of in new:
            late.setdefault(of, (row, exact, share))
    places = sorted(late)
    if not places:
        return Copies.none()
    of_, exact_, share_ = zip(*(late[row] for row in places), strict=True)
    whole = np.array(places, dtype=np.int64)
    return Copies(whole, np.array(of_, dtype=np.int64), np.array(exact_, dtype=np.bool_), np.array(share_))
