"""Tests of the token page: shown once, scopes, revocation, other people's tokens."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.members import tokens
from judgments.models import ApiToken

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(client_of, lead):
    client = client_of(lead)
    response = client.post(reverse("tokens"), {"name": "nightly build", "scopes": ["read", "rate"]})
    return client, response


def test_text_is_shown_once(made):
    client, response = made
    text = response.context["text"]
    assert text in response.content.decode()
    assert text not in client.get(reverse("tokens")).content.decode()
    assert "no-store" in response.headers["Cache-Control"]


def test_text_opens(made, lead):
    assert tokens.bearer(made[1].context["text"]).user == lead


def test_token_needs_name_and_scope(client_of, lead):
    response = client_of(lead).post(reverse("tokens"), {"name": ""})
    assert response.status_code == 422
    assert set(response.context["form"].errors) == {"name", "scopes"}


def test_revoked_token_opens_nothing(made):
    client, response = made
    client.post(reverse("token_revoke", args=[ApiToken.objects.get().uuid]))
    assert tokens.bearer(response.context["text"]) is None
    assert "nightly build" not in client.get(reverse("tokens")).context["tokens"].values_list("name", flat=True)
