"""Tests of turns: a limited number of costly operations run at once, password hashing included."""

from __future__ import annotations

import base64
import threading
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.test import Client

from assay.core.errors import Busy
from judgments.members import login_limits
from judgments.models import LoginTries
from judgments.web.middleware import Turns
from tests.threads import at_once


def test_no_more_at_once_than_there_are_turns() -> None:
    turns = Turns(2, waiting=20, seconds=60)
    working, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(2)

    def work() -> None:
        nonlocal working, most
        with turns.turn():
            with lock:
                working += 1
                most = max(most, working)
            together.wait(60)  # two have a turn at the same time
            with lock:
                working -= 1

    at_once(*[work] * 12)
    assert most == 2


def test_long_waits_are_refused_and_turns_are_returned() -> None:
    turns = Turns(1, waiting=1, seconds=0.01)
    with turns.turn(), pytest.raises(Busy) as refused, turns.turn():
        pass
    assert refused.value.retry_after > 0
    with pytest.raises(ZeroDivisionError), turns.turn():
        raise ZeroDivisionError
    with turns.turn():
        pass


@pytest.fixture
def argon2(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Turns:
    """The hasher of a server, with one turn and nobody who waits."""
    settings.PASSWORD_HASHERS = ["judgments.members.login_limits.Argon2InTurn"]
    turns = Turns(1, waiting=0, seconds=0.0)
    monkeypatch.setattr(login_limits, "password_turns", lambda: turns)
    return turns


def test_hashing_and_checking_a_password_take_a_turn(argon2: Turns) -> None:
    stored = make_password("a password")
    assert stored.startswith("argon2$argon2id$")
    assert check_password("a password", stored)
    assert not check_password("another", stored)
    with argon2.turn():
        for act in (lambda: make_password("a password"), lambda: check_password("a password", stored)):
            with pytest.raises(Busy):
                act()


@pytest.mark.django_db
def test_a_login_without_a_turn_is_refused_and_not_counted(argon2: Turns, make_user: Any) -> None:
    make_user("lena", is_staff=True)
    login = {"username": "lena", "password": "pass"}
    basic = {"HTTP_AUTHORIZATION": f"Basic {base64.b64encode(b'lena:pass').decode()}"}
    doors = [
        lambda: Client().post("/login/", login),
        lambda: Client().post("/admin/login/", login),
        lambda: Client().get("/api/v1/tokens/", **basic),
        lambda: Client().post("/login/", {"username": "nobody", "password": "pass"}),
    ]
    with argon2.turn():
        for door in doors * 12:
            answer = door()
            assert (answer.status_code, int(answer["Retry-After"]) > 0) == (503, True)
    assert not LoginTries.objects.filter(level__gt=0).exists()
    assert doors[0]().status_code == 302
