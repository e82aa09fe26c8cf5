"""Tests of the event of new alerts: each is recorded once, and rounds with new judgments are checked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from judgments.events.events import emit, visible
from judgments.models import CollectionEvent, Job, Membership, Role, Round, RoundRater
from judgments.quality import checks
from judgments.rating import assignment

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
def round_(make_round: Make, rater: Any, rater2: Any, rate_all: Make) -> Round:
    made: Round = make_round(queries=12, documents=5, raters=[rater, rater2])
    rate_all(made, rater, lambda pair: pair.position % 3)
    return made


def alerts() -> list[list[str]]:
    rows = CollectionEvent.objects.filter(kind="quality.alert").order_by("pk")
    return [check for data in rows.values_list("data", flat=True) for check in data["alerts"]]


def test_an_alert_is_recorded_once(round_: Round, rater2: Any, rate_all: Make) -> None:
    checks.record_alerts(round_)
    assert alerts() == []
    rate_all(round_, rater2, 3)
    checks.record_alerts(round_)
    checks.record_alerts(round_)
    name = RoundRater.objects.get(round=round_, user=rater2).pseudonym
    assert [name, "same-grade"] in alerts()
    assert CollectionEvent.objects.filter(kind="quality.alert").count() == 1


def test_rounds_with_new_judgments_are_checked(
    round_: Round, rater2: Any, rater3: Any, answer: Make, commit: Any
) -> None:
    def queue(minutes: int) -> int:
        Job.objects.filter(finished_at__isnull=False).update(finished_at=timezone.now() - timedelta(minutes=minutes))
        before = Job.objects.values_list("started_at", flat=True).first()
        with commit(execute=True):
            checks.queue_alert_checks()
        return int(Job.objects.values_list("started_at", flat=True).get() != before)

    assert [queue(11), queue(11)] == [1, 0]
    pair = assignment.claim_batch(round_, rater=rater2, size=1)[0]
    answer(round_, rater2, pair)
    assert [queue(9), queue(11), queue(11)] == [0, 1, 0]


def test_alerts_are_hidden_from_a_lead_who_still_rates(round_: Round, rater2: Any, lead: Any, rate_all: Make) -> None:
    Membership.objects.filter(user=rater2).update(role=Role.LEAD)
    event = emit("quality.alert", round_.collection, text="x", page="/", data={"round": str(round_.uuid)})
    assert (visible(lead, event), visible(rater2, event)) == (True, False)
    rate_all(round_, rater2, 3)
    assert visible(rater2, event)
