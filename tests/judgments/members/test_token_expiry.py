"""Tests of token lifetime: expiry, password changes, recent login required, upgrades."""

from __future__ import annotations

import html
import io
import re
import subprocess
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import Conflict
from judgments.members import login_limits, tokens
from judgments.models import ApiToken, AuditRow, User

pytestmark = pytest.mark.django_db
TOKENS = "/api/v1/tokens/"
NEW_TOKEN = {"name": "nightly build", "scopes": ["read"]}
NEW = "larch-and-ridge-9"


def opens(text: str) -> bool:
    return tokens.bearer(text) is not None


@pytest.fixture
def text(lead: Any) -> str:
    """A token of the lead's that opens something."""
    made = tokens.make_token(lead, name="build", scopes=["write"])[1]
    assert opens(made)
    return made


@pytest.fixture
def old_session(client_of: Callable[[Any], Client], lead: Any) -> Client:
    """A browser in which the lead logged in a quarter of an hour ago."""
    client = client_of(lead)
    session = client.session
    session[tokens.KEY] = (timezone.now() - timedelta(minutes=15)).timestamp()
    session.save()
    return client


def post(client: Client, **more: Any) -> Any:
    return client.post(TOKENS, {**NEW_TOKEN, **more}, content_type="application/json")


def test_a_token_expires_after_90_days_by_default(client_of: Any, lead: Any) -> None:
    made = post(client_of(lead)).json()
    token = ApiToken.objects.get()
    assert made["expires_at"] == token.expires_at.isoformat().replace("+00:00", "Z")
    assert abs(token.expires_at - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)
    ApiToken.objects.update(expires_at=timezone.now())
    assert not opens(made["token"])
    assert Client().get("/api/v1/collections/", HTTP_AUTHORIZATION=f"Bearer {made['token']}").status_code == 401
    assert client_of(lead).get(TOKENS).json()["count"] == 0


@pytest.mark.parametrize(("days", "status"), [(1, 201), (365, 201), (0, 400), (366, 400), ("x", 400), (None, 400)])
def test_the_lifetime_can_be_chosen(client_of: Any, lead: Any, days: Any, status: int) -> None:
    assert post(client_of(lead), expires_in_days=days).status_code == status


def test_the_page_offers_a_choice_of_days(client_of: Any, lead: Any) -> None:
    client_of(lead).post(reverse("tokens"), {"name": "x", "scopes": ["read"], "days": "7"})
    assert ApiToken.objects.get().expires_at < timezone.now() + timedelta(days=8)
    assert client_of(lead).post(reverse("tokens"), {**NEW_TOKEN, "days": "3650"}).status_code == 422


def test_ones_own_new_password_revokes(text: str, client_of: Any, lead: Any) -> None:
    form_values = {"old_password": "pass", "new_password1": NEW, "new_password2": NEW}
    assert client_of(lead).post("/password/", form_values).status_code == 302
    assert not opens(text)
    assert AuditRow.objects.filter(verb="tokens.revoke_all", target_uuid=lead.uuid).count() == 1


def test_a_password_set_by_an_operator_revokes(text: str, client_of: Any, operator: Any, lead: Any) -> None:
    address = reverse("admin:auth_user_password_change", args=[lead.pk])
    form_values = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    assert client_of(operator).post(address, form_values).status_code == 302
    assert not opens(text)


def test_a_password_that_an_operator_switches_off_revokes(text: str, client_of: Any, operator: Any, lead: Any) -> None:
    address = reverse("admin:auth_user_password_change", args=[lead.pk])
    assert client_of(operator).post(address, {"usable_password": "false", "unset-password": "1"}).status_code == 302
    assert not opens(text)


def test_changepassword_revokes(text: str, lead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt="": NEW)
    call_command("changepassword", lead.username, stdout=io.StringIO())
    assert User.objects.get(pk=lead.pk).check_password(NEW)
    assert not opens(text)


