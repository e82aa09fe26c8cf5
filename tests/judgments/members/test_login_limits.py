"""Tests of login limits: guessing passwords slows down, and guessers can't lock others out."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.backends import ModelBackend
from django.db import connection
from django.test import Client
from django.utils import timezone

from assay.core.errors import TooMany
from judgments.members import login_limits
from judgments.models import LoginTries
from judgments.web.client_address import client_address
from tests.threads import at_once

pytestmark = pytest.mark.django_db
FREE = int(login_limits.NAME_FROM_ADDRESS.free)
PROXY = "10.0.0.1"


@pytest.fixture(autouse=True)
def one_proxy(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server behind one proxy; the first wait is long enough that no slow machine sits it out."""
    settings.TRUSTED_PROXIES = ["1"]
    for name, limit in (("NAME_FROM_ADDRESS", login_limits.NAME_FROM_ADDRESS), ("NAME", login_limits.NAME)):
        longer = login_limits.Limit(limit.free, limit.per_second, first=60.0, longest=900.0)
        monkeypatch.setattr(login_limits, name, longer)


def behind(address: str) -> dict[str, str]:
    """A request through the proxy; what the client itself wrote stands on the left."""
    return {"REMOTE_ADDR": PROXY, "HTTP_X_FORWARDED_FOR": f"203.0.113.9, {address}"}


def by_page(name: str, password: str, address: str) -> Any:
    return Client().post("/login/", {"username": name, "password": password}, **behind(address))


def by_admin(name: str, password: str, address: str) -> Any:
    return Client().post("/admin/login/", {"username": name, "password": password}, **behind(address))


def by_basic(name: str, password: str, address: str) -> Any:
    login = base64.b64encode(f"{name}:{password}".encode()).decode()
    more = {**behind(address), "HTTP_AUTHORIZATION": f"Basic {login}"}
    return Client().get("/api/v1/tokens/", **more)


DOORS = [by_page, by_basic, by_admin]
GOOD = (200, 302)


def followed(function: Callable[..., Any], before: Callable[..., None]) -> Callable[..., Any]:
    """Return the method, which first calls another function with the same arguments."""

    def called(self: Any, request: Any, username: str = "", password: str = "", **more: Any) -> Any:
        before(request, username, password)
        return function(self, request, username=username, password=password, **more)

    return called


