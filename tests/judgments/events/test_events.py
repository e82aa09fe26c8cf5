"""Tests of events: which actions record one, for whom, and who may see the result."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from judgments.events import events
from judgments.events.events import LISTENERS, Emitted, visible
from judgments.guidelines import guidelines
from judgments.members import round_raters
from judgments.models import CollectionEvent
from judgments.rounds import rounds
from judgments.snapshots import snapshots

pytestmark = pytest.mark.django_db


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> list[Emitted]:
    """The events of the test, with those whom they concern."""
    found: list[Emitted] = []
    monkeypatch.setattr("judgments.events.events.LISTENERS", [*LISTENERS, found.append])
    return found


def kinds(emitted: list[Emitted]) -> list[str]:
    return [one.event.kind for one in emitted]


def test_raters_get_work_when_a_round_opens_or_they_join(
    make_round: Callable[..., Any], emitted: list[Emitted], lead: Any, rater: Any, rater2: Any
) -> None:
    draft = make_round(raters=[rater], opened=False)
    round_raters.invite(draft, [rater2], actor=lead)
    assert emitted == []
    opened = rounds.open_round(draft, actor=lead)
    [event] = emitted
    assert (event.event.kind, set(event.raters), event.actor) == ("work.waiting", {rater, rater2}, lead)
    round_raters.leave(opened, rater2)
    round_raters.invite(opened, [rater, rater2], actor=lead)
    assert emitted[1].raters == (rater2,)
    rounds.close_round(opened, actor=lead)
    rounds.reopen_round(opened, reason="more", actor=lead)
    assert kinds(emitted) == ["work.waiting", "work.waiting", "round.closed", "work.waiting"]
    assert set(emitted[2].raters) == {rater, rater2}


def test_guidelines_of_raters_change(
    make_round: Callable[..., Any], emitted: list[Emitted], collection: Any, lead: Any, rater: Any
) -> None:
    make_round(raters=[rater], opened=False)
    assert emitted == []
    guidelines.add_version(collection, markdown="Grade more strictly.", actor=lead)
    assert [(one.event.kind, one.raters) for one in emitted] == [("guidelines.changed", (rater,))]


def test_a_closed_round_is_compared_with_its_gate(
    make_round: Callable[..., Any],
    emitted: list[Emitted],
    commit: Any,
    rate_all: Any,
    lead: Any,
    rater: Any,
    rater2: Any,
) -> None:
    round_ = make_round(raters=[rater, rater2], ratings_per_pair=2, queries=4, documents=4)
    for one in (rater, rater2):
        rate_all(round_, one, lambda pair: pair.position % 3)
    with commit(execute=True):
        rounds.close_round(round_, actor=lead)
    assert kinds(emitted) == ["work.waiting", "round.closed", "agreement.checked"]
    data = emitted[-1].event.data
    assert (data["round"], data["value"], data["threshold"]) == (str(round_.uuid), 1.0, round_.gate_threshold)
    assert data["state"] in {"passed", "undecided"}


def test_a_round_with_one_rating_per_pair_has_no_gate(
    make_round: Callable[..., Any], emitted: list[Emitted], commit: Any, lead: Any, rater: Any
) -> None:
    round_ = make_round(raters=[rater], ratings_per_pair=1)
    with commit(execute=True):
        rounds.close_round(round_, actor=lead)
    assert "agreement.checked" not in kinds(emitted)


def test_freezing(
    make_round: Callable[..., Any], emitted: list[Emitted], rate_all: Any, collection: Any, lead: Any, rater: Any
) -> None:
    round_ = make_round(raters=[rater], ratings_per_pair=1)
    rate_all(round_, rater)
    closed = rounds.close_round(round_, actor=lead)
    frozen = snapshots.freeze(collection, name="first", rounds=[closed], actor=lead)
    event = emitted[-1].event
    assert (event.kind, event.data) == ("snapshot.frozen", {"snapshot": str(frozen.uuid), "name": "first"})


def test_agreement_is_hidden_from_a_lead_who_rates_the_pairs_again(
    make_round: Callable[..., Any], commit: Any, rate_all: Any, lead: Any, rater: Any, rater2: Any
) -> None:
    round_ = make_round(raters=[rater, rater2], ratings_per_pair=2)
    rate_all(round_, rater)
    with commit(execute=True):
        rounds.close_round(round_, actor=lead)
    event = CollectionEvent.objects.get(kind="agreement.checked")
    assert visible(lead, event)
    again = make_round(raters=[lead, rater2], name="Again")
    assert not visible(lead, event)
    rate_all(again, lead)
    assert visible(lead, event)


def test_old_events_are_deleted(collection: Any) -> None:
    old = events.emit("snapshot.frozen", collection, text="x", page="", data={})
    new = events.emit("snapshot.frozen", collection, text="x", page="", data={})
    CollectionEvent.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=91))
    assert events.delete_old() == 1
    assert CollectionEvent.objects.get() == new
