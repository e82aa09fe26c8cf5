"""Is a secret kept out of a text in whatever form it stands there?"""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from judgments.network.masked import HIDDEN, masked

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
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    assert masked(f"you sent {FORMS[form]}, which is wrong", SECRET) == f"you sent {HIDDEN}, which is wrong"


@pytest.mark.parametrize("before", ["", "u", "us", "user:", "Bearer ", "x" * 10])
@pytest.mark.parametrize("after", ["", "\n", "ab", "abc"])
@pytest.mark.parametrize("code", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_wherever_it_begins(before: str, after: str, code: object) -> None:
    sent = code(before.encode() + RAW + after.encode()).decode()  # type: ignore[operator]
    left = masked(f"you sent {sent}", SECRET)
    assert HIDDEN in left
    for size in range(8, len(sent)):
        # No run of letters is left from which more than the edges could be read.
        assert sent[len(before) * 4 // 3 + 2 :][:size] not in left


def test_other_words_stay() -> None:
    assert masked("nothing of it", SECRET) == "nothing of it"
    assert masked("any text", "") == "any text"
