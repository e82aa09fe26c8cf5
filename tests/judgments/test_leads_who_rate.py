"""Tests of leads who rate: they can't grade or regrade pairs whose other grades they could read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments import access, assignment, collections, inviting, pausing, submission
from judgments.core.errors import Conflict, NotAllowed, NotValid
from judgments.models import Judgment, Membership, Role, Round, RoundRater
from judgments.pausing import Choice

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
def round_(make_round: Make, lead: Any, rater: Any, rater2: Any) -> Round:
    return make_round(queries=1, documents=3, raters=[lead, rater, rater2], ratings_per_pair=2)


def given(round_: Round, rater: Any, answer: Make, grade: int) -> list[Judgment]:
    pairs = assignment.claim_batch(round_, rater=rater, size=3)
    return [answer(round_, rater, pair, grade).judgment for pair in pairs]


def test_who_may_have_read_the_others_cannot_change_their_own(
    round_: Round, lead: Any, rater: Any, answer: Make
) -> None:
    mine = given(round_, lead, answer, 0)
    # Nobody else has graded: a slip is mended as anybody mends one.
    again = answer(round_, lead, mine[0].pair, 1).judgment
    submission.undo(round_, mine[1].client_id, rater=lead)
    answer(round_, lead, mine[1].pair, 2)
    given(round_, rater, answer, 3)
    assert access.may_see_grades(lead, mine[2].pair)
    with pytest.raises(Conflict, match="settle the pair"):
        answer(round_, lead, mine[2].pair, 3)
    with pytest.raises(Conflict, match="settle the pair"):
        submission.undo(round_, mine[2].client_id, rater=lead)
    standing = Judgment.objects.counted().filter(rater=lead)
    assert {one.pair_id: one.grade for one in standing} == {
        mine[0].pair_id: again.grade,
        mine[1].pair_id: 2,
        mine[2].pair_id: 0,
    }


def test_what_a_lead_put_off_is_still_theirs_to_grade(round_: Round, lead: Any, rater: Any, answer: Make) -> None:
    (pair, *_) = assignment.claim_batch(round_, rater=lead, size=1)
    answer(round_, lead, pair, None, state="later")
    given(round_, rater, answer, 3)
    assert not access.may_see_grades(lead, pair)
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
    assert access.may_see_grades(lead, seen.pair)
    asked = RoundRater.objects.get(round=round_, user=rater)
    pausing.requeue(asked, Choice(), reason="They graded another scale.", actor=lead)
    assert assignment.remaining(round_, lead) == 0
    assert assignment.claim_batch(round_, rater=lead) == []
    # Whoever was nowhere near the grades gets them.
    assert assignment.remaining(round_, rater2) == 0


def test_who_leads_no_more_is_out_of_the_rounds_whose_grades_they_could_read(
    round_: Round, make_round: Make, collection: Any, lead: Any, rater: Any, rater2: Any, answer: Make
) -> None:
    """As a rater they would change their answers, and be given pairs, with what others gave in mind."""
    new = make_round(queries=1, documents=3, raters=[lead, rater], name="New")
    mine = given(round_, lead, answer, 0)
    given(round_, rater, answer, 3)
    own, other = (Membership.objects.get(collection=collection, user=user) for user in (lead, rater2))
    collections.change_role(other, actor=lead, role=Role.LEAD)
    collections.change_role(own, actor=lead, role=Role.RATER)
    with pytest.raises(NotAllowed, match="not asked"):
        answer(round_, lead, mine[0].pair, 3)
    with pytest.raises(NotValid, match="cannot rate it blind"):
        inviting.invite(round_, [lead], actor=rater2)
    assert Judgment.objects.counted().filter(rater=lead, grade=0).count() == 3
    assert inviting.is_rater(lead, new)
    assert inviting.is_rater(rater, round_)


def test_an_engineer_who_rates_again_is_out_of_them_too(
    round_: Round, collection: Any, lead: Any, rater: Any, rater2: Any, answer: Make
) -> None:
    given(round_, rater, answer, 3)
    for role in (Role.ENGINEER, Role.RATER):
        assert inviting.is_rater(rater2, round_)
        collections.change_role(Membership.objects.get(collection=collection, user=rater2), actor=lead, role=role)
    assert not inviting.is_rater(rater2, round_)
