"""Disguised email addresses, such as "name AT host.example" and "name [at] host dot de"."""

from __future__ import annotations

import re

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
