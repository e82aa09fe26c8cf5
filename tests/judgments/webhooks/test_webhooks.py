"""Tests of webhooks: checked addresses, protected secrets, limits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from assay.core.errors import Conflict, NotValid
from judgments.jobs import encrypted_secrets
from judgments.models import AuditRow, Webhook
from judgments.webhooks import webhooks

pytestmark = pytest.mark.django_db
Add = Callable[..., tuple[Webhook, str]]


def test_a_secret_is_encrypted_and_nowhere_else(add: Add) -> None:
    hook, secret = add()
    assert secret not in repr(Webhook.objects.values().get())
    assert encrypted_secrets.unseal(hook.sealed) == {"secret": secret}
    assert secret not in repr(list(AuditRow.objects.values()))


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example.com/x",
        "https://elsewhere.test/x",
        "https://user:pass@hooks.example.com/",
        "https://hooks.example.com/#part",
        "ftp://hooks.example.com/",
        "hooks.example.com",
        "https://hooks.example.com/" + "x" * 500,
        "",
    ],
)
def test_an_address_that_is_not_allowed(add: Add, address: str) -> None:
    with pytest.raises(NotValid) as error:
        add(address=address)
    assert set(error.value.fields) == {"address"}
    assert not Webhook.objects.exists()


def test_a_host_must_be_granted_to_the_collection(add: Add, collection: Any) -> None:
    collection.grants.filter(kind="webhook-host").delete()
    with pytest.raises(NotValid):
        add(address="https://hooks.example.com/")
    collection.grants.create(kind="webhook-host", value="hooks.example.com")
    assert add(address="https://hooks.example.com/")[0].pk
    with pytest.raises(NotValid):
        add(address="https://other.example.com/")


@pytest.mark.parametrize("events", [[], ["snapshot.frozen", "work.waiting"], ["x"]])
def test_events_are_known(add: Add, events: list[str]) -> None:
    with pytest.raises(NotValid) as error:
        add(events=events)
    assert set(error.value.fields) == {"events"}


def test_at_most_twenty(add: Add) -> None:
    for _ in range(20):
        add()
    with pytest.raises(Conflict):
        add()


def test_old_secret_signs_for_a_day_after_a_rotation(add: Add, lead: Any) -> None:
    hook, first = add()
    now = timezone.now()
    second = webhooks.rotate(hook, actor=lead, now=now)
    hook.refresh_from_db()
    assert webhooks.secrets_of(hook, now) == [second, first]
    assert webhooks.secrets_of(hook, now + timedelta(hours=24)) == [second]
    third = webhooks.rotate(hook, actor=lead, now=now)
    hook.refresh_from_db()
    assert webhooks.secrets_of(hook, now) == [third, second]


def test_a_secret_whose_key_is_lost_can_be_rotated(add: Add, lead: Any, settings: Any) -> None:
    hook, _ = add()
    settings.CONNECTOR_KEYS, settings.SECRET_KEY = [], "another key"
    secret = webhooks.rotate(hook, actor=lead)
    hook.refresh_from_db()
    assert webhooks.secrets_of(hook, timezone.now()) == [secret]


def test_paths_of_addresses_are_not_in_the_audit_trail(add: Add, lead: Any) -> None:
    """Engineers read it, and the path of a chat channel's address is a secret."""
    hook, _ = add(address="https://hooks.example.com/services/T0/B0/token")
    webhooks.change(hook, actor=lead, address="https://hooks.example.com/services/T0/B0/other")
    assert "services" not in repr(list(AuditRow.objects.values("sentence", "detail")))


def test_a_change_checks_the_address_and_keeps_the_rest(add: Add, lead: Any) -> None:
    hook, _ = add(description="chat")
    with pytest.raises(NotValid):
        webhooks.change(hook, actor=lead, address="https://elsewhere.test/")
    changed = webhooks.change(hook, actor=lead, events=["labels.stale", "snapshot.frozen"])
    assert (changed.description, changed.events) == ("chat", ["snapshot.frozen", "labels.stale"])


def test_switching_on_forgets_the_failures(add: Add, lead: Any) -> None:
    hook, _ = add()
    Webhook.objects.update(active=False, failing_since=timezone.now(), stopped_because="It failed.")
    changed = webhooks.change(hook, actor=lead, active=True)
    assert (changed.active, changed.failing_since, changed.stopped_because) == (True, None, "")
