"""Tests of the add_user command: login, superusers, audit rows, weak or missing passwords."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from judgments.models import AuditRow, User

pytestmark = pytest.mark.django_db
GOOD = "plenty-of-rain-42"


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command with a password on standard input."""

    def run(name: str, password: str = GOOD, **options: Any) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
        out = io.StringIO()
        call_command("add_user", name, password_stdin=True, stdout=out, **options)
        return out.getvalue()

    return run


def test_the_user_can_log_in(add: Any) -> None:
    assert "mina can log in" in add("mina", email="mina@shop.example")
    user = authenticate(username="mina", password=GOOD)
    assert (user.email, user.is_staff) == ("mina@shop.example", False)


def test_a_superuser_may_use_the_admin(add: Any) -> None:
    add("mina", superuser=True)
    assert User.objects.get(username="mina").is_superuser


def test_it_is_recorded_in_the_audit_trail(add: Any) -> None:
    add("mina")
    assert "mina" in AuditRow.objects.get(verb="add_user").sentence


@pytest.mark.parametrize(("name", "password"), [("mina", ""), ("a b", GOOD), ("", GOOD)])
def test_invalid_users_are_refused(add: Any, name: str, password: str) -> None:
    with pytest.raises(CommandError):
        add(name, password)
    assert not User.objects.exists()


def test_a_weak_password_warns(add: Any) -> None:
    err = io.StringIO()
    add("mina", "short", stderr=err)
    assert "weak" in err.getvalue()
    assert "manage.py changepassword mina" in err.getvalue()


def test_a_name_is_given_once(add: Any) -> None:
    add("mina")
    with pytest.raises(CommandError, match="already exists"):
        add("mina")


def test_without_a_terminal_a_password_option_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(CommandError, match="--password-stdin"):
        call_command("add_user", "mina")
