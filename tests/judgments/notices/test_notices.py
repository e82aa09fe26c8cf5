"""Tests of notices: who gets which, in which words, and who may read them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from judgments.events.events import VISIBILITY, emit
from judgments.events.kinds import KINDS
from judgments.members import collections
from judgments.models import Collection, Membership, Notice, Role
from judgments.notices import notices, preferences
from judgments.notices.preferences import Wish
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db
RESULT = "neural is better than bm25"


def happens(collection: Collection, kind: str, **more: Any) -> None:
    emit(
        kind,
        collection,
        text=more.pop("text", "It happened."),
        page="/here/",
        data={"round": str(uuid.uuid4()), "decision": str(uuid.uuid4())},
        **more,
    )


def readers() -> set[str]:
    return set(Notice.objects.values_list("user__username", flat=True))


@pytest.fixture
def hidden_from(monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """The users who may not see a result."""
    users: set[Any] = set()
    for kind in VISIBILITY:
        monkeypatch.setitem(VISIBILITY._members, kind, lambda user, event: user not in users)
    return users


def test_leads_get_verdicts_and_the_one_who_acted_gets_nothing(collection: Any, lead: Any, lead2: Any) -> None:
    happens(collection, "snapshot.frozen", actor=lead)
    assert readers() == {"lars"}
    happens(collection, "labels.stale")
    assert readers() == {"lars", "lena"}


def test_raters_get_what_concerns_them_with_their_own_page(
    collection: Any, lead: Any, lead2: Any, rater: Any, outsider: Any
) -> None:
    happens(collection, "round.closed", raters=[rater, lead2, outsider], rater_page="/", actor=lead)
    pages = dict(Notice.objects.values_list("user__username", "page"))
    assert pages == {"rosa": "/", "lars": "/here/"}


def test_a_lead_who_still_rates_gets_no_result(collection: Any, lead: Any, lead2: Any, hidden_from: set[Any]) -> None:
    hidden_from.add(lead2)
    happens(collection, "agreement.checked", text=RESULT)
    texts = dict(Notice.objects.values_list("user__username", "text"))
    assert texts["lena"] == RESULT
    assert texts["lars"] == KINDS["agreement.checked"].withheld
    assert "better" not in texts["lars"]


@pytest.mark.parametrize("kind", ["gate.failed", "verdict.reached"])
def test_a_lead_who_still_rates_learns_nothing_of_an_event_that_is_its_result(
    collection: Any, lead: Any, lead2: Any, hidden_from: set[Any], kind: str
) -> None:
    hidden_from.add(lead2)
    happens(collection, kind, text=RESULT)
    assert readers() == {"lena"}


def test_every_kind_whose_result_can_be_hidden_has_other_words() -> None:
    assert set(VISIBILITY) == {kind.name for kind in KINDS.values() if kind.withheld or kind.reveals}


def test_only_wanted_notices_are_stored(collection: Any, lead: Any, lead2: Any) -> None:
    preferences.save(lead, {"labels.stale": Wish(in_app=False, by_mail=False)})
    happens(collection, "labels.stale")
    assert readers() == {"lars"}


def test_former_members_and_former_leads_read_nothing_more(collection: Any, lead: Any, lead2: Any) -> None:
    happens(collection, "labels.stale")
    happens(collection, "round.closed")
    assert notices.unread(lead2) == 2
    membership = Membership.objects.get(user=lead2)
    collections.change_role(membership, actor=lead, role=Role.RATER)
    assert [row.event.kind for row in notices.shown(lead2)] == ["round.closed"]
    collections.remove_member(Membership.objects.get(user=lead2), actor=lead)
    assert not notices.shown(lead2).exists()


def test_reading_is_ones_own(collection: Any, lead: Any, lead2: Any) -> None:
    happens(collection, "labels.stale")
    happens(collection, "round.closed")
    assert notices.mark_read(lead, notices.shown(lead)[0]) == 1
    assert (notices.unread(lead), notices.unread(lead2)) == (1, 2)
    assert notices.mark_read(lead) == 1
    assert (notices.unread(lead), notices.unread(lead2)) == (0, 2)


def test_a_round_that_opens_gives_its_raters_notices(
    make_round: Callable[..., Any], lead: Any, rater: Any, rater2: Any
) -> None:
    made = make_round(raters=[rater, rater2])
    assert readers() == {"rosa", "rudi"}
    assert set(Notice.objects.values_list("page", flat=True)) == {f"/rounds/{made.uuid}/rate/"}
    Notice.objects.all().delete()
    rounds.close_round(made, actor=lead)
    assert readers() == {"rosa", "rudi"}
