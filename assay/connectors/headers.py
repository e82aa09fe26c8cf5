"""Request headers, with the secret inserted."""

from __future__ import annotations

import base64
import re

from assay.core.errors import NotValid

SECRET, ENCODED = "{secret}", "{secret|base64}"
NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers of the connection, which settings cannot change.
OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})


def headers_of(lines: str, secret: str) -> dict[str, str]:
    """Return the headers that these lines describe, with the secret inserted.

    Parameters
    ----------
    lines : str
        One ``Name: value`` per line. ``{secret}`` is the secret, ``{secret|base64}`` its Base64 form: with the secret
        ``user:password``, ``Authorization: Basic {secret|base64}`` logs in with a user name.
    secret : str
        May be empty: lines with a secret are then left out, so an engine without access control needs no other headers.

    Raises
    ------
    NotValid
        For a line that is not a header. The message never contains the secret.

    Examples
    --------
    >>> headers_of("X-Team: search\\nAuthorization: ApiKey {secret}", "abc")
    {'X-Team': 'search', 'Authorization': 'ApiKey abc'}
    """
    if not all(" " <= character <= "~" for character in secret):
        raise _wrong(
            "secret", "The secret contains a line break or a character that is not allowed in headers. Remove it."
        )
    encoded = base64.b64encode(secret.encode()).decode()
    headers = {}
    for number, line in enumerate(lines.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not NAME.fullmatch(name) or name.lower() in OURS or not all(" " <= one <= "~" for one in value):
            raise _wrong("headers", f"Line {number} of the headers is not a valid header. Write Name: value.")
        if not secret and (SECRET in value or ENCODED in value):
            continue
        headers[name] = value.replace(ENCODED, encoded).replace(SECRET, secret)
    return headers


def _wrong(setting: str, message: str) -> NotValid:
    return NotValid(message, {setting: message})
