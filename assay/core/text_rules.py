"""Rules for texts: singular and plural, what a database can store, and ids.

Ids are opaque strings: never trimmed, folded, normalized or turned into numbers; ``007`` is not ``7``.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata


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


MAX_LENGTH = 500

_ASCII_SPACES = frozenset(" \t\n\r\v\f")


def id_fault(text: str, *, spaces: bool = True) -> tuple[str, str] | None:
    """Return the code and the description of what is wrong with an id, or None.

    Examples
    --------
    >>> id_fault("doc-abc") is None
    True
    >>> id_fault("my doc", spaces=False)
    ('E15', 'contains white space')
    """
    if not text:
        return "E11", "is empty"
    if len(text) > MAX_LENGTH:
        return "E21", f"is {len(text)} characters long, more than {MAX_LENGTH}"
    if text.isascii() and text.isprintable():
        return ("E15", "contains white space") if not spaces and " " in text else None
    if not spaces and not _ASCII_SPACES.isdisjoint(text):
        return "E15", "contains white space"
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs"):
            return "E19", f"contains the control character U+{ord(character):04X}"
    return None


def is_unusual(text: str) -> bool:
    """Return whether an id has a space outside ASCII or is not in NFC, so that a look-alike may exist (W39).

    Examples
    --------
    >>> is_unusual("caf\\u00e9"), is_unusual("cafe\\u0301"), is_unusual("a\\u00a0b")
    (False, True, True)
    """
    if text.isascii():
        return False
    if not unicodedata.is_normalized("NFC", text):
        return True
    return any(unicodedata.category(character) == "Zs" for character in text if character != " ")


def text_id(text: str) -> str:
    """Return the id of a document with a text but no id; the same text has the same id.

    Examples
    --------
    >>> text_id("a b") == text_id(" a  b"), len(text_id("a b"))
    (True, 21)
    """
    return "text-" + hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
