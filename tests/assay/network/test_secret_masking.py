"""Tests of secret masking: every encoded form of a secret is removed from a text."""

from __future__ import annotations

import base64
import html
import json
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from assay.network.masked_secrets import HIDDEN, masked

SECRET = 'sk-Ab/1+2=="<ü> x'
RAW = SECRET.encode()
FORMS = {
    "plain": SECRET,
    "json": json.dumps(SECRET)[1:-1],
    "html": html.escape(SECRET),
    "url": quote(SECRET),
    "url, all": quote(SECRET, safe=""),
    "url, lower case": quote(SECRET, safe="").lower(),
    "form": quote_plus(SECRET),
    "every byte": "".join(f"%{byte:02X}" for byte in RAW),
    "hex": RAW.hex(),
    "HEX": RAW.hex().upper(),
    "hex, spaced": RAW.hex(" "),
    "hex, colons": RAW.hex(":"),
    "backwards": SECRET[::-1],
    "lower case": SECRET.lower(),
    "upper case": SECRET.upper(),
    "json, twice": json.dumps(json.dumps(SECRET))[1:-1].strip('\\"'),
    "json, slashes too": json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    "json, some letters": SECRET.replace("=", "\\u003d").replace("+", "\\u002B").replace("ü", "\\u00FC"),
    "json, all letters": "".join(f"\\u{ord(letter):04x}" for letter in SECRET),
    "a program's string": "".join(f"\\x{byte:02x}" for byte in SECRET.encode("latin-1")),
    "html, by number": "".join(f"&#{ord(letter)};" for letter in SECRET),
    "html, by hex number": "".join(f"&#x{ord(letter):02X};" for letter in SECRET),
    "html, twice": html.escape(html.escape(SECRET)),
    "url, twice": quote(quote(SECRET, safe=""), safe=""),
    "a buffer": ", ".join(map(str, RAW)),
    "hex, of a program": ",".join(f"0x{byte:02x}" for byte in RAW),
    "base32": base64.b32encode(RAW).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    assert masked(f"you sent {FORMS[form]}, which is wrong", SECRET) == f"you sent {HIDDEN}, which is wrong"


@pytest.mark.parametrize("before", ["", "u", "us", "user:", "Bearer ", "x" * 10])
@pytest.mark.parametrize("after", ["", "\n", "ab", "abc"])
@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_wherever_it_begins(before: str, after: str, code: object) -> None:
    encoded = code(before.encode() + RAW + after.encode()).decode()  # type: ignore[operator]
    left = masked(f"you sent {encoded}", SECRET)
    assert HIDDEN in left
    for size in range(8, len(encoded)):
        # No run of letters is left from which more than the edges could be read.
        assert encoded[len(before) * 4 // 3 + 2 :][:size] not in left


def test_other_words_stay() -> None:
    assert masked("nothing of it", SECRET) == "nothing of it"
    assert masked("any text", "") == "any text"


@pytest.mark.parametrize("code", [lambda text: base64.b64encode(RAW), lambda text: SECRET.encode("utf-16-le")])
def test_base64_of_another_form(code: Callable[[str], bytes]) -> None:
    encoded = base64.b64encode(b"user:" + code(SECRET)).decode()
    left = masked(f"you sent {encoded}", SECRET)
    assert HIDDEN in left
    assert encoded[12:20] not in left


def test_a_letter_of_two_halves() -> None:
    assert masked("it was ab\\ud83d\\ude00cdefgh", "ab\U0001f600cdefgh") == f"it was {HIDDEN}"


@pytest.mark.parametrize("sign", ["\\", "%25", "&amp;", "&#0", "s", "0x", "7", " "])
def test_signs_without_end_take_no_time(sign: str) -> None:
    """A pattern that walks a text once for each of its signs took seconds for 20,000 backslashes."""
    before = time.process_time()
    masked(sign * (100_000 // len(sign)), SECRET)
    assert time.process_time() - before < 2
