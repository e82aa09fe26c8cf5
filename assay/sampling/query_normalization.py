"""Redaction and normalization of many texts at once.

The results equal those of `assay.core.redaction.redact` and `assay.sampling.row_counting.normalize` for each text, but
at a fraction of the cost: the texts are joined by line feeds, which neither normalization nor folding adds or removes.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from assay.core.redaction import SUSPECT, is_doubtful, marked_places, redact

# The white space of `str.split`, except the blank and the line feed.
_SPACES = "\t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_SPACES += "\u2028\u2029\u202f\u205f\u3000"
_BLANKS = re.compile("  +")


def redacted(texts: Sequence[str]) -> tuple[list[str], dict[int, tuple[str, ...]]]:
    """Remove personal data from each text.

    Examples
    --------
    >>> redacted(["tent", "mail to jo@example.org"])
    (['tent', 'mail to [e-mail]'], {1: ('e-mail',)})
    """
    shown, kinds = list(texts), {}
    joined = _joined(texts)
    for place in _places(texts, [match.start() for match in SUSPECT.finditer(joined)] + marked_places(joined)):
        shown[place], place_kinds = redact(texts[place])
        if place_kinds:
            kinds[place] = place_kinds
    return shown, kinds


def doubtful(texts: Sequence[str]) -> list[int]:
    """Return the positions of texts that may still contain personal data, for a person to check.

    Examples
    --------
    >>> doubtful(["tent", "jobs at example.com"])
    [1]
    """
    joined = _joined(texts)
    marked = [match.start() for match in re.finditer("@", joined)] + marked_places(joined)
    return [place for place in _places(texts, marked) if is_doubtful(texts[place])]


def _places(texts: Sequence[str], matches: list[int]) -> list[int]:
    """Return the positions of the joined texts that have a match."""
    begins = [0, *accumulate(len(text) + 1 for text in texts)] if matches else []
    return sorted({bisect_right(begins, at) - 1 for at in matches})


def normalized(texts: Sequence[str]) -> list[str]:
    """Return the normal form under which searches for each text are counted; empty for a blank text.

    Examples
    --------
    >>> normalized(["  Rain   JACKET ", "Straße", " "])
    ['rain jacket', 'strasse', '']
    """
    if not texts:
        return []
    joined = _joined(texts)
    if joined.isascii():
        joined = joined.lower()
    else:
        joined = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", joined).casefold())
    for space in _SPACES:
        if space in joined:
            joined = joined.replace(space, " ")
    if "  " in joined:
        joined = _BLANKS.sub(" ", joined)
    return joined.replace(" \n", "\n").replace("\n ", "\n").strip(" ").split("\n")


def _joined(texts: Sequence[str]) -> str:
    """Return all texts as one, one per line; a line feed within a text becomes a blank, as in its normal form."""
    joined = "\n".join(texts)
    if joined.count("\n") == len(texts) - 1:
        return joined
    return "\n".join(text.replace("\n", " ") for text in texts)