def test_nothing_else_revokes(text: str, lead: Any, rater: Any, settings: Any) -> None:
    """A log-in notes its time, and makes an old hash anew; neither is another password."""
    other = tokens.make_token(rater, name="x", scopes=["read"])[1]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", *settings.PASSWORD_HASHERS]
    old = make_password("pass", hasher="md5")
    User.objects.filter(pk=lead.pk).update(password=old)
    assert Client().post("/login/", {"username": lead.username, "password": "pass"}).status_code == 302
    lead.refresh_from_db()
    assert lead.password != old
    lead.email = "lena@shop.example"
    lead.save()
    rater.set_password(NEW)
    rater.save()
    assert (opens(text), opens(other)) == (True, False)


def test_an_old_session_makes_no_token(old_session: Client) -> None:
    refused = post(old_session)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "log_in_again")
    assert old_session.post(reverse("tokens"), {"name": "x", "scopes": ["read"]}).status_code == 422
    wrong = {"name": "x", "scopes": ["read"], "password": "wrong"}
    assert old_session.post(reverse("tokens"), wrong).status_code == 422
    assert not ApiToken.objects.exists()
    assert old_session.get(TOKENS).status_code == 200


def test_a_session_from_before_the_upgrade_makes_none(client_of: Any, lead: Any) -> None:
    client = client_of(lead)
    session = client.session
    del session[tokens.KEY]
    session.save()
    assert post(client).status_code == 403


def test_the_page_takes_the_password_again(old_session: Client) -> None:
    page = old_session.post(reverse("tokens"), {"name": "x", "scopes": ["read"], "password": "pass"})
    assert opens(page.context["text"])
    assert post(old_session).status_code == 201


def test_password_confirmation_is_rate_limited(old_session: Client) -> None:
    payload = {"name": "x", "scopes": ["read"], "password": "wrong"}
    tries = int(login_limits.NAME_FROM_ADDRESS.free)
    statuses = [old_session.post(reverse("tokens"), payload).status_code for _ in range(tries + 3)]
    assert 429 in statuses


def test_a_log_in_of_the_same_person_elsewhere_does_not_help(old_session: Client, lead: Any) -> None:
    assert Client().post("/login/", {"username": lead.username, "password": "pass"}).status_code == 302
    assert post(old_session).status_code == 403


def test_tokens_from_before_the_upgrade_expire_90_days_after_it() -> None:
    """The migration's column takes the day of the migration, in every row."""
    (added,) = import_module("judgments.migrations.0020_tokens_expire").Migration.operations
    assert not added.field.null
    assert abs(added.field.get_default() - timezone.now() - timedelta(days=90)) < timedelta(minutes=1)


@pytest.mark.django_db(transaction=True)
def test_the_commands_on_the_page_work(
    live_server: Any, client_of: Any, collection: Any, lead: Any, rater: Any, make_round: Any, tmp_path: Path
) -> None:
    """What the page shows is run by a shell against a real server, for a lead and for a rater."""
    make_round(raters=[rater])
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n")
    host = live_server.url.removeprefix("http://")
    shown = {}
    for user, scopes in ((lead, ["write"]), (rater, ["read", "rate"])):
        page = client_of(user).post(reverse("tokens"), {"name": "x", "scopes": scopes}, headers={"host": host})
        shown[user] = re.findall(r'<code id="secret-\d+">(.*?)</code>', page.content.decode(), re.S)
        for command in map(html.unescape, shown[user]):
            done = subprocess.run(
                ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert [len(shown[lead]), len(shown[rater])] == [2, 2]
    assert collection.runs.get().name == "bm25"


def test_a_user_has_a_limited_number_of_live_tokens(lead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 2)
    first, _ = tokens.make_token(lead, name="a", scopes=["read"])
    tokens.make_token(lead, name="b", scopes=["read"])
    with pytest.raises(Conflict):
        tokens.make_token(lead, name="c", scopes=["read"])
    tokens.revoke_token(first, actor=lead)
    tokens.make_token(lead, name="c", scopes=["read"])
