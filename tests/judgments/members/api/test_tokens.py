"""API tests of tokens: creation, scopes, revocation and the limits of a leaked token."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from rest_framework.test import APIClient

from judgments.models import ApiToken

pytestmark = pytest.mark.django_db
TOKENS = "/api/v1/tokens/"
REQUEST = {"name": "nightly build", "scopes": ["read"]}


def basic(name: str, password: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION="Basic " + base64.b64encode(f"{name}:{password}".encode()).decode())
    return client


def test_a_basic_log_in_gets_a_token_that_opens_the_api(lead: Any) -> None:
    made = basic(lead.username, "pass").post(TOKENS, REQUEST, format="json")
    assert (made.status_code, made["Cache-Control"]) == (201, "no-store")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {made.json()['token']}")
    assert client.get("/api/v1/collections/").status_code == 200
    assert client.post("/api/v1/collections/", {"slug": "x", "name": "X"}, format="json").status_code == 403


def test_a_session_gets_one_with_its_csrf_token_only(lead: Any) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(lead)
    assert client.post(TOKENS, REQUEST, format="json").status_code == 403
    client.handler.enforce_csrf_checks = False
    assert client.post(TOKENS, REQUEST, format="json").status_code == 201


def test_the_text_is_shown_once(lead: Any, client_of: Any) -> None:
    text = client_of(lead).post(TOKENS, REQUEST, content_type="application/json").json()["token"]
    listed = client_of(lead).get(TOKENS)
    assert listed.json()["results"][0]["name"] == "nightly build"
    assert text not in listed.content.decode()
    assert not ApiToken.objects.filter(digest=text).exists()


def test_a_token_makes_no_token(lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    assert [api.post(TOKENS, REQUEST, format="json").status_code, api.get(TOKENS).status_code] == [401, 401]


def test_a_revoked_token_opens_nothing(lead: Any, api_of: Any, client_of: Any) -> None:
    api = api_of(lead)
    token = ApiToken.objects.get()
    assert client_of(lead).delete(f"{TOKENS}{token.uuid}/").status_code == 204
    assert api.get("/api/v1/collections/").status_code == 401


@pytest.mark.parametrize("body", [{}, {"name": "x"}, {"name": "x", "scopes": []}, {"name": "x", "scopes": ["all"]}])
def test_a_token_needs_a_name_and_scopes(lead: Any, client_of: Any, body: Any) -> None:
    response = client_of(lead).post(TOKENS, body, content_type="application/json")
    assert (response.status_code, "scopes" in response.json()["error"]["fields"]) == (400, True)


def test_too_many_guesses_get_a_retry_time(lead: Any) -> None:
    answers = [basic(lead.username, "wrong").post(TOKENS, REQUEST, format="json") for _ in range(12)]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["error"]["code"] == "too_many"
    assert int(refused["Retry-After"]) > 0


@pytest.mark.parametrize("header", ["Bearer", "Bearer nothing", "Bearer \u00e9", "bearer assay_x"])
def test_a_bearer_that_is_none(db: None, header: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)
    assert client.get("/api/v1/collections/").status_code == 401


@pytest.mark.parametrize(("name", "password"), [("le\0na", "pass"), ("lena", "pa\0ss")])
def test_a_nul_in_a_basic_log_in_is_a_wrong_one(lead: Any, name: str, password: str) -> None:
    assert basic(name, password).post(TOKENS, REQUEST, format="json").status_code == 401
