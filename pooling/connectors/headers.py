"""Request headers, with the secret inserted."""

from __future__ import annotations

import base64
import re

from judgments.core.errors import NotValid

SECRET, ENCODED = "{secret}", "{secret|base64}"
NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# These belong to the connection, not to whoever writes the settings.
OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})


def headers_of(lines: str, secret: str) -> dict[str, str]:
    """Return the headers that these lines describe, the secret put in.

    Parameters
    ----------
    lines : str
        ``Name: value``, one on each line. ``{secret}`` is the secret, ``{secret|base64}`` its Base64 form: with the
        secret ``user:password``, ``Authorization: Basic {secret|base64}`` logs in by name.
    secret : str
        May be empty: lines that want a secret are then left out, so that an open engine needs no other lines.

    Raises
    ------
    NotValid
        For a line that is no header. The text never holds the secret.

    Examples
    --------
    >>> headers_of("X-Team: search\\nAuthorization: ApiKey {secret}", "abc")
    {'X-Team': 'search', 'Authorization': 'ApiKey abc'}
    """
    if not all(" " <= character <= "~" for character in secret):
        raise _wrong("secret", "the secret has a line break or a character that no header can carry")
    encoded = base64.b64encode(secret.encode()).decode()
    found = {}
    for number, line in enumerate(lines.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not NAME.fullmatch(name) or name.lower() in OURS or not all(" " <= one <= "~" for one in value):
            raise _wrong("headers", f"line {number} of the headers is no header that can be set; write Name: value")
        if not secret and (SECRET in value or ENCODED in value):
            continue
        found[name] = value.replace(ENCODED, encoded).replace(SECRET, secret)
    return found


def _wrong(setting: str, message: str) -> NotValid:
    return NotValid(message, {setting: message})
