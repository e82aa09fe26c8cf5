"""Replace characters that a database cannot store or UTF-8 cannot encode."""

from __future__ import annotations

import re

_NEITHER = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace NUL characters, which PostgreSQL cannot store, and lone surrogates, which UTF-8 cannot encode.

    JSON can contain both, and a model may write either, spontaneously or because a document asks for it.

    Examples
    --------
    >>> storable("a tent"), storable("a\\0b\\ud83d")
    ('a tent', 'a\ufffdb\ufffd')
    """
    return _NEITHER.sub("\N{REPLACEMENT CHARACTER}", text)
