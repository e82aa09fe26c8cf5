"""Tests of deliveries: the outbox, the requests, retries by a clock, held events, and cleanup."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from assay.core.errors import Conflict
from judgments.events.events import VISIBILITY, emit
from judgments.jobs import jobs
from judgments.models import CollectionEvent, Delivery, Job, Webhook
from judgments.webhooks import deliveries, sending, webhooks
from tests.judgments.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db
Add = Callable[..., tuple[Webhook, str]]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def happens(collection: Any, kind: str = "snapshot.frozen", **data: Any) -> CollectionEvent:
    return emit(kind, collection, text="Round 1 was closed.", page="/rounds/1/", data={"name": "Round 1", **data})


def waiting(collection: Any, kind: str = "snapshot.frozen") -> Delivery:
    happens(collection, kind)
    return Delivery.objects.select_related("event").latest("pk")


def test_a_request_is_signed_and_complete(add: Add, collection: Any, receiver: Receiver, settings: Any) -> None:
    settings.SITE_URL = "https://assay.example.com"
    _, secret = add()
    delivery = waiting(collection)
    assert deliveries.attempt(delivery, NOW)
    [(path, headers, body)] = receiver.requests
    assert path == "/hook"
    assert headers["Content-Type"] == "application/json"
    assert headers["Assay-Event"] == "snapshot.frozen"
    timestamp = int(NOW.timestamp())
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["Assay-Signature"] == f"t={timestamp},v1={digest}"
    sent = json.loads(body)
    assert sent == {
        "id": str(delivery.event.uuid),
        "event": "snapshot.frozen",
        "created_at": delivery.event.created_at.isoformat(),
        "collection": "shop",
        "data": {
            "name": "Round 1",
            "text": "Round 1 was closed.",
            "url": "https://assay.example.com/rounds/1/",
        },
    }
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.status) == ("delivered", 1, 200)
    assert (delivery.response, delivery.next_at, delivery.attempted_at) == ("thanks", None, NOW)


def test_only_active_webhooks_with_the_event_get_it(add: Add, collection: Any, lead: Any) -> None:
    wanted, _ = add()
    add(events=["labels.stale"])
    off, _ = add()
    webhooks.change(off, actor=lead, active=False)
    happens(collection)
    assert list(Delivery.objects.values_list("webhook", flat=True)) == [wanted.pk]


def test_an_event_that_is_rolled_back_has_no_delivery(add: Add, collection: Any) -> None:
    add()
    with transaction.atomic():
        happens(collection)
        transaction.set_rollback(True)
    assert not CollectionEvent.objects.exists()
    assert not Delivery.objects.exists()


def test_the_worker_sends_after_the_commit(
    add: Add, collection: Any, receiver: Receiver, django_capture_on_commit_callbacks: Any
) -> None:
    add()
    with django_capture_on_commit_callbacks(execute=True):
        happens(collection)
        happens(collection)
        assert receiver.requests == []
    assert len(receiver.requests) == 2
    assert Job.objects.get(kind="webhooks").state == Job.State.DONE


def test_retries_follow_the_schedule_and_end(add: Add, collection: Any, receiver: Receiver) -> None:
    add()
    delivery = waiting(collection)
    receiver.statuses = [500] * 7
    now, waits = NOW, []
    while delivery.state == Delivery.State.WAITING:
        assert not deliveries.attempt(delivery, now)
        delivery.refresh_from_db()
        if delivery.next_at is not None:
            waits.append((delivery.next_at - now).total_seconds() / 60)
            now = delivery.next_at
    assert waits == [1, 5, 30, 120, 360, 1440]
    assert (delivery.state, delivery.attempts, delivery.status) == ("failed", 7, 500)
    bodies = {body for _, _, body in receiver.requests}
    assert (len(receiver.requests), len(bodies)) == (7, 1)
    assert len({headers["Assay-Signature"] for _, headers, _ in receiver.requests}) == 7


def test_a_success_after_failures(add: Add, collection: Any, receiver: Receiver) -> None:
    hook, _ = add()
    delivery = waiting(collection)
    receiver.statuses = [503]
    deliveries.attempt(delivery, NOW)
    hook.refresh_from_db()
    assert hook.failing_since == NOW
    delivery.refresh_from_db()
    assert deliveries.attempt(delivery, NOW + timedelta(minutes=1))
    hook.refresh_from_db()
    assert hook.failing_since is None


def test_two_workers_send_once(add: Add, collection: Any, receiver: Receiver) -> None:
    add()
    delivery = waiting(collection)
    same = Delivery.objects.get(pk=delivery.pk)
    assert deliveries.attempt(delivery, NOW)
    assert not deliveries.attempt(same, NOW)
    assert len(receiver.requests) == 1


def test_an_attempt_whose_worker_died_is_due_again(add: Add, collection: Any) -> None:
    add()
    delivery = waiting(collection)
    # The state between the claim and the outcome.
    Delivery.objects.update(attempts=1, next_at=NOW + deliveries.LEASE)
    assert not deliveries.due(NOW).exists()
    assert deliveries.due(NOW + deliveries.LEASE).get() == delivery


def test_a_receiver_that_is_down_costs_one_attempt(add: Add, collection: Any, receiver: Receiver) -> None:
    hook, _ = add()
    for _ in range(3):
        happens(collection)
    receiver.statuses = [500] * 3
    job = jobs.start("webhooks", title="x", parameters={"webhook": str(hook.uuid)}, collection=collection, actor=None)
    deliveries.work_on(jobs.Work(job))
    assert len(receiver.requests) == 1
    assert not deliveries.unfinished(job)


def test_days_of_failures_switch_the_webhook_off(add: Add, collection: Any, receiver: Receiver) -> None:
    hook, _ = add()
    receiver.statuses = [500] * 3
    deliveries.attempt(waiting(collection), NOW)
    deliveries.attempt(waiting(collection), NOW + timedelta(days=2))
    hook.refresh_from_db()
    assert hook.active
    deliveries.attempt(waiting(collection), NOW + timedelta(days=3))
    hook.refresh_from_db()
    assert not hook.active
    assert "500" in hook.stopped_because
    assert CollectionEvent.objects.filter(kind="webhook.stopped").count() == 1
    assert not deliveries.due(NOW + timedelta(days=9)).exists()


def test_redirects_are_not_followed(add: Add, collection: Any, receiver: Receiver) -> None:
    add()
    receiver.statuses, receiver.location = [307], f"{receiver.url}/elsewhere"
    delivery = waiting(collection)
    assert not deliveries.attempt(delivery, NOW)
    delivery.refresh_from_db()
    assert (delivery.status, len(receiver.requests)) == (307, 1)


def test_a_large_response_is_not_read(add: Add, collection: Any, receiver: Receiver) -> None:
    add()
    receiver.response = b"<b>x\x00\n" * 1_000_000
    delivery = waiting(collection)
    assert deliveries.attempt(delivery, NOW)
    delivery.refresh_from_db()
    assert len(delivery.response) == sending.EXCERPT
    assert "\x00" not in delivery.response


def test_a_response_that_does_not_end(
    add: Add, collection: Any, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add()
    receiver.hangs = True
    monkeypatch.setattr(deliveries, "TIMEOUT", 0.3)
    delivery = waiting(collection)
    assert not deliveries.attempt(delivery, NOW)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.status) == ("waiting", None)
    assert delivery.error


def test_a_response_with_the_secret_is_masked(add: Add, collection: Any, receiver: Receiver) -> None:
    _, secret = add()
    receiver.response = f"your secret is {secret}".encode()
    delivery = waiting(collection)
    deliveries.attempt(delivery, NOW)
    delivery.refresh_from_db()
    assert secret not in delivery.response


def test_the_address_is_checked_at_each_delivery(
    add: Add, collection: Any, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that pointed to a public address when it was added may point into the server's network later."""
    add(address="https://hooks.example.com/x")
    asked = []

    def moved(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", port))]

    monkeypatch.setattr(socket, "getaddrinfo", moved)
    delivery = waiting(collection)
    assert not deliveries.attempt(delivery, NOW)
    delivery.refresh_from_db()
    assert asked == ["hooks.example.com"]
    assert "10.0.0.7" in delivery.error


def test_a_grant_that_was_revoked_stops_deliveries(add: Add, collection: Any, receiver: Receiver) -> None:
    add()
    collection.grants.filter(kind="webhook-host").delete()
    assert not deliveries.attempt(waiting(collection), NOW)
    assert receiver.requests == []


def test_an_event_waits_until_every_lead_may_see_its_result(
    add: Add, collection: Any, lead: Any, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, _ = add(events=["verdict.reached"])
    may_see: set[Any] = set()
    monkeypatch.setitem(VISIBILITY._members, "verdict.reached", lambda user, event: user in may_see)
    happens(collection, "verdict.reached")
    deliveries.release()
    held = Delivery.objects.get()
    assert held.state == "held"
    assert not deliveries.listed(hook).exists()
    assert not deliveries.due(timezone.now()).exists()
    may_see.add(lead)
    deliveries.release()
    assert deliveries.due(timezone.now()).get() == held
    may_see.clear()
    assert not deliveries.attempt(deliveries.due(timezone.now()).get())
    assert receiver.requests == []
    assert Delivery.objects.get().state == "held"


def test_a_test_is_sent_once_even_if_the_webhook_is_off(
    add: Add, collection: Any, lead: Any, receiver: Receiver
) -> None:
    hook, _ = add()
    hook = webhooks.change(hook, actor=lead, active=False)
    receiver.statuses = [404]
    made = deliveries.send_test(hook, actor=lead)
    assert (made.state, made.status, made.next_at) == ("failed", 404, None)
    assert deliveries.send_test(hook, actor=lead).state == "delivered"
    assert json.loads(receiver.requests[0][2])["event"] == "test"


def test_a_delivery_is_sent_again_with_the_same_id(add: Add, collection: Any, lead: Any, receiver: Receiver) -> None:
    hook, _ = add()
    delivery = waiting(collection)
    with pytest.raises(Conflict):
        deliveries.redeliver(delivery, actor=lead)
    deliveries.attempt(delivery, NOW)
    deliveries.redeliver(delivery, actor=lead)
    delivery.refresh_from_db()
    assert deliveries.attempt(delivery, NOW)
    first, second = (json.loads(body)["id"] for _, _, body in receiver.requests)
    assert first == second
    webhooks.change(hook, actor=lead, active=False)
    with pytest.raises(Conflict):
        deliveries.redeliver(Delivery.objects.get(), actor=lead)


def test_old_deliveries_are_deleted(add: Add, collection: Any) -> None:
    add()
    old, new = waiting(collection), waiting(collection)
    Delivery.objects.filter(pk=old.pk).update(created_at=NOW)
    assert deliveries.delete_old(NOW + timedelta(days=30)) == 0
    assert deliveries.delete_old(NOW + timedelta(days=30, seconds=1)) == 1
    assert Delivery.objects.get() == new
