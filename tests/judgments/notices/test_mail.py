"""Tests of notices by e-mail: one digest per person and hour, retries, and the link that ends them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail as outgoing
from django.test import Client
from django.utils import timezone

from assay.core.errors import Conflict, TooMany
from judgments.events.events import VISIBILITY, emit
from judgments.models import Job, Membership, Notice
from judgments.notices import mail, notices, preferences
from judgments.notices.preferences import Wish

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _mail(settings: Any, lead: Any) -> None:
    settings.EMAIL_URL, settings.SITE_URL = "smtp://mail.example.com", "https://assay.example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    lead.email = "lena@example.com"
    lead.save(update_fields=["email"])


def happens(collection: Any, kind: str = "labels.stale", text: str = "Labels are stale.") -> datetime:
    """Record an event; answers when its notices may be sent."""
    emit(
        kind, collection, text=text, page="/here/?a=1", data={"round": str(uuid.uuid4()), "decision": str(uuid.uuid4())}
    )
    return timezone.now() + notices.MAIL_DELAY


def test_notices_wait_for_others_and_go_in_one_mail(collection: Any, lead: Any) -> None:
    happens(collection)
    assert not mail.send_digest(lead)
    due = happens(collection, "round.closed", "Round 1 was closed.")
    assert mail.send_digest(lead, due)
    [message] = outgoing.outbox
    assert message.to == ["lena@example.com"]
    for part in ("Labels are stale.", "Round 1 was closed.", "https://assay.example.com/here/?a=1"):
        assert part in message.body
    assert not mail.send_digest(lead, due + HOUR)


def test_at_most_one_mail_an_hour(collection: Any, lead: Any) -> None:
    first = happens(collection)
    assert mail.send_digest(lead, first)
    happens(collection)
    happens(collection)
    assert not mail.send_digest(lead, first + HOUR - timedelta(seconds=1))
    assert mail.send_digest(lead, first + HOUR)
    assert len(outgoing.outbox) == 2
    assert outgoing.outbox[1].body.count("Labels are stale.") == 2


def test_the_worker_sends_to_everybody_with_due_notices(
    collection: Any, lead: Any, engineer: Any, django_capture_on_commit_callbacks: Any
) -> None:
    happens(collection)
    mail.queue_due()
    assert not Job.objects.filter(kind=mail.KIND).exists()
    Notice.objects.update(mail_at=timezone.now())
    with django_capture_on_commit_callbacks(execute=True):
        mail.queue_due()
    assert Job.objects.get(kind=mail.KIND).state == Job.State.DONE
    assert [message.to for message in outgoing.outbox] == [["lena@example.com"]]


def test_nothing_is_sent_without_need(collection: Any, lead: Any, settings: Any) -> None:
    due = happens(collection)
    notices.mark_read(lead)
    assert not mail.send_digest(lead, due)  # read in the app
    preferences.save(lead, {"labels.stale": Wish(in_app=True, by_mail=False)})
    happens(collection)
    settings.SITE_URL = ""
    happens(collection, "round.closed")
    assert not Notice.objects.filter(read_at=None, mail_at__isnull=False).exists()
    settings.SITE_URL = "https://assay.example.com"
    due = happens(collection, "round.closed")
    Membership.objects.filter(user=lead).delete()
    assert not mail.send_digest(lead, due)
    assert outgoing.outbox == []


def test_a_kind_by_mail_only_is_not_in_the_app(collection: Any, lead: Any) -> None:
    preferences.save(lead, {"labels.stale": Wish(in_app=False, by_mail=True)})
    due = happens(collection)
    assert notices.unread(lead) == 0
    assert mail.send_digest(lead, due)


def test_a_mail_server_that_is_down_is_asked_again_after_an_hour(collection: Any, lead: Any, settings: Any) -> None:
    due = happens(collection)
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    assert not mail.send_digest(lead, due)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert not mail.send_digest(lead, due + HOUR - timedelta(seconds=1))
    assert mail.send_digest(lead, due + HOUR)


def test_a_lead_who_began_to_rate_gets_no_result(collection: Any, lead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VISIBILITY._members, "verdict.reached", lambda user, event: True)
    due = happens(collection, "verdict.reached", "neural is better")
    monkeypatch.setitem(VISIBILITY._members, "verdict.reached", lambda user, event: False)
    mail.send_digest(lead, due)
    assert "better" not in outgoing.outbox[0].body


def test_one_click_ends_the_mails(collection: Any, lead: Any) -> None:
    mail.send_digest(lead, happens(collection))
    later = happens(collection, "round.closed")
    message = outgoing.outbox[0]
    link = re.fullmatch(r"<https://assay\.example\.com(.+)>", message.extra_headers["List-Unsubscribe"])
    assert link is not None
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert link[1] in message.body
    stranger = Client(enforce_csrf_checks=True)
    assert stranger.get(link[1]).status_code == 200
    assert preferences.of_user(lead)["labels.stale"].by_mail  # a program that follows links changes nothing
    assert stranger.post(link[1], {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not any(wish.by_mail for wish in preferences.of_user(lead).values())
    assert all(wish.in_app for wish in preferences.of_user(lead).values())
    assert not mail.send_digest(lead, later + HOUR)


def test_a_forged_link_changes_nothing(collection: Any, lead: Any, client: Client) -> None:
    token = preferences.unsubscribe_token(lead)
    for forged in (token[:-1] + ("A" if token[-1] != "A" else "B"), "x", token.replace(":", "x", 1)):
        assert client.post(f"/notices/unsubscribe/{forged}/").status_code == 404
    assert preferences.of_user(lead)["labels.stale"].by_mail


def test_an_address_is_confirmed_by_its_owner(
    client_of: Callable[[Any], Client], lead: Any, engineer: Any, collection: Any
) -> None:
    visitor = client_of(engineer)
    visitor.post("/notices/preferences/address/", {"email": "emil@example.com"})
    engineer.refresh_from_db()
    assert engineer.email == ""
    [message] = outgoing.outbox
    assert message.to == ["emil@example.com"]
    [path] = re.findall(r"https://assay\.example\.com(\S+)", message.body)
    assert client_of(lead).post(path).status_code == 404
    assert visitor.get(path).status_code == 200
    engineer.refresh_from_db()
    assert engineer.email == ""
    visitor.post(path)
    engineer.refresh_from_db()
    assert engineer.email == "emil@example.com"
    visitor.post("/notices/preferences/address/", {"email": ""})
    engineer.refresh_from_db()
    assert engineer.email == ""


def test_confirmations_are_limited(lead: Any, settings: Any) -> None:
    preferences.request_address(lead, "a@example.com")
    with pytest.raises(TooMany):
        preferences.request_address(lead, "b@example.com")
    settings.EMAIL_URL = ""
    with pytest.raises(Conflict):
        preferences.request_address(lead, "b@example.com")
