"""Format numbers with their nouns, in the singular or the plural."""

from __future__ import annotations


def amount(number: int, one: str, several: str = "") -> str:
    """Return a number with thousands separators and its noun; the default plural adds an s.

    Examples
    --------
    >>> amount(1, "pair"), amount(1240, "pair"), amount(0, "query", "queries")
    ('1 pair', '1,240 pairs', '0 queries')
    """
    return f"{number:,} {agree(number, one, several or one + 's')}"


def agree(number: int, one: str, several: str) -> str:
    """Return the singular or plural form that matches a number, such as a verb.

    Examples
    --------
    >>> [f"{number} of {amount(3, 'pair')} {agree(number, 'is', 'are')} open" for number in (1, 2)]
    ['1 of 3 pairs is open', '2 of 3 pairs are open']
    """
    return one if number == 1 else several
