"""Format numbers with their nouns, in the singular or the plural."""

from __future__ import annotations


def amount(number: int, one: str, several: str = "") -> str:
    """Return a number with thousands separators and its noun; by default several are called with an s.

    Examples
    --------
    >>> amount(1, "pair"), amount(1240, "pair"), amount(0, "query", "queries")
    ('1 pair', '1,240 pairs', '0 queries')
    """
    return f"{number:,} {agree(number, one, several or one + 's')}"


def agree(number: int, one: str, several: str) -> str:
    """Return the word that goes with a number, such as the verb of a sentence.

    Examples
    --------
    >>> [f"{number} of {amount(3, 'pair')} {agree(number, 'is', 'are')} open" for number in (1, 2)]
    ['1 of 3 pairs is open', '2 of 3 pairs are open']
    """
    return one if number == 1 else several
