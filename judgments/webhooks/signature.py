"""Signature of webhook requests: HMAC-SHA256 over the time and the body, as docs/webhooks.md describes."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

HEADER = "Assay-Signature"


def signature(secrets: Iterable[str], timestamp: int, body: bytes) -> str:
    """Return the header's value with one signature for each secret.

    Examples
    --------
    >>> signature(["whsec_example"], 1767225600, b"{}")[:20]
    't=1767225600,v1=6bbc'
    """
    signed = b"%d." % timestamp + body
    each = (hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets)
    return ",".join([f"t={timestamp}", *(f"v1={digest}" for digest in each)])
