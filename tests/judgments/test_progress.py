"""Tests of round progress: counters match the judgments, remaining work and pace per rater."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from judgments import round_reports
from judgments.models import Round, Slot, Tally
from judgments.progress import progress

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated(make_round, rater, rater2, rater3, rate_all):
    """Three raters, of whom one has graded everything, eight seconds a pair."""
    round_ = make_round(raters=[rater, rater2, rater3], queries=4, documents=5)
    rate_all(round_, rater, grade=lambda pair: pair.position % 4, seconds_active=8.0)
    return round_


def test_tallies_say_what_counting_says(rated, rater):
    found = progress(rated)
    assert found.pairs == rated.pairs.count()
    assert found.wanted == Slot.objects.filter(round=rated).count()
    assert found.filled == Slot.objects.filter(round=rated, filled_by__isnull=False).count() == 20
    (mine,) = [row for row in found.raters if row.username == rater.username]
    assert (mine.graded, mine.unrateable, mine.later) == (20, 0, 0)
    assert mine.median_seconds == pytest.approx(8.0, rel=0.05)


def test_what_is_left_falls_to_those_who_have_done_less(rated, rater):
    found = progress(rated)
    left = {row.username: row.left for row in found.raters}
    assert sum(left.values()) == found.left == 20
    assert left.pop(rater.username) == 0
    assert set(left.values()) == {10}
    # Who was never measured is taken to be as quick as the others.
    assert found.hours_left == pytest.approx(20 * 8 / 3600, rel=0.05)


def test_who_left_or_pauses_is_left_with_nothing(rated, rater2):
    asked = rated.raters.get(user=rater2)
    asked.paused_at = timezone.now()
    asked.save(update_fields=["paused_at"])
    left = {row.username: row.left for row in progress(rated).raters}
    assert left[rater2.username] == 0
    assert sum(left.values()) == 20


def test_each_rater_has_their_own_pace(rated, rater2):
    Tally.objects.update_or_create(round=rated, rater=rater2, defaults={"seconds": {"50": 3}, "filled": 3})
    found = progress(rated)
    (slow,) = [row for row in found.raters if row.username == rater2.username]
    assert slow.median_seconds == pytest.approx(32.0)
    assert slow.hours_left == pytest.approx(slow.left * 32 / 3600)
    assert found.hours_left == pytest.approx(sum(row.hours_left for row in found.raters))


def test_the_pace_since_opening_says_when_all_is_done(rated):
    assert progress(rated).done_by is None
    Round.objects.filter(pk=rated.pk).update(opened_at=timezone.now() - timedelta(days=2))
    rated.refresh_from_db()
    found = progress(rated)
    assert found.a_day == pytest.approx(10, rel=0.01)
    assert found.done_by - timezone.now() == pytest.approx(timedelta(days=2), rel=0.01)


def test_ratings_beyond_the_plan_are_called_in(rated):
    assert progress(rated).called_in == 0
    Round.objects.filter(pk=rated.pk).update(slots_made=rated.slots_made + 3)
    rated.refresh_from_db()
    assert progress(rated).called_in == 3


def test_queries_and_reasons_are_counted(rated, rater2, make_round, rate_all):
    reasons, queries = round_reports.counts(rated)
    assert reasons == []
    assert [(wanted, there) for _, _, wanted, there in queries] == [(10, 5)] * 4


def test_an_empty_round_divides_by_nothing(make_round, rater):
    round_ = make_round(raters=[rater])
    found = progress(round_)
    assert (found.filled, found.hours_left, found.a_day, found.done_by) == (0, None, None, None)
    assert (found.share, found.time_left) == (0.0, None)
