"""Shared fixture of pairwise comparison tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.judgments.machines.pairwise.example import better
from tests.model_server import ModelServer, serving


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that prefers the better document."""
    with serving(better) as running:
        yield running
