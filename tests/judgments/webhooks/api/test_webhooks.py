"""Tests of the API of webhooks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from judgments.events.events import emit
from judgments.models import Webhook
from judgments.webhooks import deliveries
from tests.judgments.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db
PATH = "/api/v1/collections/shop/webhooks/"


def test_a_webhook_from_creation_to_deletion(
    api_of: Callable[..., Any], collection: Any, lead: Any, receiver: Receiver
) -> None:
    api = api_of(lead)
    made = api.post(PATH, {"address": receiver.url, "events": ["snapshot.frozen"]}, format="json")
    assert made.status_code == 201
    body = made.json()
    secret, one = body.pop("secret"), f"{PATH}{body['id']}/"
    assert secret.startswith("whsec_")
    assert body["active"] is True
    assert api.get(PATH).json()["results"] == [body]
    assert api.get(one).json() == body

    changed = api.patch(one, {"description": "chat", "active": False}, format="json")
    assert (changed.json()["description"], changed.json()["active"]) == ("chat", False)
    assert "secret" not in changed.json()
    rotated = api.patch(one, {"rotate_secret": True}, format="json").json()
    assert rotated["secret"] not in ("", secret)

    tested = api.post(f"{one}test/")
    assert (tested.status_code, tested.json()["state"], tested.json()["status"]) == (200, "delivered", 200)
    assert json.loads(receiver.requests[0][2])["id"] == tested.json()["event_id"]
    assert [row["id"] for row in api.get(f"{one}deliveries/").json()["results"]] == [tested.json()["id"]]

    assert api.delete(one).status_code == 204
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"address": "https://elsewhere.test/", "events": ["snapshot.frozen"]}, "address"),
        ({"address": "https://hooks.example.com/", "events": ["x"]}, "events"),
        ({"address": "https://hooks.example.com/", "events": []}, "events"),
        ({"events": ["snapshot.frozen"]}, "address"),
    ],
)
def test_a_refused_webhook_names_the_field(
    api_of: Callable[..., Any], collection: Any, lead: Any, body: dict[str, Any], field: str
) -> None:
    refused = api_of(lead).post(PATH, body, format="json")
    assert refused.status_code == 400
    assert list(refused.json()["error"]["fields"]) == [field]


def test_held_deliveries_are_not_listed(api_of: Callable[..., Any], add: Any, collection: Any, lead: Any) -> None:
    hook, _ = add()
    emit("snapshot.frozen", collection, text="x", page="", data={})
    api, path = api_of(lead), f"{PATH}{hook.uuid}/deliveries/"
    assert api.get(path).json()["count"] == 1
    hook.deliveries.update(state="held")
    assert api.get(path).json()["count"] == 0
    assert deliveries.listed(hook).count() == 0
