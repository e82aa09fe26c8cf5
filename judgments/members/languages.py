"""Language tags of raters and queries, and whether a rater's languages cover a query's.

Languages are tags such as ``de`` or ``pt-BR``, which people enter; they are never inferred from text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.core.errors import NotValid

LONGEST = 35
MOST = 30
TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


def covers(read: str, wanted: str) -> bool:
    """Return whether a reader of one language reads the other: ``pt`` covers ``pt-BR``, but not the reverse."""
    return wanted.lower() == read.lower() or wanted.lower().startswith(f"{read.lower()}-")


def tags(texts: Iterable[str]) -> list[str]:
    """Return the language tags without whitespace and duplicates, in the given order."""
    unique = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    wrong = [text for text in unique if len(text) > LONGEST or not TAG.fullmatch(text)]
    if wrong or len(unique) > MOST:
        hint = f"Enter at most {MOST} language tags such as de or pt-BR."
        raise NotValid(
            f"The languages are not valid: {', '.join(wrong) or f'{len(unique)} tags'}. {hint}", {"languages": hint}
        )
    return unique
