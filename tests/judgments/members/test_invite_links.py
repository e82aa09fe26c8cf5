"""Tests of invite links: each admits one person once and reveals nothing to others."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from assay.core.errors import Conflict, NotFound, NotValid
from judgments.members import collections, invite_links, login_limits
from judgments.models import AuditRow, InviteLink, LoginTries, Membership, Role, Round, User
from judgments.rounds import rounds
from tests.threads import at_once

MOST_TRIES = int(login_limits.INVITATION.free)
pytestmark = pytest.mark.django_db
Make = Callable[..., Any]
PASSWORD = "tents and stoves 7"
ACCOUNT = {"username": "nina", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture(autouse=True)
def _switched_on(settings: Any) -> None:
    settings.INVITE_LINKS = True


@pytest.fixture
def round_(make_round: Make, rater: Any) -> Round:
    return make_round(raters=[rater])


@pytest.fixture
def link(collection: Any, lead: Any, round_: Round) -> tuple[InviteLink, str]:
    return invite_links.make(collection, actor=lead, round_=round_, meant_for="Nina")


def come_in(client: Client, code: str, **account: str) -> Any:
    client.post("/invite/", {"code": code})
    return client.post("/invite/", {**ACCOUNT, **account})


def test_a_person_without_an_account_comes_in_and_rates(link: tuple[InviteLink, str], round_: Round) -> None:
    client = Client()
    assert client.post("/invite/", {"code": link[1]}).headers["Location"] == "/invite/"
    page = client.get("/invite/")
    assert "invited you to rate" in page.content.decode()
    assert client.post("/invite/", ACCOUNT).headers["Location"] == f"/rounds/{round_.uuid}/rate/"
    user = User.objects.get(username="nina")
    assert client.get(f"/rounds/{round_.uuid}/rate/").status_code == 200
    assert (user.check_password(PASSWORD), user.is_staff, user.is_superuser) == (True, False, False)
    assert Membership.objects.get(user=user).role == Role.RATER
    assert rounds.is_rater(user, round_)
    row = InviteLink.objects.get()
    assert (row.used_by, row.used_at is not None) == (user, True)
    assert AuditRow.objects.filter(verb="invite_links.join", actor=user, target_uuid=row.uuid).count() == 1


def test_the_code_is_stored_as_a_hash_and_shown_once(
    client_of: Make, api_of: Make, lead: Any, collection: Any, round_: Round
) -> None:
    client, path = client_of(lead), f"/c/{collection.slug}/members/links/"
    made = client.post(
        path, {"meant_for": "Nina", "role": "rater", "round_": str(round_.uuid), "days": "3"}
    ).content.decode()
    [code] = re.findall(r"http://testserver/invite/#([\w-]{40,})<", made)
    api = f"/api/v1/collections/{collection.slug}/invite-links/"
    by_api = api_of(lead).post(api, {"days": 3}, format="json")
    other = by_api.json()["address"].partition("#")[2]
    assert by_api.headers["Cache-Control"] == "no-store"
    everywhere = client.get(path).content.decode() + str(api_of(lead).get(api).json())
    everywhere += str(list(InviteLink.objects.values())) + str(list(AuditRow.objects.values()))
    for one in (code, other):
        assert len(one) >= 43
        assert one not in everywhere
    assert invite_links.opened(InviteLink.objects.get(meant_for="Nina").digest) is not None
    assert invite_links.opened("Nina") is None
    assert come_in(Client(), code).status_code == 302


def test_invalid_links_get_the_same_response(collection: Any, lead: Any, rater2: Any, round_: Round) -> None:
    def code() -> tuple[InviteLink, str]:
        return invite_links.make(collection, actor=lead, round_=round_)

    used, taken, late, unlead, over = code(), code(), code(), code(), code()
    come_in(Client(), used[1])
    invite_links.revoke(taken[0], actor=lead)
    InviteLink.objects.filter(pk=late[0].pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    InviteLink.objects.filter(pk=unlead[0].pk).update(created_by=rater2)
    other = Round.objects.get(pk=round_.pk)
    answers = {}
    for name, text in {
        "used": used[1], "taken": taken[1], "late": late[1], "not by a lead": unlead[1], "unknown": "x" * 43,
        "empty": "", "odd": "\0é", "long": "y" * 5000,
    }.items():  # fmt: skip
        response = Client().post("/invite/", {"code": text})
        answers[name] = (response.status_code, _without_tokens(response))
    rounds.close_round(other, actor=lead)
    response = Client().post("/invite/", {"code": over[1]})
    answers["closed"] = (response.status_code, _without_tokens(response))
    assert len(set(answers.values())) == 1, {name: status for name, (status, _) in answers.items()}
    assert answers["used"][0] == 422


def _without_tokens(response: Any) -> str:
    return re.sub(r'"[A-Za-z0-9]{64}"', '""', response.content.decode())


def test_a_link_that_is_used_meanwhile_makes_no_account(link: tuple[InviteLink, str]) -> None:
    first, second = Client(), Client()
    for client in (first, second):
        client.post("/invite/", {"code": link[1]})
    assert first.post("/invite/", ACCOUNT).status_code == 302
    late = second.post("/invite/", {**ACCOUNT, "username": "nils"})
    assert late.status_code == 422
    assert invite_links.OPENS_NOTHING in late.content.decode()
    assert not User.objects.filter(username="nils").exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_comes_in(link: tuple[InviteLink, str]) -> None:
    names = ("nina", "nils")
    ends = at_once(*(partial(invite_links.accept, link[0].digest, username=name, password=PASSWORD) for name in names))
    assert sorted(isinstance(end, NotFound) for end in ends) == [False, True]
    assert User.objects.filter(username__in=["nina", "nils"]).count() == 1


def test_people_with_an_account_log_in_instead(
    link: tuple[InviteLink, str], outsider: Any, round_: Round, collection: Any
) -> None:
    client = Client()
    client.post("/invite/", {"code": link[1]})
    taken = client.post("/invite/", {**ACCOUNT, "username": "OTTO"})
    assert taken.status_code == 422
    assert "log in" in taken.content.decode()
    assert 'href="/login/?next=/invite/"' in client.get("/invite/").content.decode()
    entered = client.post("/login/", {"username": "otto", "password": "pass", "next": "/invite/"})
    assert entered.headers["Location"] == "/invite/"
    assert "Join as otto" in client.get("/invite/").content.decode()
    assert client.post("/invite/", {"join": "1"}).headers["Location"] == f"/rounds/{round_.uuid}/rate/"
    assert Membership.objects.get(user=outsider, collection=collection).role == Role.RATER
    assert not User.objects.filter(username="nina").exists()


def test_members_do_not_use_up_the_link(
    client_of: Make, link: tuple[InviteLink, str], rater: Any, engineer: Any, lead: Any
) -> None:
    for person in (rater, engineer):
        client = client_of(person)
        client.post("/invite/", {"code": link[1]})
        assert client.post("/invite/", {"join": "1"}).status_code == 409
    assert InviteLink.objects.get().used_at is None
    assert Membership.objects.get(user=engineer).role == Role.ENGINEER


def test_readers_of_the_grades_cannot_join(
    link: tuple[InviteLink, str], engineer: Any, lead: Any, rater: Any, round_: Round, rate_all: Make
) -> None:
    rate_all(round_, rater)
    collections.remove_member(Membership.objects.get(user=engineer), actor=lead)
    with pytest.raises(NotValid, match="cannot rate it blind"):
        invite_links.join(link[0].digest, user=engineer)
    assert InviteLink.objects.get().used_at is None
    assert not Membership.objects.filter(user=engineer).exists()


def test_no_address_and_no_cache_tells_the_code(link: tuple[InviteLink, str]) -> None:
    client = Client()
    pages = [client.get("/invite/"), client.post("/invite/", {"code": link[1]}), client.get("/invite/")]
    pages.append(client.post("/invite/", {**ACCOUNT, "password2": "oTh3r-one"}))
    for page in pages:
        # Not "no-referrer": a browser would then post with the origin "null", which is refused.
        assert page.headers["Referrer-Policy"] == "same-origin"
        assert "no-store" in page.headers["Cache-Control"]
        assert link[1] not in page.content.decode() + str(page.headers)
    assert link[1] not in str(dict(client.session))
    assert "oTh3r-one" not in pages[-1].content.decode()


def test_weak_passwords_and_odd_names_are_refused(link: tuple[InviteLink, str]) -> None:
    client = Client()
    client.post("/invite/", {"code": link[1]})
    for wrong in (
        {"password1": "12345678", "password2": "12345678"},
        {"password2": "another one 8"},
        {"username": ""},
        {"username": "a b<c"},
        {"username": "n\0"},
        {"username": "x" * 151},
        {"password1": "nina-nina", "password2": "nina-nina", "username": "nina-nina"},
    ):
        assert client.post("/invite/", {**ACCOUNT, **wrong}).status_code == 422, wrong
    assert InviteLink.objects.get().used_at is None


def test_guessing_codes_is_limited_without_locking_others_out(link: tuple[InviteLink, str]) -> None:
    """Behind one address may be an office, or the proxy that all requests come through."""
    client = Client()
    statuses = [client.post("/invite/", {"code": f"guess {number}"}).status_code for number in range(MOST_TRIES + 1)]
    assert statuses == [422] * MOST_TRIES + [429]
    assert client.post("/invite/", {"code": link[1]}).status_code == 302
    assert client.post("/invite/", ACCOUNT).status_code == 302
    assert InviteLink.objects.get().used_by is not None


def test_a_link_reveals_few_existing_names(
    link: tuple[InviteLink, str], collection: Any, lead: Any, outsider: Any
) -> None:
    """Who asks from elsewhere each time asks by the same link; a link of somebody else does not rest with it."""
    taken = {**ACCOUNT, "username": outsider.username}

    def tried(code: str, number: int, form_data: dict[str, str]) -> int:
        client = Client(REMOTE_ADDR=f"192.0.2.{number}")
        client.post("/invite/", {"code": code})
        return client.post("/invite/", form_data).status_code

    statuses = [tried(link[1], number, taken) for number in range(MOST_TRIES + 1)]
    assert statuses == [422] * MOST_TRIES + [429]
    assert tried(link[1], 0, ACCOUNT) == 429
    _, other = invite_links.make(collection, actor=lead)
    assert tried(other, 0, ACCOUNT) == 302
    LoginTries.objects.update(blocked_until=None)
    assert tried(link[1], 0, {**ACCOUNT, "username": "otto2"}) == 302


def test_where_it_is_off_nothing_of_it_is_there(
    settings: Any, client_of: Make, api_of: Make, lead: Any, collection: Any, link: tuple[InviteLink, str]
) -> None:
    settings.INVITE_LINKS = False
    assert Client().get("/invite/").status_code == 404
    assert Client().post("/invite/", {"code": link[1]}).status_code == 404
    assert client_of(lead).get(f"/c/{collection.slug}/members/links/").status_code == 404
    assert (
        api_of(lead).post(f"/api/v1/collections/{collection.slug}/invite-links/", {}, format="json").status_code == 404
    )
    assert "links/" not in client_of(lead).get(f"/c/{collection.slug}/members/").content.decode()
    for refused in (
        lambda: invite_links.make(collection, actor=lead),
        lambda: invite_links.accept(link[0].digest, username="nina", password=PASSWORD),
        lambda: invite_links.join(link[0].digest, user=lead),
    ):
        with pytest.raises(NotFound):
            refused()


def test_links_are_bounded(collection: Any, lead: Any, round_: Round, monkeypatch: pytest.MonkeyPatch) -> None:
    for days in (0, 31):
        with pytest.raises(NotValid):
            invite_links.make(collection, actor=lead, days=days)
    monkeypatch.setattr(invite_links, "MOST_LIVE", 1)
    made, _ = invite_links.make(collection, actor=lead)
    with pytest.raises(Conflict):
        invite_links.make(collection, actor=lead)
    invite_links.revoke(made, actor=lead)
    with pytest.raises(Conflict):
        invite_links.revoke(made, actor=lead)
    invite_links.make(collection, actor=lead)
    Round.objects.filter(pk=round_.pk).update(qualification="chemistry")
    round_.refresh_from_db()
    with pytest.raises(Conflict, match="chemistry"):
        invite_links.make(collection, actor=lead, round_=round_)


def test_a_link_names_no_round_of_another_collection(
    client_of: Make, api_of: Make, outsider: Any, round_: Round
) -> None:
    other = collections.create_collection(actor=outsider, slug="elsewhere", name="Elsewhere")
    path = f"/c/{other.slug}/members/links/"
    for value in (str(round_.uuid), "junk", "\0"):
        assert client_of(outsider).post(path, {"role": "rater", "round_": value, "days": "3"}).status_code == 422
    api = f"/api/v1/collections/{other.slug}/invite-links/"
    assert api_of(outsider).post(api, {"round": str(round_.uuid)}, format="json").status_code == 400
    assert not InviteLink.objects.exists()
