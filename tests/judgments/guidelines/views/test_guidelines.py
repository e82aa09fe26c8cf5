"""Tests of the guidelines pages: new versions, rendering, unchanged old versions."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.guidelines import guidelines

pytestmark = pytest.mark.django_db


def new(client, **fields):
    address = reverse("guidelines_new", args=["shop"])
    return client.post(address, fields) if fields else client.get(address)


def test_first_version_starts_from_the_template(client_of, collection, lead):
    assert new(client_of(lead)).context["form"].initial["markdown"] == guidelines.DEFAULT_TEMPLATE


def test_next_version_starts_from_the_last(client_of, collection, lead):
    guidelines.add_version(collection, actor=lead, markdown="Mine")
    assert new(client_of(lead)).context["form"].initial["markdown"] == "Mine\n"


def test_writing_one_leads_to_it(client_of, collection, lead):
    response = new(client_of(lead), markdown="# Mine")
    assert response.url == reverse("guidelines_version", args=[guidelines.latest(collection).uuid])


def test_same_text_again_comes_back_with_the_reason(client_of, collection, lead):
    guidelines.add_version(collection, actor=lead, markdown="Mine")
    response = new(client_of(lead), markdown="Mine")
    assert response.status_code == 422
    assert "identical to version 1" in response.content.decode()


def test_markdown_is_rendered_and_script_is_not_run(client_of, collection, lead):
    text = "# Mine\n\n<script>alert(1)</script> [x](javascript:alert(1))"
    version = guidelines.add_version(collection, actor=lead, markdown=text)
    html = client_of(lead).get(reverse("guidelines_version", args=[version.uuid])).content.decode().split("<article")[1]
    assert "<h2>Mine</h2>" in html
    assert "<script" not in html
    assert 'href="javascript' not in html


def test_old_version_points_to_the_new_one(client_of, collection, lead):
    old = guidelines.add_version(collection, actor=lead, markdown="one")
    guidelines.add_version(collection, actor=lead, markdown="two")
    html = client_of(lead).get(reverse("guidelines_version", args=[old.uuid])).content.decode()
    assert "A newer version exists" in html
