"""Tests of idempotency keys: a repeated POST creates nothing again and gets the stored response."""

from __future__ import annotations

import uuid
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from judgments.jobs import jobs
from judgments.models import ApiToken, IdempotentRequest, Membership, QueryGroup
from judgments.web import idempotency
from tests.threads import at_once
from tests.world import World

pytestmark = pytest.mark.django_db
SHOP = "/api/v1/collections/shop/"
CHANGE = {"kind": "schema", "happened_at": "2026-01-02T03:04:05Z", "note": "stemmer"}


def send(client: Any, path: str = "declarations/", body: Any = CHANGE, key: str = "k1", **more: Any) -> Any:
    return client.post(SHOP + path, body, **({"format": "json"} | more), headers={"Idempotency-Key": key})


def test_a_repeated_request_gets_the_stored_response(collection: Any, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    first, again, other = send(api), send(api), send(api, key="k2")
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert (again["Idempotent-Replayed"], "Idempotent-Replayed" in first.headers) == ("true", False)
    assert other.json()["id"] != first.json()["id"]
    assert collection.declarations.count() == 2


def test_a_repeated_upload_stores_nothing_again(collection: Any, lead: Any, api_of: Any) -> None:
    api = api_of(lead)

    def upload(content: bytes) -> Any:
        return send(api, "runs/", {"file": SimpleUploadedFile("a.run", content), "name": "a"}, format="multipart")

    first, again = upload(b"q1 Q0 d1 1 2.0 x\n"), upload(b"q1 Q0 d1 1 2.0 x\n")
    assert (first.status_code, again.json(), collection.runs.count()) == (201, first.json(), 1)
    assert upload(b"q1 Q0 d2 1 2.0 x\n").json()["error"]["code"] == "idempotency_key_reused"


def test_a_response_without_a_body_is_repeated(world: World, lead: Any, api_of: Any) -> None:
    api, path, body = api_of(lead), "query-groups/proposals/", {"queries": ["q1", "q2"]}
    api.post(f"{SHOP}queries/", [{"query_id": "q2", "query": "rain jackets"}], format="json")
    first, again = send(api, path, body), send(api, path, body)
    assert (first.status_code, again.status_code, again.content) == (204, 204, b"")
    assert again["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    ("path", "body"),
    [("declarations/", {**CHANGE, "note": "other"}), ("query-groups/", CHANGE), ("declarations/?x=1", CHANGE)],
)
def test_a_key_belongs_to_one_request(collection: Any, lead: Any, api_of: Any, path: str, body: Any) -> None:
    api = api_of(lead)
    send(api)
    refused = send(api, path, body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "idempotency_key_reused")
    assert (collection.declarations.count(), QueryGroup.objects.count()) == (1, 0)


def test_a_key_belongs_to_one_user(collection: Any, lead: Any, engineer: Any, api_of: Any) -> None:
    Membership.objects.filter(user=engineer).update(role="lead")
    assert send(api_of(lead)).json()["id"] != send(api_of(engineer)).json()["id"]
    assert send(api_of(lead))["Idempotent-Replayed"] == "true"  # another token of the same user


def test_a_failed_request_can_be_repeated(collection: Any, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    assert send(api, body={}).status_code == 400
    assert send(api).status_code == 201


def test_a_former_member_gets_no_stored_response(collection: Any, lead: Any, engineer: Any, api_of: Any) -> None:
    Membership.objects.filter(user=engineer).update(role="lead")
    api = api_of(engineer)
    send(api)
    Membership.objects.filter(user=engineer).delete()
    assert send(api).status_code == 404


def test_a_request_in_progress_is_not_repeated(collection: Any, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    send(api)
    IdempotentRequest.objects.update(status=None, body=None)
    refused = send(api)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "idempotency_key_in_progress")
    IdempotentRequest.objects.update(created_at=timezone.now() - idempotency.ABANDONED - timedelta(seconds=1))
    assert send(api).status_code == 201
    assert collection.declarations.count() == 2


@pytest.mark.parametrize("path", ["/api/v1/tokens/", "/api/v1/collections/shop/invite-links/"])
def test_a_response_with_a_secret_is_not_stored(collection: Any, lead: Any, client_of: Any, path: str) -> None:
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    body = {"name": "build", "scopes": ["read"]} if "tokens" in path else {"days": 1}
    refused = client_of(lead).post(path, body, content_type="application/json", headers=headers)
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["Idempotency-Key"])
    assert (IdempotentRequest.objects.count(), ApiToken.objects.count(), collection.invite_links.count()) == (0, 0, 0)


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_an_invalid_key(collection: Any, lead: Any, api_of: Any, key: str) -> None:
    assert send(api_of(lead), key=key).status_code == 400
    assert collection.declarations.count() == 0


def test_a_large_response_is_not_stored(collection: Any, lead: Any, api_of: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(idempotency, "LARGEST_RESPONSE", 10)
    api = api_of(lead)
    assert send(api).status_code == 201
    again = send(api)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_response_not_stored")
    assert collection.declarations.count() == 1


def test_the_number_of_keys_is_limited(collection: Any, lead: Any, api_of: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(idempotency, "MOST_KEYS", 1)
    api = api_of(lead)
    assert [send(api).status_code, send(api, key="k2").status_code, send(api).status_code] == [201, 429, 201]


def test_keys_expire_after_a_day(collection: Any, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    send(api)
    send(api, key="k2")
    IdempotentRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert send(api).status_code == 201
    assert collection.declarations.count() == 3
    jobs.tick()
    assert IdempotentRequest.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_requests_one_creates(collection: Any, lead: Any, api_of: Any) -> None:
    clients = [api_of(lead) for _ in range(4)]
    statuses = [sent.status_code for sent in at_once(*(partial(send, client) for client in clients))]
    assert 201 in statuses
    assert set(statuses) <= {201, 409}
    assert collection.declarations.count() == 1
