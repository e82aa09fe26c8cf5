"""Fixtures of the webhook tests: a receiver, and webhooks that reach it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from judgments.models import Webhook
from judgments.webhooks import webhooks
from tests.judgments.webhooks.receiver import Receiver, receiving


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.WEBHOOK_HOSTS, settings.WEBHOOK_NETWORKS = ["127.0.0.1", "localhost", "*.example.com"], ["127.0.0.0/8"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def add(collection: Any, lead: Any, receiver: Receiver) -> Callable[..., tuple[Webhook, str]]:
    """Add a webhook to the receiver; answers it with its secret."""

    def make(**given: Any) -> tuple[Webhook, str]:
        fields = {"address": receiver.url, "events": ["snapshot.frozen"], **given}
        return webhooks.add(collection, actor=lead, **fields)

    return make
