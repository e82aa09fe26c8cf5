"""Mask a secret in text from other systems, including its escaped and encoded forms."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from functools import lru_cache

HIDDEN = "•••"
# Start of an escape. Bounded, so that a text with many backslashes takes linear time.
SLASHES, AMP, ZEROS = r"\\{1,8}", "&(?:amp;){0,3}", "0{0,6}"


def masked(text: str, secret: str) -> str:
    """Mask a secret in a text: plain, escaped for URLs, JSON or HTML, in Base64 or in hex.

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
    """Return one pattern for all forms, the longest first."""
    raw = secret.encode("utf-8", "surrogatepass")
    exact = {"".join(map(_letter, secret)), f"(?i:{_hex(raw)})", *_base64(raw)}
    if len(secret) > 7:
        exact |= {f"(?i:{''.join(map(_letter, form))})" for form in (secret, secret[::-1])}
        exact |= {f"(?i:{re.escape(base64.b32encode(raw).decode().rstrip('='))}=*)", _numbers(raw)}
        exact |= set(_base64(base64.b64encode(raw))) | set(_base64(secret.encode("utf-16-le", "surrogatepass")))
    return re.compile("|".join(sorted(exact, key=len, reverse=True)))


def _letter(letter: str) -> str:
    """Return the pattern of a letter, plain or escaped for JSON, HTML, URLs or program strings, also repeatedly."""
    code, raw = ord(letter), letter.encode("utf-8", "surrogatepass")
    forms = [rf"\\{{0,8}}{re.escape(letter)}", f"{AMP}#{ZEROS}{code};", f"{AMP}#x{ZEROS}{code:x};"]
    forms += ["".join(f"%(?:25){{0,3}}{byte:02x}" for byte in raw), rf"{SLASHES}u{{{ZEROS}{code:x}}}"]
    forms.append("".join(f"{SLASHES}u{half.hex()}" for half in _halves(letter)))
    if code < 256:
        forms.append(f"{SLASHES}x{code:02x}")
    if html.escape(letter) != letter:
        forms.append(f"{AMP}{html.escape(letter)[1:]}")
    if letter == " ":
        forms.append(r"\+")
    # The letter itself comes last, because the `x` in `\\x78` is not a letter.
    return f"(?:(?i:{'|'.join(forms[1:])})|{forms[0]})"


def _halves(letter: str) -> Iterator[bytes]:
    """Return the UTF-16 code units of a letter, as JSON escapes them."""
    coded = letter.encode("utf-16-be", "surrogatepass")
    return (coded[at : at + 2] for at in range(0, len(coded), 2))


def _hex(raw: bytes) -> str:
    return r"[\s:,-]{0,2}".join(rf"(?:0x|{SLASHES}x)?{byte:02x}" for byte in raw)


def _numbers(raw: bytes) -> str:
    """Return the pattern of the bytes as numbers, as JavaScript prints a buffer."""
    return r"\b" + r"\s*,\s*".join(f"{byte}" for byte in raw) + r"\b"


def _base64(raw: bytes) -> Iterator[str]:
    """Yield patterns of the secret's Base64 letters at each offset within a group of three bytes, in both alphabets."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        first = -(-before * 8 // 6)  # the first letter without bits of the preceding text
        whole = (before + len(raw)) * 8 // 6  # the last letter may contain bits of the following text
        sure = coded[first:whole]
        if len(sure) < 4:
            continue
        letters = "".join({"+": "[+-]", "/": "[/_]"}.get(letter, letter) for letter in sure)
        # Also mask the letters at its edges and the padding, but no more of the surrounding text.
        yield f"{'[A-Za-z0-9+/_-]' if before else ''}{letters}(?:[A-Za-z0-9+/_-]?={{0,2}})"
