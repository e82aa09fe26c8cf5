"""Tests of the pages of notices: the bell, the list, and the preferences."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from judgments.events.events import emit
from judgments.events.kinds import KINDS
from judgments.models import Notice
from judgments.notices import notices, preferences

pytestmark = pytest.mark.django_db


@pytest.fixture
def visitor(client_of: Callable[[Any], Client], lead: Any) -> Client:
    return client_of(lead)


def happens(collection: Any, kind: str = "labels.stale", text: str = "It happened.", page: str = "/c/shop/") -> None:
    emit(kind, collection, text=text, page=page, data={"round": str(uuid.uuid4())})


def test_empty(visitor: Client, collection: Any) -> None:
    answer = visitor.get("/notices/")
    assert answer.context["listing"].nothing
    assert answer.context["unread"] == 0


def test_the_bell_counts_unread_notices(visitor: Client, collection: Any) -> None:
    assert "bell__count" not in visitor.get("/").content.decode()
    happens(collection)
    happens(collection)
    assert '<span class="bell__count">2</span>' in visitor.get("/").content.decode()


def test_opening_a_notice_marks_it_as_read(visitor: Client, collection: Any, lead: Any) -> None:
    happens(collection, text="<b>x</b>")
    path = f"/notices/{Notice.objects.get().uuid}/"
    page = visitor.get("/notices/").content.decode()
    assert path in page
    assert "&lt;b&gt;x" in page
    visitor.head(path)
    assert notices.unread(lead) == 1
    answer = visitor.get(path)
    assert (answer.status_code, answer["Location"]) == (302, "/c/shop/")
    assert notices.unread(lead) == 0


def test_marking_and_filters(visitor: Client, collection: Any, lead: Any) -> None:
    for kind in ("labels.stale", "labels.stale", "round.closed"):
        happens(collection, kind)
    one = Notice.objects.filter(event__kind="round.closed").get()
    visitor.post(f"/notices/{one.uuid}/read/")
    count = lambda **choice: visitor.get("/notices/", choice).context["listing"].count  # noqa: E731
    assert (count(), count(state="unread"), count(state="read"), count(kind="labels.stale")) == (3, 2, 1, 2)
    visitor.post("/notices/read/")
    assert notices.unread(lead) == 0


def test_each_notice_can_be_switched_off(visitor: Client, collection: Any, lead: Any, settings: Any) -> None:
    settings.EMAIL_URL, settings.SITE_URL = "smtp://mail.example.com", "https://assay.example.com"
    page = visitor.get("/notices/preferences/").content.decode()
    for kind in KINDS:
        assert f'name="app:{kind}"' in page
        assert f'name="mail:{kind}"' in page
    visitor.post("/notices/preferences/", {"app:labels.stale": "on", "mail:round.closed": "on"})
    stored = preferences.of_user(lead)
    assert [name for name, wish in stored.items() if wish.in_app] == ["labels.stale"]
    assert [name for name, wish in stored.items() if wish.by_mail] == ["round.closed"]


def test_a_server_without_mail_offers_none_and_keeps_the_choice(visitor: Client, collection: Any, lead: Any) -> None:
    answer = visitor.get("/notices/preferences/")
    assert answer.context["mails"] is False
    assert 'name="mail:' not in answer.content.decode()
    visitor.post("/notices/preferences/", {"app:labels.stale": "on"})
    stored = preferences.of_user(lead)["labels.stale"]
    assert (stored.in_app, stored.by_mail) == (True, KINDS["labels.stale"].mail)


def test_a_rater_chooses_among_the_kinds_for_raters(client_of: Any, collection: Any, rater: Any) -> None:
    offered = {kind.name for kind, _ in client_of(rater).get("/notices/preferences/").context["kinds"]}
    assert offered == {"work.waiting", "guidelines.changed", "round.closed"}
