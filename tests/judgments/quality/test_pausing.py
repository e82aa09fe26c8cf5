"""Tests of pausing raters and returning excluded judgments to the queue."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from assay.core.errors import Conflict, NotValid, Paused
from judgments.labels import round_labels
from judgments.models import AuditRow, Judgment, Round, RoundRater, Slot, Tally
from judgments.quality import pausing
from judgments.quality.pausing import JudgmentFilter
from judgments.rating import assignment, pair_state, submission
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
def round_(make_round: Make, rater: Any, rater2: Any, rater3: Any) -> Round:
    return make_round(queries=3, documents=4, raters=[rater, rater2, rater3], ratings_per_pair=2)


def round_rater_of(round_: Round, rater: Any) -> RoundRater:
    return RoundRater.objects.get(round=round_, user=rater)


def recounted(round_: Round) -> None:
    """What the tallies keep is what the events say."""
    names = ("graded", "unrateable", "later", "surplus", "filled", "events", "seconds")
    counted = pair_state.recount(round_)
    for tally in Tally.objects.filter(round=round_):
        expected = {name: getattr(counted[tally.rater_id], name) for name in names}
        assert {name: getattr(tally, name) for name in names} == expected


def test_a_paused_rater_sees_the_reason_and_releases_pairs(round_: Round, rater: Any, rater2: Any, lead: Any) -> None:
    held = assignment.claim_batch(round_, rater=rater, size=12)
    pausing.pause(round_rater_of(round_, rater), reason="Let us look at some together.", actor=lead)
    assert not Slot.objects.filter(rater=rater).exists()
    with pytest.raises(Paused, match="Let us look at some together"):
        assignment.claim_batch(round_, rater=rater)
    receipt = submission.submit(round_, submission.Answer(uuid.uuid4(), held[0].uuid, 2), rater=rater)
    assert not receipt.judgment.surplus, "what was graded before they read it is kept"
    assert len(assignment.claim_batch(round_, rater=rater2, size=12)) == 12
    with pytest.raises(Conflict, match="already paused"):
        pausing.pause(round_rater_of(round_, rater), reason="Again.", actor=lead)
    pausing.resume(round_rater_of(round_, rater), actor=lead)
    assert assignment.claim_batch(round_, rater=rater)
    with pytest.raises(Conflict, match="not paused"):
        pausing.resume(round_rater_of(round_, rater), actor=lead)
    assert [row.verb for row in AuditRow.objects.filter(verb__startswith="pausing")][::-1] in (
        ["pausing.pause", "pausing.resume"],
        ["pausing.resume", "pausing.pause"],
    )


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_a_pause_needs_a_reason(round_: Round, rater: Any, lead: Any, reason: str) -> None:
    with pytest.raises(NotValid) as refused:
        pausing.pause(round_rater_of(round_, rater), reason=reason, actor=lead)
    assert "reason" in refused.value.fields


def test_excluded_judgments_free_their_pairs_for_other_raters(
    round_: Round, rater: Any, rater2: Any, rater3: Any, lead: Any, rate_all: Make
) -> None:
    rate_all(round_, rater, 0)
    rate_all(round_, rater2, 3)
    assert set(round_.pairs.values_list("spread", flat=True)) == {3}
    before = Judgment.objects.count()
    preview = pausing.preview(round_rater_of(round_, rater))
    assert (preview.judgments, preview.free, preview.queries) == (12, 12, 3)
    assert pausing.requeue(round_rater_of(round_, rater), reason="Given without reading.", actor=lead) == 12
    assert Judgment.objects.count() == before + 12, "superseded, never deleted"
    assert not Judgment.objects.current().filter(rater=rater).exists()
    assert {row.state for row in Judgment.objects.filter(supersedes__rater=rater)} == {"requeued"}
    assert set(round_.pairs.values_list("spread", flat=True)) == {0}
    assert {row[2] for row in round_labels.rating_rows(round_)} == {round_rater_of(round_, rater2).pseudonym}
    recounted(round_)
    assert assignment.claim_batch(round_, rater=rater, size=50) == [], "never these pairs again"
    assert rate_all(round_, rater3, 3) == 12
    recounted(round_)
    (row,) = AuditRow.objects.filter(verb="pausing.requeue")
    assert row.sentence == "lena excluded 12 judgments of rosa in round Round 1: Given without reading."


def test_only_chosen_judgments_are_excluded(round_: Round, rater: Any, rater2: Any, lead: Any, rate_all: Make) -> None:
    rate_all(round_, rater, 1)
    chosen = JudgmentFilter(queries=("q1", "q3"))
    assert pausing.preview(round_rater_of(round_, rater), chosen).judgments == 8
    assert pausing.requeue(round_rater_of(round_, rater), chosen, reason="Off.", actor=lead) == 8
    assert {row.pair.query.query_id for row in Judgment.objects.current()} == {"q2"}
    later = JudgmentFilter(since=timezone.now() + timedelta(hours=1))
    assert pausing.preview(round_rater_of(round_, rater), later).judgments == 0
    with pytest.raises(NotValid):
        pausing.requeue(round_rater_of(round_, rater), later, reason="Off.", actor=lead)
    assert pausing.requeue(
        round_rater_of(round_, rater), JudgmentFilter(since=timezone.now() - timedelta(hours=1)), reason="o", actor=lead
    )
    recounted(round_)


def test_an_answer_after_exclusion_is_refused(round_: Round, rater: Any, lead: Any, answer: Make) -> None:
    pair = assignment.claim_batch(round_, rater=rater, size=1)[0]
    given = answer(round_, rater, pair, 3)
    pausing.requeue(round_rater_of(round_, rater), reason="Off.", actor=lead)
    with pytest.raises(Conflict, match="reassigned"):
        answer(round_, rater, pair, 2)
    with pytest.raises(Conflict, match="changed later"):
        submission.undo(round_, given.judgment.client_id, rater=rater)
    again = answer(round_, rater, pair, 3, client_id=given.judgment.client_id)
    assert not again.new, "what was told to be recorded still is"


def test_judgments_of_a_closed_round_can_be_excluded(
    round_: Round, rater: Any, rater2: Any, lead: Any, rate_all: Make
) -> None:
    rate_all(round_, rater, 1)
    rate_all(round_, rater2, 2)
    closed = rounds.close_round(round_, actor=lead)
    with pytest.raises(Conflict, match="closed"):
        pausing.pause(round_rater_of(closed, rater), reason="Too late.", actor=lead)
    assert pausing.requeue(round_rater_of(closed, rater), reason="Found out later.", actor=lead) == 12
    assert len(round_labels.rating_rows(closed)) == 12
