"""Fixtures of the client's tests: no stored logins, a real server, and a proxy that misbehaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.client.connection import Patience
from tests.faulty_proxy import FaultyProxy, faulty_proxy

PATIENT = Patience(attempts=4, first_wait=0.01, longest_wait=0.05, timeout=30.0)


@pytest.fixture(autouse=True)
def no_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the stored logins, and no keyring."""
    for name in ("ASSAY_SERVER", "ASSAY_TOKEN", "ASSAY_COLLECTION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return tmp_path / "config" / "assay" / "logins.json"


@pytest.fixture
def proxy(live_server: Any) -> Iterator[FaultyProxy]:
    with faulty_proxy(live_server.url) as running:
        yield running


@pytest.fixture
def token_of() -> Callable[[Any], str]:
    from judgments.members import tokens

    return lambda user: tokens.make_token(user, name="client", scopes=["write"])[1]
