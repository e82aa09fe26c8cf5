"""How is a secret kept out of what others say, also where they repeat it in another form?"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

HIDDEN = "•••"


def masked(text: str, secret: str) -> str:
    """Return the text without the secret: as it is, escaped for an address, JSON or HTML, as Base64 or as hex.

    Base64 is found with any text before and after the secret, as in ``Basic`` log-ins.

    Examples
    --------
    >>> masked("no such key: abc%2Fdef", "abc/def")
    'no such key: •••'
    >>> masked("you sent 6162632f646566", "abc/def")
    'you sent •••'
    """
    return _forms(secret).sub(HIDDEN, text) if secret else text


@lru_cache(maxsize=64)
def _forms(secret: str) -> re.Pattern[str]:
    """One pattern for all forms, the longest first."""
    found = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret)}
    found |= {repr(secret)[1:-1], secret[::-1] if len(secret) > 7 else secret}
    exact = {re.escape(form) for form in found}
    raw = secret.encode("utf-8", "surrogatepass")
    anycase = {re.escape(form) for form in (quote(raw, safe=""), quote(raw), quote_plus(raw))}
    anycase |= {"".join(f"%{byte:02x}" for byte in raw), r"[\s:-]?".join(f"{byte:02x}" for byte in raw)}
    exact |= set(_base64(raw)) | {f"(?i:{form})" for form in anycase}
    return re.compile("|".join(sorted(exact, key=len, reverse=True)))


def _base64(raw: bytes) -> Iterator[str]:
    """The letters that depend on the secret alone, wherever it begins in a group of three bytes; in both alphabets."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        first = -(-before * 8 // 6)  # the first letter that holds nothing of what is before
        whole = (before + len(raw)) * 8 // 6  # the last one may hold something of what is behind
        sure = coded[first:whole]
        if len(sure) < 4:
            continue
        letters = "".join({"+": "[+-]", "/": "[/_]"}.get(letter, letter) for letter in sure)
        # The letters at its edges go too, with the padding, but no more of the words around it.
        yield f"{'[A-Za-z0-9+/_-]' if before else ''}{letters}(?:[A-Za-z0-9+/_-]?={{0,2}})"
