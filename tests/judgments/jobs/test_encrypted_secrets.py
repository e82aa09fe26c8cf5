"""Tests of encrypted secrets: round trip, key rotation, lost keys, tampered text."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import Conflict
from judgments.jobs import encrypted_secrets

SECRETS = {"secret": "tell-nobody-4711 é"}


def test_secrets_round_trip() -> None:
    sealed = encrypted_secrets.seal(SECRETS)
    assert "nobody" not in sealed
    assert encrypted_secrets.unseal(sealed) == SECRETS
    assert encrypted_secrets.seal(SECRETS) != sealed  # equal secrets do not look equal
    assert (encrypted_secrets.seal({}), encrypted_secrets.seal({"secret": ""}), encrypted_secrets.unseal("")) == (
        "",
        "",
        {},
    )


def test_keys_can_be_changed(settings: Any) -> None:
    before = encrypted_secrets.seal(SECRETS)
    settings.CONNECTOR_KEYS = ["new-key"]
    assert encrypted_secrets.unseal(before) == SECRETS
    after = encrypted_secrets.seal(SECRETS)
    settings.CONNECTOR_KEYS = ["newest-key", "new-key"]
    assert encrypted_secrets.unseal(after) == SECRETS


def test_a_key_that_is_gone(settings: Any) -> None:
    settings.CONNECTOR_KEYS = ["lost-key"]
    sealed = encrypted_secrets.seal(SECRETS)
    settings.CONNECTOR_KEYS = []
    with pytest.raises(Conflict, match="Enter the secret again"):
        encrypted_secrets.unseal(sealed)


def test_a_changed_text_is_refused() -> None:
    sealed = encrypted_secrets.seal(SECRETS)
    middle = len(sealed) // 2
    with pytest.raises(Conflict):
        encrypted_secrets.unseal(sealed[:middle] + ("A" if sealed[middle] != "A" else "B") + sealed[middle + 1 :])
