"""Tests of guidance on pages: empty states, field errors, navigation, actions by role."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from judgments.models import Collection, LabelSource, User

pytestmark = pytest.mark.django_db
STAFF_PAGES = [
    "collection",
    "documents",
    "queries",
    "query_logs",
    "runs",
    "pools",
    "rounds",
    "snapshots",
    "scores",
    "scores_compare",
    "qrels",
    "guidelines",
    "members",
    "jobs",
]


def test_the_footer_leads_to_the_api(client_of: Callable[[User], Client], lead: User) -> None:
    assert reverse("api_docs").encode() in client_of(lead).get("/").content


def test_label_sources_are_reached_from_the_menu(
    client_of: Callable[[User], Client], lead: User, collection: Collection
) -> None:
    page = client_of(lead).get(reverse("documents", args=[collection.slug])).content.decode()
    assert f'href="{reverse("qrels", args=[collection.slug])}"' in page


def test_an_empty_file_is_reported_by_name(
    client_of: Callable[[User], Client], lead: User, collection: Collection
) -> None:
    payload = {"file": SimpleUploadedFile("shop.csv", b"")}
    response = client_of(lead).post(reverse("documents_new", args=[collection.slug]), payload)
    assert response.status_code == 422
    assert b"shop.csv" in response.content
    assert b"empty" in response.content


def test_a_missing_file_asks_for_one_and_leaves_the_columns_closed(
    client_of: Callable[[User], Client], lead: User, collection: Collection
) -> None:
    page = client_of(lead).post(reverse("documents_new", args=[collection.slug])).content.decode()
    assert "Choose a file." in page
    assert '<details class="stack" open>' not in page


def test_a_field_that_was_left_empty_says_what_to_do(client_of: Callable[[User], Client], lead: User) -> None:
    assert b"Enter a value." in client_of(lead).post(reverse("collection_new"), {"name": ""}).content


def test_a_first_visit_to_the_freezing_page_is_no_error(
    client_of: Callable[[User], Client], lead: User, collection: Collection
) -> None:
    page = client_of(lead).get(reverse("snapshot_new", args=[collection.slug])).content.decode()
    assert "No rounds yet" in page
    assert "attention" not in page


def test_imported_labels_alone_can_be_frozen_without_a_round(
    client_of: Callable[[User], Client], lead: User, collection: Collection
) -> None:
    LabelSource.objects.create(collection=collection, name="earlier")
    page = client_of(lead).get(reverse("snapshot_new", args=[collection.slug])).content.decode()
    assert "you can include only imported labels" in page
    assert "attention" not in page


def test_an_engineer_is_offered_nothing_that_is_refused(
    client_of: Callable[[User], Client], engineer: User, collection: Collection
) -> None:
    client = client_of(engineer)
    offered: dict[str, list[str]] = {}
    for name in STAFF_PAGES:
        page = client.get(reverse(name, args=[collection.slug])).content.decode()
        for address in set(re.findall(r'href="(/c/[^"#]+)"', page)):
            offered.setdefault(address, []).append(name)
    assert {address: names for address, names in offered.items() if client.get(address).status_code == 403} == {}
