"""Tests of the webhook pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from judgments.events.events import emit
from judgments.jobs import encrypted_secrets
from judgments.models import Delivery, Webhook
from judgments.webhooks import deliveries
from tests.judgments.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db
PATH = "/c/shop/webhooks/"


@pytest.fixture
def visitor(client_of: Callable[[Any], Client], lead: Any) -> Client:
    return client_of(lead)


def test_empty(visitor: Client, collection: Any) -> None:
    answer = visitor.get(PATH)
    assert answer.context["listing"].nothing
    assert f'href="{PATH}new/"' in answer.content.decode()


def test_the_secret_is_shown_once(visitor: Client, collection: Any, receiver: Receiver) -> None:
    form = {"address": receiver.url, "events": ["snapshot.frozen", "gate.failed"], "description": "chat"}
    answer = visitor.post(f"{PATH}new/", form)
    hook = Webhook.objects.get()
    secret = encrypted_secrets.unseal(hook.sealed)["secret"]
    assert secret in answer.content.decode()
    for path in (PATH, f"{PATH}{hook.uuid}/", f"{PATH}{hook.uuid}/change/"):
        assert secret not in visitor.get(path).content.decode()
    rotated = visitor.post(f"{PATH}{hook.uuid}/rotate/").content.decode()
    hook.refresh_from_db()
    assert encrypted_secrets.unseal(hook.sealed)["secret"] in rotated


def test_a_refused_address_is_shown_at_its_field(visitor: Client, collection: Any) -> None:
    answer = visitor.post(f"{PATH}new/", {"address": "http://10.0.0.1/", "events": ["snapshot.frozen"]})
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == ["address"]


def test_a_response_is_escaped(visitor: Client, add: Any, collection: Any, receiver: Receiver) -> None:
    hook, _ = add()
    receiver.response = b"<script>alert(1)</script>"
    visitor.post(f"{PATH}{hook.uuid}/test/")
    page = visitor.get(f"{PATH}{hook.uuid}/").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_deliveries_are_filtered_and_redelivered(
    visitor: Client, add: Any, collection: Any, receiver: Receiver
) -> None:
    hook, _ = add()
    emit("snapshot.frozen", collection, text="x", page="", data={})
    delivery = Delivery.objects.get()
    path = f"{PATH}{hook.uuid}/"
    again = f"{path}deliveries/{delivery.uuid}/redeliver/"
    assert again not in visitor.get(path).content.decode()
    deliveries.attempt(delivery)
    assert again in visitor.get(path).content.decode()
    assert visitor.get(path, {"state": "failed"}).context["listing"].count == 0
    visitor.post(again)
    delivery.refresh_from_db()
    assert delivery.state == "waiting"


def test_switch_change_and_delete(visitor: Client, add: Any, collection: Any, receiver: Receiver) -> None:
    hook, _ = add()
    path = f"{PATH}{hook.uuid}/"
    name = re.search(r'name="(on|off)"', visitor.get(path).content.decode())
    assert name is not None
    visitor.post(f"{path}switch/", {name[1]: "1"})
    hook.refresh_from_db()
    assert not hook.active
    visitor.post(f"{path}change/", {"address": receiver.url, "events": ["labels.stale"]})
    hook.refresh_from_db()
    assert hook.events == ["labels.stale"]
    assert visitor.get(f"{path}remove/").status_code == 200
    visitor.post(f"{path}remove/")
    assert not Webhook.objects.exists()
