"""Redaction of queries: replace parts that could identify a person with placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

# Endings allowed after a spelled-out dot or a blank; after a plain dot, any word of letters is an ending.
_ENDINGS = (
    "com|net|org|info|biz|edu|gov|mil|eu|example|test|io|me|co|ai|app|dev|de|at|ch|uk|ie|fr|be|nl|lu|es|pt|it|gr|pl|cz|sk|hu|"
    "ro|bg|dk|se|no|fi|ee|lv|lt|ru|ua|tr|il|us|ca|mx|br|ar|cl|au|nz|jp|cn|kr|tw|hk|sg|in|za|online|shop|email"
)
_MAIL_HOSTS = (
    "gmail|googlemail|hotmail|outlook|yahoo|ymail|icloud|proton|protonmail|gmx|web|aol|live|msn|mail|yandex|qq|163|freenet|"
    "t-online|posteo|orange|wanadoo|laposte|libero|virgilio|seznam|wp|naver|fastmail|tutanota"
)
_WORDS_FOR_AT = "arroba|arobase|chiocciola|klammeraffe|apenstaartje|snabel-?a"
_WORDS_FOR_DOT = "dot|punkt|punto|point|ponto|punt"

# It starts at a word boundary and does not backtrack, so the time is linear in the text length.
_NAME = r"(?<![\w.+\-])[^\W_]++(?:[._+\-]++[^\W_]++)*+"
# "_at_" and "nameAThost" are adjacent to the name, which must not consume them.
_NAME_IN_FRONT = r"(?<![\w.+\-])[^\W_]+?(?:[.+\-][^\W_]+?)*?"
_LABEL = r"[^\W_]{1,63}+(?:-{1,8}+[^\W_]{1,63}+){0,8}+"
_SIGN = r"(?:@|\uff20|\ufe6b|&#64;|&commat;|%40)"
_BRACKETED_AT = r"[\[({<]\s*(?:at|\u00e4t|a|@)\s*[\])}>]"
_BRACKETED_DOT = rf"[\[({{<]\s*(?:{_WORDS_FOR_DOT}|\.|,)\s*[\])}}>]"
_PLAIN_DOT = r"[.\uff0e\u3002]"
_DOT_IN_WORDS = (
    rf"(?:\s*{_BRACKETED_DOT}\s*|\s+(?:{_WORDS_FOR_DOT})\s+|\s*{_PLAIN_DOT}\s+|\s+{_PLAIN_DOT}\s*|_dot_|-dot-)"
)
_ANY_DOT = rf"(?:{_PLAIN_DOT}|{_DOT_IN_WORDS})"
_KNOWN_END = rf"(?:{_ENDINGS})(?!\w)"
_ANY_END = r"[^\W\d_]{2,24}(?!\w)"
# A host has a few labels; the last label determines whether it is a host.
_PLAIN_HOST = rf"{_LABEL}(?:{_PLAIN_DOT}{_LABEL}){{0,4}}{_PLAIN_DOT}{_ANY_END}"
_SPELLED_HOST = rf"{_LABEL}(?:{_ANY_DOT}{_LABEL}){{0,4}}{_DOT_IN_WORDS}{_KNOWN_END}"
_HOST = rf"(?:{_PLAIN_HOST}|{_LABEL}(?:{_ANY_DOT}{_LABEL}){{0,4}}\s*{_BRACKETED_DOT}\s*{_ANY_END}|{_SPELLED_HOST})"

_SURE = (
    # These forms are used only for addresses.
    rf"(?i:{_NAME}\s*(?:{_BRACKETED_AT}|{_SIGN})\s*{_HOST})",
    rf"(?i:{_NAME}\s+(?:{_WORDS_FOR_AT})\s+{_HOST})",
    rf"(?i:{_NAME_IN_FRONT}_at_{_HOST})",
    rf"(?i:{_NAME_IN_FRONT}-at-[^\W_]+(?:-dot-[^\W_]+){{0,3}}-dot-{_KNOWN_END})",
    rf"{_NAME_IN_FRONT}(?<=[a-z\d])AT(?=[a-z\d])(?:{_PLAIN_HOST}|[a-z\d\-]+?DOT(?:{_ENDINGS})(?!\w))",
    # Both in words.
    rf"(?i:{_NAME}\s+at\s+{_SPELLED_HOST})",
    # A name in the form of an account: jo.doe at example.org.
    rf"(?i:(?<![\w.+\-])[^\W\d_]++[._+][^\W_]++(?:[._+\-][^\W_]++)*+\s+at\s+{_PLAIN_HOST})",
    # A blank or a comma instead of the dot.
    rf"(?i:{_NAME}{_SIGN}{_LABEL}(?:,\s?{_KNOWN_END}|\s(?:com|net|org)(?!\w)))",
)
SURE = re.compile("|".join(_SURE))
# In capitals among lower-case letters: "name AT host.example".
_SHOUTED = re.compile(rf"{_NAME}\s+AT\s+{_PLAIN_HOST}")
# "jobs at example.com" may be a search for jobs or an address.
LIKELY = re.compile(
    rf"(?i:{_NAME}\s+at\s+(?:{_PLAIN_HOST}|(?:{_MAIL_HOSTS})(?:\s+(?:{_ENDINGS}))?(?!\w))"
    rf"|{_NAME}\s*{_SIGN}\s*(?:{_MAIL_HOSTS})(?!\w))"
)
# Text that every such address contains in lower case, or in capitals within a word; most texts contain none of it.
MARKS = (
    " at ",
    *(opening + gap + "at" for opening in "[({<" for gap in ("", " ")),
    *(opening + gap + "\u00e4t" for opening in "[({<" for gap in ("", " ")),
    "(a)",
    "[a]",
    "{a}",
    "<a>",
    "_at_",
    "-at-",
    "\uff20",
    "\ufe6b",
    "&#64;",
    "&commat;",
    "%40",
    *(f" {word}" for word in ("arroba", "arobase", "chiocciola", "klammeraffe", "apenstaartje", "snabel")),
)
CAPITALS = re.compile(r"AT[a-z\d]")


def is_marked(text: str) -> bool:
    """Return whether a text contains a sign of a disguised address."""
    lowered = text.lower()
    return any(mark in lowered for mark in MARKS) or CAPITALS.search(text) is not None


def marked_places(joined: str) -> list[int]:
    """Return the positions of such signs in many joined texts."""
    # The only letter that becomes two in lower case would shift all later positions.
    lowered = joined.replace("\u0130", "i").lower()
    places = [match.start() for mark in MARKS for match in re.finditer(re.escape(mark), lowered)]
    return places + [match.start() for match in CAPITALS.finditer(joined)]


def put_for_addresses(text: str, replacement: str) -> str:
    """Replace each certain email address in a text.

    Examples
    --------
    >>> put_for_addresses("mail to jo AT host.example", "[e-mail]")
    'mail to [e-mail]'
    >>> put_for_addresses("jo [at] host dot de", "[e-mail]"), put_for_addresses("jobs at host.example", "[e-mail]")
    ('[e-mail]', 'jobs at host.example')
    """
    text = SURE.sub(replacement, text)
    return text if text.isupper() else _SHOUTED.sub(replacement, text)


def may_hold_address(text: str) -> bool:
    """Return whether the rest of a text may contain an address, which a person must check.

    Examples
    --------
    >>> may_hold_address("jo at host.example"), may_hold_address("tent at home")
    (True, False)
    """
    return LIKELY.search(text) is not None


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
