"""Tests of leads who rate: they can't grade or regrade pairs whose other grades they could read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotAllowed, NotValid
from judgments.labels import grade_visibility
from judgments.members import collections, round_raters
from judgments.models import Judgment, Membership, Role, Round, RoundRater
from judgments.quality import pausing
from judgments.quality.pausing import JudgmentFilter
from judgments.rating import assignment, submission

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
def round_(make_round: Make, lead: Any, rater: Any, rater2: Any) -> Round:
    return make_round(queries=1, documents=3, raters=[lead, rater, rater2], ratings_per_pair=2)


def given(round_: Round, rater: Any, answer: Make, grade: int) -> list[Judgment]:
    pairs = assignment.claim_batch(round_, rater=rater, size=3)
    return [answer(round_, rater, pair, grade).judgment for pair in pairs]


def test_readers_of_other_grades_cannot_change_their_own(round_: Round, lead: Any, rater: Any, answer: Make) -> None:
    mine = given(round_, lead, answer, 0)
    # Nobody else has graded: a slip is mended as anybody mends one.
    again = answer(round_, lead, mine[0].pair, 1).judgment
    submission.undo(round_, mine[1].client_id, rater=lead)
    answer(round_, lead, mine[1].pair, 2)
    given(round_, rater, answer, 3)
    assert grade_visibility.grades_visible(lead, mine[2].pair)
    with pytest.raises(Conflict, match="Resolve the pair"):
        answer(round_, lead, mine[2].pair, 3)
    with pytest.raises(Conflict, match="Resolve the pair"):
        submission.undo(round_, mine[2].client_id, rater=lead)
    standing = Judgment.objects.counted().filter(rater=lead)
    assert {one.pair_id: one.grade for one in standing} == {
        mine[0].pair_id: again.grade,
        mine[1].pair_id: 2,
        mine[2].pair_id: 0,
    }


def test_pairs_a_lead_skipped_are_still_open_for_them(round_: Round, lead: Any, rater: Any, answer: Make) -> None:
    (pair, *_) = assignment.claim_batch(round_, rater=lead, size=1)
    answer(round_, lead, pair, None, state="later")
    given(round_, rater, answer, 3)
    assert not grade_visibility.grades_visible(lead, pair)
    assert answer(round_, lead, pair, 2).new


def test_raters_who_do_not_lead_change_their_minds_freely(round_: Round, rater: Any, rater2: Any, answer: Make) -> None:
    mine = given(round_, rater, answer, 0)
    given(round_, rater2, answer, 3)
    assert answer(round_, rater, mine[0].pair, 1).new


def test_a_pair_that_a_lead_could_read_is_not_given_to_them(
    round_: Round, lead: Any, rater: Any, rater2: Any, answer: Make
) -> None:
    given(round_, rater, answer, 0)
    (seen, *_) = given(round_, rater2, answer, 3)
    assert grade_visibility.grades_visible(lead, seen.pair)
    round_rater = RoundRater.objects.get(round=round_, user=rater)
    pausing.requeue(round_rater, JudgmentFilter(), reason="They graded another scale.", actor=lead)
    assert assignment.remaining(round_, lead) == 0
    assert assignment.claim_batch(round_, rater=lead) == []
    # Whoever was nowhere near the grades gets them.
    assert assignment.remaining(round_, rater2) == 0


def test_former_leads_leave_the_rounds_whose_grades_they_could_read(
    round_: Round, make_round: Make, collection: Any, lead: Any, rater: Any, rater2: Any, answer: Make
) -> None:
    """As a rater they would change their answers, and be given pairs, with what others gave in mind."""
    new = make_round(queries=1, documents=3, raters=[lead, rater], name="New")
    mine = given(round_, lead, answer, 0)
    given(round_, rater, answer, 3)
    own, other = (Membership.objects.get(collection=collection, user=user) for user in (lead, rater2))
    collections.change_role(other, actor=lead, role=Role.LEAD)
    collections.change_role(own, actor=lead, role=Role.RATER)
    with pytest.raises(NotAllowed, match="not a rater"):
        answer(round_, lead, mine[0].pair, 3)
    with pytest.raises(NotValid, match="cannot rate it blind"):
        round_raters.invite(round_, [lead], actor=rater2)
    assert Judgment.objects.counted().filter(rater=lead, grade=0).count() == 3
    assert round_raters.is_rater(lead, new)
    assert round_raters.is_rater(rater, round_)


def test_engineers_who_become_raters_leave_them_too(
    round_: Round, collection: Any, lead: Any, rater: Any, rater2: Any, answer: Make
) -> None:
    given(round_, rater, answer, 3)
    for role in (Role.ENGINEER, Role.RATER):
        assert round_raters.is_rater(rater2, round_)
        collections.change_role(Membership.objects.get(collection=collection, user=rater2), actor=lead, role=role)
    assert not round_raters.is_rater(rater2, round_)
