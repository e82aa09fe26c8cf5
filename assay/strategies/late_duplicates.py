"""Newly chosen documents that duplicate an earlier pair of their query."""

from __future__ import annotations

import numpy as np

from assay.core.text_column import Places
from assay.strategies.candidates import Candidates
from assay.strategies.duplicates import Copies, Duplicates, find_copies


def late_copies(table: Candidates, earlier: Places, chosen: Places, how: Duplicates) -> Copies:
    """Find the chosen documents that duplicate an earlier one."""
    copies = find_copies(table, np.union1d(earlier, chosen), how)
    old, new = set(earlier.tolist()), set(chosen.tolist()) - set(earlier.tolist())
    late: dict[int, tuple[int, bool, float]] = {}
    rows = zip(copies.rows.tolist(), copies.of.tolist(), copies.exact.tolist(), copies.similarity.tolist(), strict=True)
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
