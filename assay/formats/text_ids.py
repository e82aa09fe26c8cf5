"""Ids of documents that have a text but no id."""

from __future__ import annotations

import hashlib


def text_id(text: str) -> str:
    """Return the id of a document with a text but no id; the same text has the same id.

    Examples
    --------
    >>> text_id("a b") == text_id(" a  b"), len(text_id("a b"))
    (True, 21)
    """
    return "text-" + hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
