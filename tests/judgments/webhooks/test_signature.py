"""Tests of the signature, against the standard library and a value computed by openssl."""

from __future__ import annotations

import hashlib
import hmac

from judgments.webhooks.deliveries import signature


def test_golden_value() -> None:
    # printf '1767225600.{"id": "1"}' | openssl dgst -sha256 -hmac whsec_test
    golden = "01e1f023fdc2ddedb854da0dc08b9f0d046945d6133a423dbe174c3e1c55a48b"
    assert signature(["whsec_test"], 1767225600, b'{"id": "1"}') == f"t=1767225600,v1={golden}"


def test_one_signature_for_each_secret() -> None:
    body = "{“ü”}".encode()
    digests = [hmac.digest(secret.encode(), b"7." + body, hashlib.sha256).hex() for secret in ("new", "old")]
    assert signature(["new", "old"], 7, body) == f"t=7,v1={digests[0]},v1={digests[1]}"
