"""Fixtures of live engines: a server that misbehaves, engines that are closed, and this machine as an allowed host."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay.connectors import CONNECTORS
from assay.connectors.connector import Engine
from assay.network.allowed_addresses import Allowed
from tests.assay.connectors.bad_engine import BadEngine


@pytest.fixture
def bad_engine() -> Iterator[BadEngine]:
    """The server, ended with the test."""
    server = BadEngine()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.let_go.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def engines_allowed(settings: Any) -> None:
    """Connectors may ask engines on this machine."""
    settings.CONNECTOR_HOSTS, settings.CONNECTOR_NETWORKS = ["127.0.0.1", "localhost"], ["127.0.0.0/8", "::1/128"]


@pytest.fixture
def opened() -> Iterator[Callable[..., Engine]]:
    """``opened(name, settings, allowed)``: an engine that is closed with the test."""
    engines: list[Engine] = []

    def make(name: str, values: dict[str, str], allowed: Allowed, timeout: float = 5.0) -> Engine:
        engines.append(CONNECTORS[name].engine(values, allowed, timeout))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def here() -> Allowed:
    """An operator who allows this machine."""
    return Allowed.of(["127.0.0.1", "localhost"], ["127.0.0.0/8", "::1/128"])
