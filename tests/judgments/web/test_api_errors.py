"""Tests of error responses: JSON for API clients, HTML pages for browsers."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, RequestFactory

from judgments.web.errors import our_mistake

pytestmark = pytest.mark.django_db


def test_an_address_without_endpoint_is_answered_in_the_usual_shape(client: Client) -> None:
    answer = client.get("/api/v1/nothing/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_people_get_the_page(client: Client) -> None:
    answer = client.get("/nothing/")
    assert answer.status_code == 404
    assert b"Page not found" in answer.content


@pytest.mark.parametrize(("path", "kind"), [("/api/v1/collections/", "application/json"), ("/", "text/html")])
def test_a_mistake_of_ours_keeps_its_cause(rf: RequestFactory, path: str, kind: str) -> None:
    answer: Any = our_mistake(rf.get(path))
    assert answer.status_code == 500
    assert answer.headers["Content-Type"].startswith(kind)
