"""Tests of encrypted secrets: round trip, key rotation, lost keys, tampered text."""

from __future__ import annotations

from typing import Any

import pytest

from judgments import sealing
from judgments.core.errors import Conflict

SECRETS = {"secret": "tell-nobody-4711 é"}


def test_there_and_back() -> None:
    sealed = sealing.seal(SECRETS)
    assert "nobody" not in sealed
    assert sealing.unseal(sealed) == SECRETS
    assert sealing.seal(SECRETS) != sealed  # equal secrets do not look equal
    assert (sealing.seal({}), sealing.seal({"secret": ""}), sealing.unseal("")) == ("", "", {})


def test_keys_can_be_changed(settings: Any) -> None:
    before = sealing.seal(SECRETS)
    settings.CONNECTOR_KEYS = ["new-key"]
    assert sealing.unseal(before) == SECRETS
    after = sealing.seal(SECRETS)
    settings.CONNECTOR_KEYS = ["newest-key", "new-key"]
    assert sealing.unseal(after) == SECRETS


def test_a_key_that_is_gone(settings: Any) -> None:
    settings.CONNECTOR_KEYS = ["lost-key"]
    sealed = sealing.seal(SECRETS)
    settings.CONNECTOR_KEYS = []
    with pytest.raises(Conflict, match="Give it again"):
        sealing.unseal(sealed)


def test_a_changed_text_is_refused() -> None:
    sealed = sealing.seal(SECRETS)
    middle = len(sealed) // 2
    with pytest.raises(Conflict):
        sealing.unseal(sealed[:middle] + ("A" if sealed[middle] != "A" else "B") + sealed[middle + 1 :])
