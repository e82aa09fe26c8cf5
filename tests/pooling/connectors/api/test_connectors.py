"""Tests of the connector API: connect and fetch, with secrets in no response."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import Query
from pooling.models import Connector, Fetch
from tests.assay.connectors.bad_engine import SECRET, BadEngine

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engines_allowed")]
PATH = "/api/v1/collections/shop/connectors/"


@pytest.fixture
def api(collection: Any, engineer: Any, api_of: Any) -> Any:
    return api_of(engineer)


@pytest.fixture
def connect(api: Any, bad_engine: BadEngine) -> Any:
    def make(word: str, **more: Any) -> Any:
        given = {"address": bad_engine.at(word), **more}
        return api.post(PATH, {"name": word, "kind": "json-http", "settings": given}, format="json")

    return make


def test_connected_and_listed_without_the_secret(api: Any, connect: Any) -> None:
    made = connect("locked", secret=SECRET)
    assert made.status_code == 201, made.content
    body = made.json()
    assert (body["name"], body["kind"], body["has_secret"], body["timeout"]) == ("locked", "json-http", True, 10.0)
    assert body["settings"]["hits"] == "hits"  # the kind's default
    assert "secret" not in body["settings"]
    for answer in (made, api.get(PATH), api.get(f"{PATH}{body['id']}/")):
        assert SECRET not in answer.content.decode()
    assert api.get(PATH).json()["count"] == 1


def test_changed_tried_and_removed(api: Any, connect: Any, bad_engine: BadEngine) -> None:
    one = f"{PATH}{connect('locked', secret=SECRET).json()['id']}/"
    changed = api.patch(one, {"settings": {"text": "title"}, "timeout": 4}, format="json")
    assert (changed.status_code, changed.json()["settings"]["text"], changed.json()["timeout"]) == (200, "title", 4.0)
    hits = api.post(f"{one}try/", {"query": "rain"}, format="json").json()["hits"]
    assert (len(hits), hits[0]["doc_id"], hits[0]["text"]) == (10, "d1", "Document 1")
    moved = api.patch(one, {"settings": {"address": "http://127.0.0.1:9/"}}, format="json")
    assert moved.status_code == 400
    assert "Enter the secret again" in moved.json()["error"]["fields"]["secret"]
    assert api.delete(one).status_code == 204
    assert not Connector.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "kind"),
        ({"name": "x", "kind": "gopher", "settings": {}}, "kind"),
        ({"name": "x", "kind": "solr", "settings": []}, "settings"),
        ({"name": "x", "kind": "solr", "settings": {"template": {"q": 1}}}, "settings"),
        ({"name": "x", "kind": "solr", "settings": {"adress": "y"}}, "adress"),
        ({"name": "x", "kind": "json-http", "settings": {"address": "nonsense"}}, "address"),
        ({"name": "x", "kind": "json-http", "settings": {"address": "http://127.0.0.1"}, "timeout": 0}, "timeout"),
    ],
)
def test_invalid_connectors(api: Any, body: dict[str, Any], field: str) -> None:
    answer = api.post(PATH, body, format="json")
    assert answer.status_code == 400
    assert field in answer.json()["error"]["fields"], answer.json()


def test_a_host_that_is_not_allowed(api: Any) -> None:
    given = {"address": "http://169.254.169.254/latest/meta-data/"}
    answer = api.post(PATH, {"name": "x", "kind": "json-http", "settings": given}, format="json")
    assert answer.status_code == 400
    assert "CONNECTOR_HOSTS" in answer.json()["error"]["message"]


def test_a_run_is_fetched_and_resumed(
    api: Any, connect: Any, collection: Any, bad_engine: BadEngine, django_capture_on_commit_callbacks: Any
) -> None:
    Query.objects.bulk_create(
        Query(collection=collection, query_id=f"q{number}", text=f"query {number}") for number in range(4)
    )
    bad_engine.patience = 3
    one = f"{PATH}{connect('tired').json()['id']}/fetches/"
    with django_capture_on_commit_callbacks(execute=True):
        begun = api.post(one, {"run_name": "monday", "depth": 2}, format="json")
    assert begun.status_code == 202
    job = api.get(f"/api/v1/jobs/{begun.json()['job']}/").json()
    assert job["state"] == "failed"
    (row,) = api.get(one).json()["results"]
    assert row["id"] == begun.json()["id"]
    assert (row["asked"], row["answered"], list(row["failed"]), row["run"]) == (4, 3, list(row["failed"]), None)
    assert len(row["failed"]) == 1
    bad_engine.patience = 100
    with django_capture_on_commit_callbacks(execute=True):
        assert api.post(f"{one}{row['id']}/go-on/", {}, format="json").status_code == 202
    (row,) = api.get(one).json()["results"]
    assert (row["answered"], row["failed"]) == (4, {})
    assert row["run"] == str(collection.runs.get().uuid)
    again = api.post(f"{one}{row['id']}/go-on/", {}, format="json")
    assert again.status_code == 409
    assert Fetch.objects.count() == 1
