"""Tests of every response and odd request: caching and privacy headers, NUL bytes, half surrogate pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from judgments.models import Document, Job
from tests.test_access_matrix import LINES, WHO, address
from tests.world import World

pytestmark = pytest.mark.django_db
Browser = Callable[[Any], Client]


@pytest.mark.slow
def test_responses_are_not_cached(world: World, lead: Any, client_of: Browser, api_of: Any) -> None:
    column, client = WHO.index("lead"), client_of(lead)
    paths = [address(line.route, world) for line in LINES if line.method == "GET" and line.expected[column] == 200]
    cached = {}
    for path in paths:
        response = client.get(path)
        if path == "/api/schema/":
            continue  # public, the same for everybody, and asked for anew by its ETag
        headers = response.headers.get("Cache-Control", ""), response.headers.get("Vary", "")
        if "no-store" not in headers[0] or "Cookie" not in headers[1]:
            cached[path] = headers
        if response.streaming:
            b"".join(response.streaming_content)
    assert cached == {}
    token = api_of(lead).get("/api/v1/collections/")
    assert "no-store" in token.headers["Cache-Control"]
    assert "Authorization" in token.headers["Vary"]
    for path in ("/login/", "/nowhere/", "/c/shop/nowhere/", "/api/v1/nowhere/"):
        assert "no-store" in Client().get(path).headers["Cache-Control"]
    for path in ("/c/shop", "/api/v1/collections", "/admin"):  # redirects to the address with a slash
        response = client.get(path)
        assert response.status_code == 301
        assert "no-store" in response.headers["Cache-Control"]
        assert "Cookie" in response.headers["Vary"]
        assert "Content-Security-Policy" in response.headers


def test_no_page_asks_for_the_camera(client_of: Browser, lead: Any) -> None:
    policy = client_of(lead).get("/").headers["Permissions-Policy"]
    assert {"camera=()", "geolocation=()", "microphone=()"} <= set(policy.split(", "))


PICTURE = "https://tracker.example.com/1.jpg?rater="


@pytest.mark.both_databases
def test_a_document_cannot_track_raters(world: World, rater: Any, lead: Any, client_of: Browser, settings: Any) -> None:
    Document.objects.update(image=PICTURE)
    shown = [f"/rounds/{world.round.uuid}/rate/", f"/rounds/{world.round.uuid}/rate/?mode=list"]
    pages = [(rater, path) for path in shown]
    pages += [(lead, f"/c/shop/documents/{world.conflict.document.uuid}/")]
    pages += [(lead, f"/rounds/{world.closed.uuid}/conflicts/{world.conflict.uuid}/")]
    for person, path in pages:
        response = client_of(person).get(path)
        html = response.content.decode()
        assert f'src="{PICTURE}' not in html
        assert "tracker.example.com" in html  # a link for who chooses to look
        assert "https:" not in response.headers["Content-Security-Policy"]
    settings.REMOTE_IMAGES = True
    response = client_of(lead).get(pages[2][1])
    assert f'src="{PICTURE}' in response.content.decode()
    assert "img-src 'self' data: https:" in response.headers["Content-Security-Policy"]


def test_the_docs_take_every_method(client_of: Browser, lead: Any) -> None:
    browser = client_of(lead)
    browser.raise_request_exception = False
    for method in ("OPTIONS", "POST", "PUT", "PATCH", "DELETE", "HEAD", "TRACE", "BREW"):
        for path in ("/api/docs/", "/api/schema/"):
            assert browser.generic(method, path).status_code < 500, (method, path)
            assert browser.generic(method, path, headers={"Accept": "image/png"}).status_code < 500, (method, path)


def test_every_endpoint_takes_options(world: World, lead: Any, client_of: Browser) -> None:
    browser = client_of(lead)
    browser.raise_request_exception = False
    statuses = {}
    for route in sorted({line.route for line in LINES if line.route.startswith("api/v1/")}):
        response = browser.options(address(route, world))
        if response.status_code >= 500 or "actions" in (response.json() or {}):
            statuses[route] = response.status_code
    assert statuses == {}


NUL = "a\0b"


@pytest.mark.both_databases
def test_a_nul_is_no_mistake_of_ours(world: World, lead: Any, client_of: Browser, api_of: Any, settings: Any) -> None:
    settings.CONNECTOR_HOSTS = settings.PROVIDER_HOSTS = ["*"]
    api, base = api_of(lead), "/api/v1/collections/shop"
    api.raise_request_exception = False
    connector_settings = {**world.connector.settings, "address": "https://8.8.8.8/x"}
    bodies = [
        (
            "post",
            f"{base}/connectors/",
            {"name": "x", "kind": "json-http", "settings": {**connector_settings, name: NUL}},
        )
        for name in connector_settings
    ]
    model = {"name": NUL, "price_in": 1.0, "price_out": 1.0}
    provider = {"name": "x", "protocol": "openai", "base_url": "https://8.8.8.8"}
    bodies += [
        ("patch", f"{base}/connectors/{world.connector.uuid}/", {"settings": {**connector_settings, "title": NUL}}),
        ("post", f"{base}/connectors/{world.connector.uuid}/try/", {"query": NUL}),
        ("post", f"{base}/providers/", {**provider, "models_offered": [model]}),
        ("post", f"{base}/providers/", {**provider, "models": [model]}),
        ("post", f"{base}/pools/", {"strategy": "depth", "parameters": {"depth": NUL}}),
        ("post", f"{base}/pools/", {"strategy": "depth", "parameters": {NUL: 3}}),
        ("post", f"{base}/scores/", {"metrics": [NUL]}),
        ("post", f"{base}/guidelines/", {"markdown": NUL}),
        ("post", f"{base}/members/", {"username": NUL, "role": "rater"}),
        ("patch", f"{base}/", {"name": NUL}),
        ("post", f"{base}/snapshots/", {"name": NUL, "rounds": [str(world.closed.uuid)]}),
    ]
    failed = []
    for method, path, body in bodies:
        status = getattr(api, method)(path, body, format="json").status_code
        if status >= 500 or (status < 300 and "connectors" in path):
            failed.append((method, path, body, status))
    assert failed == []
    browser = client_of(lead)
    browser.raise_request_exception = False
    form = {"name": "x", "kind": "json-http", "timeout": "5", "concurrency": "2", **connector_settings, "title": NUL}
    for page in ("/c/shop/connectors/new/?kind=json-http", f"/c/shop/connectors/{world.connector.uuid}/change/"):
        assert browser.post(page, form).status_code < 500


@pytest.mark.both_databases
@pytest.mark.parametrize("half", ["a\udfffb", "\ud800"])
def test_half_a_character_is_no_mistake_of_ours(world: World, lead: Any, api_of: Any, settings: Any, half: str) -> None:
    """JSON can spell half of a surrogate pair, which UTF-8 and so an address, a header and PostgreSQL do not have."""
    settings.CONNECTOR_HOSTS = settings.PROVIDER_HOSTS = ["*"]
    api, base = api_of(lead), "/api/v1/collections/shop"
    api.raise_request_exception = False
    model = {"name": half, "price_in": 1.0, "price_out": 1.0}
    provider = {"name": "x", "protocol": "openai", "base_url": "https://8.8.8.8"}
    address_, body_ = "https://8.8.8.8", {"name": "x", "kind": "elasticsearch"}
    given = [
        {"address": address_, "index": half},
        {"address": address_ + half, "index": "a"},
        {"address": address_, "index": "a", "secret": half},
        {"address": address_, "index": "a", half: "b"},
    ]
    bodies = [(f"{base}/connectors/", {**body_, "settings": settings_}) for settings_ in given]
    bodies += [
        (f"{base}/providers/", {**provider, "models_offered": [model]}),
        (f"{base}/providers/", {**provider, "models": [model]}),
        (f"{base}/providers/", {**provider, "key": half}),
        (f"{base}/pools/", {"strategy": "depth", "parameters": {half: 3}}),
        (f"{base}/scores/", {"metrics": [half]}),
    ]
    answers = []
    for path, body in bodies:
        response = api.post(path, json.dumps(body), content_type="application/json")
        answers.append((path, body, response.status_code))
    assert [answer for answer in answers if answer[2] != 400] == []


@pytest.mark.both_databases
@pytest.mark.parametrize("path", ["/c/shop/queries/?q=%00", "/login/?next=%00", "/c/%00/", "/api/v1/collections/%00/"])
def test_a_nul_in_an_address(world: World, lead: Any, client_of: Browser, path: str) -> None:
    browser = client_of(lead)
    browser.raise_request_exception = False
    assert browser.get(path).status_code < 500


def test_operators_alone_read_tracebacks(world: World, lead: Any, make_user: Any, client_of: Browser) -> None:
    Job.objects.filter(pk=world.job.pk).update(state=Job.State.CRASHED, traceback="File secret.py", error="It broke.")
    page = f"/jobs/{world.job.uuid}/"
    content = client_of(lead).get(page).content.decode()
    assert "It broke." in content
    assert "secret.py" not in content
    lead.is_staff = True
    lead.save()
    assert "secret.py" in client_of(lead).get(page).content.decode()
