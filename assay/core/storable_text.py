"""Replace characters that a database cannot store or UTF-8 cannot encode."""

from __future__ import annotations

import re

_NEITHER = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace NUL characters, which PostgreSQL cannot store, and lone surrogates, which UTF-8 cannot encode.

    JSON can spell both, and a model may write either of its own accord or because a document asked it to.

    Examples
    --------
    >>> storable("a tent"), storable("a\\0b\\ud83d")
    ('a tent', 'a\ufffdb\ufffd')
    """
    return _NEITHER.sub("\N{REPLACEMENT CHARACTER}", text)