def waited() -> None:
    """The time of waiting is over."""
    LoginTries.objects.update(blocked_until=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("door", DOORS)
def test_the_wait_grows_and_ends(door: Callable[..., Any], make_user: Any) -> None:
    make_user("lena", is_staff=True)
    for _ in range(FREE):
        assert door("lena", "wrong", "198.51.100.1").status_code in (200, 401, 422)
    waits = []
    for _ in range(4):
        refused = door("lena", "pass", "198.51.100.1")
        assert refused.status_code == 429
        waits.append(int(refused["Retry-After"]))
        waited()
        assert door("lena", "wrong", "198.51.100.1").status_code in (200, 401, 422)
    assert waits == sorted(set(waits))
    waited()
    assert door("lena", "pass", "198.51.100.1").status_code in GOOD
    assert door("lena", "pass", "198.51.100.1").status_code in GOOD


@pytest.mark.parametrize("door", DOORS)
def test_guessing_does_not_lock_out_the_owner(door: Callable[..., Any], make_user: Any) -> None:
    make_user("lena", is_staff=True)
    for _ in range(3 * FREE):
        door("lena", "wrong", "198.51.100.1")
    assert door("lena", "pass", "198.51.100.1").status_code == 429
    assert door("lena", "pass", "198.51.100.2").status_code in GOOD


def test_forged_forwarding_headers_are_ignored(make_user: Any) -> None:
    make_user("lena")
    statuses = []
    for number in range(FREE + 1):
        more = {"REMOTE_ADDR": PROXY, "HTTP_X_FORWARDED_FOR": f"192.0.2.{number}, 198.51.100.1"}
        statuses.append(Client().post("/login/", {"username": "lena", "password": "wrong"}, **more).status_code)
    assert statuses == [422] * FREE + [429]


def test_one_password_for_many_names_waits(settings: Any, make_user: Any) -> None:
    settings.LOGIN_RATE = "10/hour"
    make_user("lena")
    doors = [by_page, by_basic]
    statuses = [doors[n % 2](f"name{n}", "wrong", "198.51.100.1").status_code for n in range(10)]
    assert 429 not in statuses
    LoginTries.objects.filter(blocked_until__isnull=False).update(blocked_until=timezone.now() + timedelta(minutes=1))
    assert by_page("lena", "pass", "198.51.100.1").status_code == 429
    assert by_page("lena", "pass", "198.51.100.2").status_code == 302


def test_ones_own_right_password_between_guesses_forgives_nothing(settings: Any, make_user: Any) -> None:
    settings.LOGIN_RATE = "10/hour"
    make_user("mallory")
    make_user("lena")
    for number in range(9):
        assert by_page(f"name{number}", "wrong", "198.51.100.1").status_code == 422
        assert by_page("mallory", "pass", "198.51.100.1").status_code == 302
    assert by_page("name9", "wrong", "198.51.100.1").status_code == 422
    LoginTries.objects.filter(blocked_until__isnull=False).update(blocked_until=timezone.now() + timedelta(minutes=1))
    assert by_page("name10", "wrong", "198.51.100.1").status_code == 429


def test_known_addresses_do_not_wait_for_others(settings: Any, make_user: Any) -> None:
    settings.LOGIN_RATE = "3/hour"
    make_user("lena")
    assert by_page("lena", "pass", "198.51.100.1").status_code == 302
    for number in range(6):
        by_page(f"name{number}", "wrong", "198.51.100.1")
    LoginTries.objects.filter(blocked_until__isnull=False).update(blocked_until=timezone.now() + timedelta(minutes=1))
    assert by_page("name", "wrong", "198.51.100.1").status_code == 429
    assert by_page("lena", "pass", "198.51.100.1").status_code == 302


def test_many_addresses_at_one_name_wait_and_its_owner_does_not(
    make_user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_limits, "NAME", login_limits.Limit(10, 1 / 60, first=60.0))
    make_user("lena")
    assert by_page("lena", "pass", "198.51.100.77").status_code == 302
    statuses = [by_page("lena", "wrong", f"198.51.100.{number}").status_code for number in range(11)]
    assert statuses == [422] * 10 + [429]
    assert by_page("lena", "pass", "198.51.100.77").status_code == 302


def test_one_client_with_many_networks_waits(settings: Any, make_user: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who rents a server, or asks a tunnel broker, has 65,536 networks of IPv6."""
    settings.LOGIN_RATE = "3/hour"
    monkeypatch.setattr(login_limits, "SITE_FACTOR", 2)
    make_user("maria")
    make_user("inga")
    assert by_page("inga", "pass", "2001:db8:1:ffff::1").status_code == 302
    for at in range(2 * 3):
        assert by_page(f"name{at}", "Summer2026", f"2001:db8:1:{at}::1").status_code == 422
    assert by_page("maria", "pass", "2001:db8:1:aaaa::1").status_code == 429
    assert by_page("maria", "pass", "2001:db8:2::1").status_code == 302
    # Who logged in from there before does not wait for the neighbors.
    assert by_page("inga", "pass", "2001:db8:1:ffff::1").status_code == 302


def test_the_old_password_is_guessed_no_faster(client_of: Any, lead: Any) -> None:
    client = client_of(lead)
    new = {"new_password1": "larch-and-ridge-9", "new_password2": "larch-and-ridge-9"}

    def change(old: str) -> Any:
        return client.post("/password/", {"old_password": old, **new}, **behind("198.51.100.1"))

    assert [change("wrong").status_code for _ in range(FREE)] == [422] * FREE
    refused = change("pass")
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True)
    lead.refresh_from_db()
    assert lead.check_password("pass")
    waited()
    assert change("pass").status_code == 302


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_many_tries_at_once_count_each(make_user: Any) -> None:
    make_user("lena")

    def guess() -> bool:
        with suppress(ValueError), login_limits.attempt(None, "lena", "API"):
            raise ValueError
        return True

    ends = at_once(*[guess] * 16)
    assert {type(end) for end in ends} == {bool, TooMany}
    assert ends.count(True) == FREE


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("door", [by_page, by_basic])
def test_parallel_spraying_gets_no_more_answers_than_the_limit(
    settings: Any, make_user: Any, monkeypatch: pytest.MonkeyPatch, door: Callable[..., Any]
) -> None:
    """Every password is looked at before any of them is counted, and one of them is right."""
    settings.LOGIN_RATE = "5/hour"
    make_user("lena")
    names = [f"name{number}" for number in range(15)]
    hashing = threading.Barrier(len(names) + 1)
    counted = threading.Event()

    def authenticate(request: Any, username: str, password: str) -> None:
        hashing.wait(60)
        if username == "lena":  # her right password is the last one to be compared
            counted.wait(60)

    monkeypatch.setattr(ModelBackend, "authenticate", followed(ModelBackend.authenticate, authenticate))
    later = login_limits.Limit
    monkeypatch.setattr(login_limits, "Limit", lambda *free: later(*free, first=600.0))
    statuses: list[int] = []
    right: list[int] = []

    def guess(name: str, password: str, answers: list[int]) -> None:
        try:
            answers.append(door(name, password, "198.51.100.1").status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=guess, args=(name, "Summer2026", statuses)) for name in names]
    last = threading.Thread(target=guess, args=("lena", "pass", right))
    for thread in (*threads, last):
        thread.start()
    for thread in threads:
        thread.join()
    counted.set()
    last.join()
    assert sorted(statuses, reverse=True)[:10] == [429] * 10
    assert 429 not in sorted(statuses, reverse=True)[10:]
    assert right == [429]
    # What nobody was answered counts nowhere.
    pairs = [login_limits.key_of("pair", name, "198.51.100.1") for name in names]
    assert LoginTries.objects.filter(pk__in=pairs, level__gt=0.5).count() == 5


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_an_office_logs_in_at_once(settings: Any, make_user: Any) -> None:
    """Right passwords on their way are no guesses, however many come from one address."""
    settings.LOGIN_RATE = "3/hour"
    names = [f"rater{number}" for number in range(12)]
    for name in names:
        make_user(name)
    answers = at_once(*(partial(by_page, name, "pass", "198.51.100.1") for name in names))
    assert [answer.status_code for answer in answers] == [302] * len(names)


def test_the_admins_own_page_guesses_no_old_password_either(client_of: Any, operator: Any) -> None:
    assert client_of(operator).get("/admin/password_change/").url == "/password/"


def test_old_counters_go(make_user: Any) -> None:
    by_page("nobody", "wrong", "198.51.100.1")
    LoginTries.objects.update(at=timezone.now() - login_limits.OLD * 2)
    before = set(LoginTries.objects.values_list("pk", flat=True))
    by_page("somebody", "wrong", "198.51.100.2")
    assert not before & set(LoginTries.objects.values_list("pk", flat=True))


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "client"),
    [
        ("198.51.100.1", "", [], "198.51.100.1"),
        ("198.51.100.1", "192.0.2.1", [], "198.51.100.1"),
        (PROXY, "", ["1"], PROXY),
        (PROXY, "192.0.2.1, 198.51.100.1", ["1"], "198.51.100.1"),
        (PROXY, "192.0.2.1, 198.51.100.1, 10.0.0.2", ["2"], "198.51.100.1"),
        (PROXY, "198.51.100.1", ["2"], "198.51.100.1"),
        (PROXY, "192.0.2.1, 198.51.100.1", ["10.0.0.0/8"], "198.51.100.1"),
        (PROXY, "192.0.2.1, 198.51.100.1, 10.0.0.2", ["10.0.0.1", "10.0.0.2"], "198.51.100.1"),
        ("198.51.100.1", "192.0.2.1", ["10.0.0.0/8"], "198.51.100.1"),
        (PROXY, "192.0.2.1, nonsense", ["10.0.0.0/8"], PROXY),
        (PROXY, "nonsense", ["1"], PROXY),
        (PROXY, "198.51.100.1:4711", ["1"], "198.51.100.1"),
        (PROXY, "[2001:db8::1]:4711", ["1"], "2001:db8::/64"),
        (PROXY, "::ffff:198.51.100.1", ["1"], "198.51.100.1"),
        ("", "198.51.100.1", ["1"], "198.51.100.1"),
        ("", "", [], ""),
        ("2001:db8::a:b:c:d", "", [], "2001:db8::/64"),
    ],
)
def test_the_address_is_what_ones_own_proxies_wrote(peer: str, forwarded: str, trusted: list[str], client: str) -> None:
    assert client_address(peer, forwarded, trusted) == client
