"""Tests of the API of notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.events.events import emit
from judgments.models import Notice

pytestmark = pytest.mark.django_db
PATH = "/api/v1/notices/"


def test_notices_are_listed_and_marked(api_of: Callable[..., Any], collection: Any, lead: Any, engineer: Any) -> None:
    for number in (1, 2, 3):
        emit("labels.stale", collection, text=f"Number {number}.", page="/x/", data={})
    api = api_of(lead)
    rows = api.get(PATH).json()["results"]
    assert [row["text"] for row in rows] == ["Number 3.", "Number 2.", "Number 1."]
    first = rows[0]
    assert (first["kind"], first["collection"], first["page"], first["read_at"]) == (
        "labels.stale",
        "shop",
        "/x/",
        None,
    )
    marked = api.post(f"{PATH}{first['id']}/read/")
    assert marked.json()["read_at"] is not None
    assert api.get(PATH, {"unread": "true"}).json()["count"] == 2
    assert api.post(f"{PATH}read/").json() == {"marked": 2}
    assert api.get(PATH, {"unread": "true"}).json()["count"] == 0
    assert api_of(engineer).get(PATH).json()["count"] == 0


def test_notices_of_others_do_not_exist(api_of: Callable[..., Any], collection: Any, lead: Any, engineer: Any) -> None:
    emit("labels.stale", collection, text="x", page="/x/", data={})
    path = f"{PATH}{Notice.objects.get().uuid}/read/"
    assert api_of(engineer).post(path).status_code == 404
    assert api_of(lead, ("read",)).post(path).status_code == 403
