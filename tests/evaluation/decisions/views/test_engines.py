"""Tests of comparing live engines: queries typed on the page, results fetched by jobs, and an engine that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from pooling.connectors import connections
from pooling.models import Connector, Fetch
from tests.assay.connectors.bad_engine import BadEngine

pytestmark = pytest.mark.django_db


@pytest.fixture
def connect(collection: Any, engineer: Any, bad_engine: BadEngine, engines_allowed: None) -> Callable[[str], Connector]:
    def make(word: str) -> Connector:
        given = {"address": bad_engine.at(word)}
        return connections.add(collection, actor=engineer, name=word, kind="json-http", given=given)

    return make


def test_two_engines_are_asked_typed_queries(
    connect: Any, client_of: Any, lead: Any, collection: Any, django_capture_on_commit_callbacks: Any
) -> None:
    baseline, candidate = connect("good"), connect("good/new")
    browser = client_of(lead)
    given = {
        "baseline_engine": str(baseline.uuid),
        "candidate_engine": str(candidate.uuid),
        "typed": "rain jacket\ntent",
    }
    with django_capture_on_commit_callbacks(execute=True):
        waiting = browser.post(reverse("decision_new", args=["shop"]), given)
    assert collection.queries.count() == 2
    after = browser.get(waiting.url)
    # Both engines return the same file, which is one run.
    assert {fetch.run for fetch in Fetch.objects.all()} == set(collection.runs.all())
    assert after.status_code == 302


def test_an_engine_and_a_file_are_compared(
    connect: Any, client_of: Any, lead: Any, collection: Any, django_capture_on_commit_callbacks: Any
) -> None:
    browser = client_of(lead)
    given = {
        "baseline_engine": str(connect("good").uuid),
        "candidate_files": SimpleUploadedFile("new.run", b"q001 Q0 d1 1 3 new\nq002 Q0 d2 1 3 new\n"),
        "typed": "rain jacket\ntent",
    }
    with django_capture_on_commit_callbacks(execute=True):
        waiting = browser.post(reverse("decision_new", args=["shop"]), given)
    plan = browser.get(browser.get(waiting.url).url)
    assert [run.name for run in plan.context["candidates"]] == ["new"]


def test_an_engine_that_fails_is_named_and_can_be_resumed(
    connect: Any, client_of: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    good, broken = connect("good"), connect("500")
    browser = client_of(lead)
    given = {"baseline_engine": str(good.uuid), "candidate_engine": str(broken.uuid), "typed": "tent"}
    with django_capture_on_commit_callbacks(execute=True):
        waiting = browser.post(reverse("decision_new", args=["shop"]), given)
    page = browser.get(waiting.url)
    assert page.status_code == 200
    assert not page.context["running"]
    states = {fetch.connector: fetch.waits for fetch in page.context["fetches"]}
    assert states == {good: False, broken: True}
    assert reverse("connector", args=["shop", broken.uuid]) in page.content.decode()


def test_engines_without_queries_are_not_asked(connect: Any, client_of: Any, lead: Any, bad_engine: BadEngine) -> None:
    given = {"baseline_engine": str(connect("good").uuid), "candidate_engine": str(connect("good/new").uuid)}
    answer = client_of(lead).post(reverse("decision_new", args=["shop"]), given)
    assert answer.status_code == 422
    assert "typed" in answer.context["form"].errors
    assert not bad_engine.requests
