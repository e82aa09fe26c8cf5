"""Encryption of secrets that the server uses and no person can read.

The database stores them encrypted and authenticated (Fernet: AES-128-CBC with HMAC-SHA256). The keys come from
``CONNECTOR_KEYS`` or ``SECRET_KEY``, so a copy of the database alone reveals nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from assay.core.errors import Conflict


def seal(secrets: Mapping[str, str]) -> str:
    """Return the secrets encrypted; empty if there are none."""
    filled = {name: value for name, value in secrets.items() if value}
    return _keys().encrypt(json.dumps(filled).encode()).decode() if filled else ""


def unseal(sealed: str) -> dict[str, str]:
    """Decrypt the secrets."""
    if not sealed:
        return {}
    try:
        opened: dict[str, str] = json.loads(_keys().decrypt(sealed.encode()))
    except InvalidToken as error:
        raise Conflict(
            "The secret was encrypted with a key that this server no longer has. Enter the secret again."
        ) from error
    return opened


def _keys() -> MultiFernet:
    return MultiFernet([_key(word) for word in [*settings.CONNECTOR_KEYS, settings.SECRET_KEY]])


def _key(word: str) -> Fernet:
    # The settings are long random texts already; the label makes this key differ from keys for other purposes.
    digest = hashlib.sha256(b"assay connector secrets\0" + word.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
