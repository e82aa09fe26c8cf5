"""Content hash of a document, to detect changes since it was judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def content_hash(title: str, text: str, url: str, image: str, fields: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a rater sees, independent of the order of the fields.

    Examples
    --------
    >>> content_hash("a", "", "", "", {"x": 1, "y": 2}) == content_hash("a", "", "", "", {"y": 2, "x": 1})
    True
    """
    content = json.dumps([title, text, url, image, fields], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
