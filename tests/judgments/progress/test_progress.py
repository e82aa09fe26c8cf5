"""Tests of round progress: counters match the judgments, remaining work and pace per rater."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from judgments.agreement import round_report
from judgments.models import Round, Slot, Tally
from judgments.progress.progress import progress

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated(make_round, rater, rater2, rater3, rate_all):
    """Three raters, of whom one has graded everything, eight seconds a pair."""
    round_ = make_round(raters=[rater, rater2, rater3], queries=4, documents=5)
    rate_all(round_, rater, grade=lambda pair: pair.position % 4, seconds_active=8.0)
    return round_


def test_counters_equal_counts(rated, rater):
    report = progress(rated)
    assert report.pairs == rated.pairs.count()
    assert report.wanted == Slot.objects.filter(round=rated).count()
    assert report.filled == Slot.objects.filter(round=rated, filled_by__isnull=False).count() == 20
    (mine,) = [row for row in report.raters if row.username == rater.username]
    assert (mine.graded, mine.unrateable, mine.later) == (20, 0, 0)
    assert mine.median_seconds == pytest.approx(8.0, rel=0.05)


def test_remaining_work_goes_to_raters_who_did_less(rated, rater):
    report = progress(rated)
    left = {row.username: row.left for row in report.raters}
    assert sum(left.values()) == report.left == 20
    assert left.pop(rater.username) == 0
    assert set(left.values()) == {10}
    # Who was never measured is taken to be as quick as the others.
    assert report.hours_left == pytest.approx(20 * 8 / 3600, rel=0.05)


def test_absent_raters_have_nothing_left(rated, rater2):
    round_rater = rated.raters.get(user=rater2)
    round_rater.paused_at = timezone.now()
    round_rater.save(update_fields=["paused_at"])
    left = {row.username: row.left for row in progress(rated).raters}
    assert left[rater2.username] == 0
    assert sum(left.values()) == 20


def test_each_rater_has_their_own_pace(rated, rater2):
    Tally.objects.update_or_create(round=rated, rater=rater2, defaults={"seconds": {"50": 3}, "filled": 3})
    report = progress(rated)
    (slow,) = [row for row in report.raters if row.username == rater2.username]
    assert slow.median_seconds == pytest.approx(32.0)
    assert slow.hours_left == pytest.approx(slow.left * 32 / 3600)
    assert report.hours_left == pytest.approx(sum(row.hours_left for row in report.raters))


def test_the_pace_since_opening_says_when_all_is_done(rated):
    assert progress(rated).done_by is None
    Round.objects.filter(pk=rated.pk).update(opened_at=timezone.now() - timedelta(days=2))
    rated.refresh_from_db()
    report = progress(rated)
    assert report.a_day == pytest.approx(10, rel=0.01)
    assert report.done_by - timezone.now() == pytest.approx(timedelta(days=2), rel=0.01)


def test_ratings_beyond_the_plan_are_counted_as_extra(rated):
    assert progress(rated).called_in == 0
    Round.objects.filter(pk=rated.pk).update(slots_made=rated.slots_made + 3)
    rated.refresh_from_db()
    assert progress(rated).called_in == 3


def test_queries_and_reasons_are_counted(rated, rater2, make_round, rate_all):
    reasons, queries = round_report.counts(rated)
    assert reasons == []
    assert [(wanted, there) for _, _, wanted, there in queries] == [(10, 5)] * 4


def test_an_empty_round_divides_by_nothing(make_round, rater):
    round_ = make_round(raters=[rater])
    report = progress(round_)
    assert (report.filled, report.hours_left, report.a_day, report.done_by) == (0, None, None, None)
    assert (report.share, report.time_left) == (0.0, None)
