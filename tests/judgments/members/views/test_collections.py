"""Tests of the collection forms: creation, settings, errors, content security policy."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.models import Collection

pytestmark = pytest.mark.django_db


def test_new_collection(client_of, lead):
    response = client_of(lead).post(reverse("collection_new"), {"name": "Mine", "slug": "mine"})
    assert response.url == reverse("collection", args=["mine"])
    assert Collection.objects.get().name == "Mine"


def test_address_is_made_from_the_name(client_of, lead):
    response = client_of(lead).post(reverse("collection_new"), {"name": "My Shop, search"})
    assert response.url == reverse("collection", args=["my-shop-search"])


def test_form_comes_back_with_its_errors(client_of, lead):
    response = client_of(lead).post(reverse("collection_new"), {"name": "", "slug": "not a slug"})
    html = response.content.decode()
    assert response.status_code == 422
    assert 'aria-invalid="true"' in html
    assert 'id="id_slug_error"' in html


def test_taken_address_is_a_conflict(client_of, collection, lead):
    response = client_of(lead).post(reverse("collection_new"), {"name": "Mine", "slug": "shop"})
    assert response.status_code == 409
    assert "shop is taken" in response.content.decode()


def test_settings(client_of, collection, lead):
    fields = {"name": "Site", "description": "d", "embedding_changed_at": "2026-11-01T10:00"}
    client_of(lead).post(reverse("collection_settings", args=["shop"]), fields)
    collection.refresh_from_db()
    assert (collection.name, collection.embedding_changed_at.isoformat()) == ("Site", "2026-11-01T10:00:00+00:00")


def test_page_has_its_policy_and_no_inline_code(client_of, collection, lead):
    response = client_of(lead).get(reverse("collection_settings", args=["shop"]))
    html = response.content.decode()
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert " style=" not in html
    assert "<style" not in html
    assert all("src=" in tag.split(">")[0] for tag in html.split("<script")[1:])
