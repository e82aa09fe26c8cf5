"""Tests of the right to create collections: new accounts, invitations, commands, upgrades."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from judgments.members import invite_links
from judgments.models import AuditRow, Collection, Grant, Judge, Membership, Provider, User

pytestmark = pytest.mark.django_db
API = "/api/v1/collections/"
NEW = {"slug": "own", "name": "Own"}
ACCOUNT = {"username": "nina", "password1": "plenty-of-rain-42", "password2": "plenty-of-rain-42"}


@pytest.fixture
def invited(settings: Any, collection: Any, lead: Any) -> Client:
    """The browser of somebody who came in by a link that works once, and asked for more than its form offers."""
    settings.INVITE_LINKS = True
    _, text = invite_links.make(collection, actor=lead)
    client = Client()
    client.post("/invite/", {"code": text})
    client.post("/invite/", {**ACCOUNT, "can_create_collections": "on", "is_staff": "on"})
    assert User.objects.filter(username="nina").exists()
    return client


def add_user(monkeypatch: pytest.MonkeyPatch, name: str, *options: str) -> User:
    monkeypatch.setattr("sys.stdin", io.StringIO("plenty-of-rain-42\n"))
    call_command("add_user", name, "--password-stdin", *options, stdout=io.StringIO())
    return User.objects.get(username=name)


def test_a_rater_creates_no_collection(client_of: Any, api_of: Any, rater: Any, collection: Any) -> None:
    api = api_of(rater)
    assert api.post(API, NEW, format="json").status_code == 403
    assert client_of(rater).post(API, NEW, content_type="application/json").status_code == 403
    page = reverse("collection_new")
    assert [client_of(rater).get(page).status_code, client_of(rater).post(page, NEW).status_code] == [403, 403]
    assert Collection.objects.count() == 1


def test_an_invited_rater_creates_none(invited: Client) -> None:
    assert invited.post(reverse("collection_new"), NEW).status_code == 403
    assert invited.post(API, NEW, content_type="application/json").status_code == 403
    assert not Membership.objects.filter(user__username="nina", role="lead").exists()


def test_no_form_of_an_account_gives_the_right(invited: Client) -> None:
    made = User.objects.get(username="nina")
    assert (made.can_create_collections, made.is_staff) == (False, False)


def test_a_raters_link_does_not_make_a_lead_and_neither_does_a_members_request(
    invited: Client, collection: Any
) -> None:
    nina = User.objects.get(username="nina")
    form_data = {"username": "nina", "role": "lead"}
    for path in (f"{API}{collection.slug}/members/", f"/c/{collection.slug}/members/"):
        assert invited.post(path, form_data, content_type="application/json").status_code == 403
    change = f"{API}{collection.slug}/members/nina/"
    assert invited.patch(change, {"role": "lead"}, content_type="application/json").status_code == 403
    assert Membership.objects.get(user=nina).role == "rater"


def test_the_command_gives_the_right_when_it_says_so(api_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = add_user(monkeypatch, "mina")
    able = add_user(monkeypatch, "mona", "--can-create-collections")
    operator = add_user(monkeypatch, "oskar", "--superuser")
    statuses = [
        api_of(one).post(API, {**NEW, "slug": one.username}, format="json").status_code for one in (plain, able)
    ]
    assert statuses == [403, 201]
    assert api_of(operator).post(API, {**NEW, "slug": "third"}, format="json").status_code == 201
    assert AuditRow.objects.filter(verb="add_user", detail__can_create_collections=True).count() == 1


def test_a_lead_made_by_another_lead_creates_none(api_of: Any, lead: Any, rater: Any, collection: Any) -> None:
    """To lead one collection is not the right to create others."""
    path = f"{API}{collection.slug}/members/{rater.username}/"
    assert api_of(lead).patch(path, {"role": "lead"}, format="json").status_code == 200
    assert api_of(rater).post(API, NEW, format="json").status_code == 403


def test_the_button_is_for_those_who_have_the_right(client_of: Any, lead: Any, rater: Any, outsider: Any) -> None:
    link = f'href="{reverse("collection_new")}"'
    shown = [link in client_of(user).get("/").content.decode() for user in (lead, rater, outsider)]
    assert shown == [True, False, False]


def test_an_upgrade_keeps_leads_and_what_their_collections_use(
    collection: Any, lead: Any, rater: Any, invited: Client, outsider: Any, connect: Callable[..., Any]
) -> None:
    """Leads may go on creating. An invited rater who made a collection of their own gets neither right nor grant."""
    nina = User.objects.get(username="nina")
    own = Collection.objects.create(slug="own", name="Own", created_by=nina)
    Membership.objects.create(collection=own, user=nina, role="lead")
    User.objects.update(can_create_collections=False)
    Grant.objects.all().delete()
    for one in (collection, own):
        connect(one)
    migrate("judgments", "0018_rights_and_grants", "keep_rights")
    migrate("pooling", "0008_grants_of_connectors", "keep_access")
    able = set(User.objects.filter(can_create_collections=True).values_list("username", flat=True))
    assert able == {lead.username}
    assert set(Grant.objects.values_list("collection__slug", "kind", "value")) == {
        ("shop", "connector-folder", "/data/shop/answers.csv"),
        ("shop", "connector-host", "search.example.com:9200"),
        ("shop", "connector-host", "db.example.com:5432"),
        ("shop", "provider-host", "models.example.com:443"),
        ("shop", "local-model", "package:small"),
    }


def test_an_upgrade_keeps_those_who_joined_by_a_link_with_an_account_of_before(
    settings: Any, collection: Any, lead: Any, outsider: Any, client_of: Any
) -> None:
    settings.INVITE_LINKS = True
    User.objects.filter(pk=outsider.pk).update(date_joined=outsider.date_joined - timedelta(days=3))
    own = Collection.objects.create(slug="own", name="Own", created_by=outsider)
    Membership.objects.create(collection=own, user=outsider, role="lead")
    _, text = invite_links.make(collection, actor=lead)
    client = client_of(outsider)
    client.post("/invite/", {"code": text})
    client.post("/invite/", {})
    assert Membership.objects.filter(collection=collection, user=outsider).exists()
    migrate("judgments", "0018_rights_and_grants", "keep_rights")
    outsider.refresh_from_db()
    assert outsider.can_create_collections


@pytest.fixture
def connect() -> Callable[..., None]:
    """Give a collection what used the operator's hosts, folders and models before there were grants."""

    def all_of_it(collection: Collection) -> None:
        for name, claims in (
            ("file", {"path": "/data/shop/answers.csv"}),
            ("http", {"address": "https://Search.example.com:9200/find?q={query}"}),
            ("sql", {"host": "db.example.com", "port": ""}),
        ):
            collection.connectors.create(name=name, kind="json-http", settings=claims)
        Provider.objects.create(
            collection=collection, name="models", protocol="openai", base_url="https://models.example.com/v1"
        )
        for model in ("package:small", "all-MiniLM-L6-v2"):
            Judge.objects.create(collection=collection, name=model, kind="semantic", parameters={"model": model})

    return all_of_it


def migrate(app: str, module: str, function: str) -> None:
    """Run what a migration does with the rows that are there."""
    getattr(importlib.import_module(f"{app}.migrations.{module}"), function)(apps, None)
