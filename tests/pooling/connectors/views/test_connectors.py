"""Tests of the connector pages: connect, test and fetch, with secrets on no page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from assay.connectors import CONNECTORS
from judgments.models import Job, Query
from pooling.connectors import connections
from pooling.models import Connector, Fetch
from tests.assay.connectors.bad_engine import SECRET, BadEngine

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engines_allowed")]


@pytest.fixture
def visitor(client_of: Callable[[Any], Client], engineer: Any) -> Client:
    return client_of(engineer)


@pytest.fixture
def connect(collection: Any, engineer: Any, bad_engine: BadEngine) -> Callable[..., Connector]:
    """``connect("word")``: a connector to an engine that behaves as the word says."""

    def make(word: str, **given: str) -> Connector:
        values = {"address": bad_engine.at(word), **given}
        return connections.add(collection, actor=engineer, name=f"my {word}", kind="json-http", given=values)

    return make


def at(row: Connector, more: str = "") -> str:
    return f"/c/shop/connectors/{row.uuid}/{more}"


def fields_of(kind: str = "json-http", **given: Any) -> dict[str, Any]:
    """A form as a browser sends it, filled with the defaults."""
    defaults = {one.name: one.default for one in CONNECTORS[kind].settings}
    return {"kind": kind, "name": "live", "timeout": 5, "concurrency": 2, **defaults, **given}


def test_empty(visitor: Client, collection: Any) -> None:
    page = visitor.get("/c/shop/connectors/").content.decode()
    assert "Fetch runs from your engine" in page


def test_nothing_is_allowed_yet(visitor: Client, collection: Any, settings: Any) -> None:
    settings.CONNECTOR_HOSTS = []
    assert not visitor.get("/c/shop/connectors/").context["hosts"]
    assert not visitor.get("/c/shop/connectors/new/").context["allowed"].hosts


@pytest.mark.parametrize("kind", CONNECTORS)
def test_every_kind_has_its_form(kind: str, visitor: Client, collection: Any) -> None:
    page = visitor.get("/c/shop/connectors/new/", {"kind": kind}).content.decode()
    member = CONNECTORS[kind]
    assert escape(member.tested) in page
    for setting in member.settings:
        assert f'name="{setting.name}"' in page
    refused = visitor.post("/c/shop/connectors/new/", {"kind": kind, "name": " "})
    assert (refused.status_code, b"Enter a value." in refused.content) == (422, True)
    assert b"This field is required" not in refused.content


def test_connected(visitor: Client, collection: Any, bad_engine: BadEngine) -> None:
    answer = visitor.post(
        "/c/shop/connectors/new/", fields_of(address=bad_engine.at("locked"), secret=SECRET), follow=True
    )
    page = answer.content.decode()
    assert "Connector live added." in page
    assert "stored, encrypted" in page
    assert SECRET not in page
    row = Connector.objects.get()
    for address in ("/c/shop/connectors/", at(row), at(row, "change/"), "/c/shop/activity/"):
        assert SECRET not in visitor.get(address).content.decode()
    assert "A secret is stored. Leave this empty to keep it." in visitor.get(at(row, "change/")).content.decode()


def test_a_secret_does_not_come_back_with_a_form_that_fails(visitor: Client, collection: Any) -> None:
    answer = visitor.post("/c/shop/connectors/new/", fields_of(address="nonsense", secret=SECRET))
    assert answer.status_code == 422
    assert "is not an address. Write one such as" in answer.content.decode()
    assert SECRET not in answer.content.decode()


def test_a_host_that_is_not_allowed(visitor: Client, collection: Any) -> None:
    answer = visitor.post("/c/shop/connectors/new/", fields_of(address="https://169.254.169.254/latest/"))
    assert answer.status_code == 422
    assert "may not connect to 169.254.169.254" in answer.content.decode()


def test_changed(visitor: Client, connect: Any) -> None:
    row = connect("locked", secret=SECRET)
    values = fields_of(address=row.settings["address"], name="renamed", text="body")
    assert visitor.post(at(row, "change/"), values).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.settings["text"]) == ("renamed", "body")
    assert len(connections.attempt(row, "x")) == 10  # with the secret that was kept
    moved = visitor.post(at(row, "change/"), {**values, "address": "http://127.0.0.1:9/"})
    assert moved.status_code == 422
    assert "Enter the secret again" in moved.content.decode()


def test_tried(visitor: Client, connect: Any) -> None:
    page = visitor.post(at(connect("good"), "try/"), {"query": "rain <b>jacket"}).content.decode()
    assert "Document 1" in page
    assert "about rain &lt;b&gt;jacket" in page
    assert not Fetch.objects.exists()
    answer = visitor.post(at(connect("html"), "try/"), {"query": "rain"})
    assert answer.status_code == 422
    assert "instead of JSON" in answer.content.decode()


def test_a_run_is_fetched(
    visitor: Client, connect: Any, collection: Any, django_capture_on_commit_callbacks: Any
) -> None:
    row = connect("good")
    assert "This collection has no queries yet." in visitor.get(at(row)).content.decode()
    Query.objects.create(collection=collection, query_id="q1", text="rain jacket")
    with django_capture_on_commit_callbacks(execute=True):
        answer = visitor.post(at(row), {"run_name": "monday", "depth": 4})
    job = Job.objects.get(kind="fetch")
    assert answer.url == f"/jobs/{job.uuid}/"
    page = visitor.get(answer.url).content.decode()
    assert "View result" in page
    assert "Documents stored" in page
    assert "run created" in visitor.get(at(row)).content.decode()
    assert visitor.get(f"/c/shop/runs/{collection.runs.get().uuid}/").status_code == 200
    taken = visitor.post(at(row), {"run_name": "monday", "depth": 4})
    assert taken.status_code == 409
    assert "Another run is already called monday" in taken.content.decode()


def test_a_stopped_fetch_can_resume(
    visitor: Client, connect: Any, collection: Any, bad_engine: BadEngine, django_capture_on_commit_callbacks: Any
) -> None:
    Query.objects.bulk_create(
        Query(collection=collection, query_id=f"q{number}", text=f"query {number}") for number in range(4)
    )
    bad_engine.patience = 3
    row = connect("tired")
    with django_capture_on_commit_callbacks(execute=True):
        visitor.post(at(row), {"run_name": "monday", "depth": 2})
    page = visitor.get(at(row)).content.decode()
    assert "monday stopped after 3 of 4 queries." in page
    assert "Create run without failed queries" in page
    bad_engine.patience = 100
    with django_capture_on_commit_callbacks(execute=True):
        visitor.post(at(row, "go-on/"), {"fetch": str(Fetch.objects.get().uuid)})
    assert collection.runs.get().queries == 4
    assert "stopped after" not in visitor.get(at(row)).content.decode()


@pytest.mark.parametrize("fetch", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_missing_fetches_cannot_resume(fetch: str, visitor: Client, connect: Any) -> None:
    row = connect("good")
    answer = visitor.post(at(row, "go-on/"), {"fetch": fetch}, follow=True)
    assert "This fetch does not exist." in answer.content.decode()


def test_it_is_requested_before_one_is_removed(visitor: Client, connect: Any) -> None:
    row = connect("locked", secret=SECRET)
    Query.objects.create(collection=row.collection, query_id="q1", text="rain jacket")
    Fetch.objects.create(connector=row, run_name="monday", depth=4, queries=[["q1", "rain jacket"]], answered=1)
    page = visitor.get(at(row, "change/")).content.decode()
    assert f'href="{at(row, "remove/")}"' in page
    assert f'action="{at(row, "remove/")}"' not in page
    page = visitor.get(at(row, "remove/")).content.decode()
    assert Connector.objects.exists()
    for lost in ("The secret", "monday: 1 of 1 query fetched", "No runs were fetched", "Remove my locked"):
        assert lost in page
    assert SECRET not in page


def test_removed(visitor: Client, connect: Any) -> None:
    answer = visitor.post(at(connect("good"), "remove/"), follow=True)
    assert "Connector my good removed." in answer.content.decode()
    assert not Connector.objects.exists()


def test_one_that_is_being_requested_is_not_removed(visitor: Client, connect: Any, engineer: Any) -> None:
    row = connect("good")
    job = Job.objects.create(kind="fetch", title="Fetch monday", collection=row.collection, created_by=engineer)
    Fetch.objects.create(connector=row, run_name="monday", depth=4, job=job)
    page = visitor.get(at(row, "remove/")).content.decode()
    assert "A fetch from" in page
    assert "Remove my good</button>" not in page
    assert "Cancel that job first" in visitor.post(at(row, "remove/"), follow=True).content.decode()
    assert Connector.objects.exists()


def test_a_kind_that_is_gone(visitor: Client, collection: Any) -> None:
    """An outsider's connector whose package was removed: its page says what it was, and asking it says why not."""
    row = Connector.objects.create(collection=collection, name="old", kind="gone", settings={"address": "x"})
    assert "gone" in visitor.get(at(row)).content.decode()
    assert visitor.get("/c/shop/connectors/").status_code == 200
    assert f'href="{at(row, "remove/")}"' in visitor.get(at(row)).content.decode()
    assert "Remove old" in visitor.get(at(row, "remove/")).content.decode()
    for path, body in (("try/", {"query": "x"}), ("change/", {})):
        page = visitor.post(at(row, path), body, follow=True).content.decode()
        assert "unknown connector" in page.lower()
