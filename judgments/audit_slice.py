"""Which pairs do people judge whatever a machine says, so that what it says can be held against them?

The slice is drawn from all pairs, unanimous ones too. A pair's place in the draw hangs on the seed and on what the pair
is, not on its key: the draw can be repeated anywhere, and a wider slice holds every narrower one.
"""

from __future__ import annotations

import hashlib

from judgments.models import Round


def drawn(seed: int, query_id: str, doc_id: str) -> float:
    """Where a pair stands in the draw, from 0 up to 1: it is in a slice that is wider.

    Examples
    --------
    >>> 0 <= drawn(1, "q1", "d1") < 1, drawn(1, "a", "bc") == drawn(1, "ab", "c")
    (True, False)
    """
    digest = hashlib.sha256(f"audit {seed}\0{query_id}\0{doc_id}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def slice_of(round_: Round, seed: int, share: float) -> set[int]:
    """The keys of the pairs in the slice; each was in it with probability `share`."""
    rows = round_.pairs.values_list("pk", "query__query_id", "document__doc_id")
    return {pk for pk, query_id, doc_id in rows if drawn(seed, query_id, doc_id) < share}
