"""How is a number said with what it counts?"""

from __future__ import annotations


def amount(number: int, one: str, several: str = "") -> str:
    """Return a number with thousands separators and its noun; by default several are called with an s.

    Examples
    --------
    >>> amount(1, "pair"), amount(1240, "pair"), amount(0, "query", "queries")
    ('1 pair', '1,240 pairs', '0 queries')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
