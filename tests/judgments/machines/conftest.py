"""Shared fixture of the tests of machines."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import Provider
from tests.judgments.machines.model_replies import provider_at
from tests.model_server import ModelServer


@pytest.fixture
def provider(server: ModelServer, collection: Any, lead: Any) -> Provider:
    """The account of the test's model server."""
    return provider_at(server.url, collection, lead)
