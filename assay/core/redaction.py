"""Redaction of queries: replace parts that could identify a person with placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from assay.core.disguised_addresses import is_marked, may_hold_address, put_for_addresses

KindOf = Callable[[str], "str | None"]

# Texts without an @ or four digits need no further checks, so most queries cost only this search. It does not span line
# feeds, so that many texts can be searched as one.
SUSPECT = re.compile(r"@|\d(?:[^\w\n]?\d){3}")
# It starts at a word boundary and does not backtrack before the @, so the time is linear in the text length.
_EMAIL = re.compile(r"(?<![^\s@<>()\[\],;:\"])[^\s@<>()\[\],;:\"]++@[^\s@<>()\[\],;:\"]+\.[^\W\d_]{2,}")
_IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,3})?\b")
_SOCIAL = re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)")
_ADDRESS = re.compile(r"(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.])")
_DIGITS = re.compile(r"(?:\+|\(\+?|(?<![\w.,]))\d(?:[ ()./\-]{0,2}\d){6,}(?!\w)")
_DATE = re.compile(r"\d{1,2}([./\-])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([./\-])\d{1,2}\2\d{1,2}")
EMAIL = "e-mail"
PUT_FOR_EMAIL = f"[{EMAIL}]"
CARD_DIGITS = range(13, 20)
PHONE_DIGITS = range(7, 16)
LONG_NUMBER = 9
ARTICLE_DIGITS = (8, 12, 13, 14)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace the parts of a text that could identify a person.

    Examples
    --------
    >>> redact("order of jo@example.org")
    ('order of [e-mail]', ('e-mail',))
    >>> redact("4111 1111 1111 1111"), redact("+49 30 901820"), redact("4006381333931")
    (('[card]', ('card',)), ('[phone]', ('phone',)), ('4006381333931', ()))
    """
    # Several texts are searched as one, one per line, so a line feed within a text counts as a blank.
    plain = text.replace("\n", " ")
    marked = is_marked(plain)
    if not marked and not SUSPECT.search(plain):
        return text, ()
    kinds: list[str] = []
    if (marked or "@" in text) and (
        without := put_for_addresses(_EMAIL.sub(PUT_FOR_EMAIL, text), PUT_FOR_EMAIL)
    ) != text:
        text, kinds = without, [EMAIL]
    for pattern, kind_of in _KINDS:
        text = pattern.sub(partial(_put, kind_of, kinds), text)
    return text, tuple(dict.fromkeys(kinds))


def is_doubtful(text: str) -> bool:
    """Return whether a redacted text may still contain an address, which a person must check.

    Examples
    --------
    >>> is_doubtful("jobs at example.com"), is_doubtful("jo@gmail"), is_doubtful("tent at home")
    (True, True, False)
    """
    return ("@" in text or is_marked(text.replace("\n", " "))) and may_hold_address(text)


def _put(kind_of: KindOf, kinds: list[str], match: re.Match[str]) -> str:
    kind = kind_of(match.group())
    if kind is None:
        return match.group()
    kinds.append(kind)
    return f"[{kind}]"


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdecimal())


def _bank_account(text: str) -> str | None:
    """Check an IBAN (ISO 13616): the first four letters move to the end; the remainder modulo 97 is 1."""
    plain = text.replace(" ", "").upper()
    if not 15 <= len(plain) <= 34 or not plain.isascii():
        return None
    return "bank account" if int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1 else None


def _number(text: str) -> str | None:
    digits = _digits(text)
    if _DATE.fullmatch(text):
        return None
    if digits == text and len(digits) in ARTICLE_DIGITS and _is_article(digits):
        return None
    if len(digits) in CARD_DIGITS and _is_card(digits):
        return "card"
    grouped = len(re.findall(r"[ ()./\-]+", text.strip())) > 0
    dialled = text[0] in "+(" or (digits[0] == "0" and (grouped or len(digits) >= LONG_NUMBER))
    if len(digits) in PHONE_DIGITS and (dialled or (grouped and len(digits) > LONG_NUMBER)):
        return "phone"
    return "number" if len(digits) >= LONG_NUMBER and (not grouped or len(digits) > LONG_NUMBER) else None


def _is_card(digits: str) -> bool:
    """Check a card number by Luhn's rule: the sum with every second digit from the right doubled ends in 0."""
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(twice - 9 * (twice > 9) for twice in doubled)) % 10 == 0


def _is_article(digits: str) -> bool:
    """Check a GS1 number: from the right, after the check digit, weights 3 and 1 alternate."""
    body = [int(digit) for digit in digits[-2::-1]]
    return (sum(body[::2]) * 3 + sum(body[1::2]) + int(digits[-1])) % 10 == 0


_KINDS: tuple[tuple[re.Pattern[str], KindOf], ...] = (
    (_EMAIL, lambda text: EMAIL),
    # Repeat for an address directly after another, which starts at a word boundary only now.
    (_EMAIL, lambda text: EMAIL),
    (_IBAN, _bank_account),
    (_SOCIAL, lambda text: "id number"),
    (_ADDRESS, lambda text: "ip address"),
    (_DIGITS, _number),
)
