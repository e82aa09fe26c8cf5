"""Tests of round actions: concurrent creation, opening and closing, leads who join as raters."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from assay.core.errors import Closed, Conflict, NotValid
from judgments.models import Judgment
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from tests.threads import at_once


@pytest.mark.django_db(transaction=True)
def test_of_two_rounds_of_one_name_at_once_the_slower_is_refused(make_round: Any, rater: Any, lead: Any) -> None:
    one, two = (make_round(name=name, raters=[rater]) for name in ("One", "Two"))
    ends = at_once(*(partial(rounds.rename, row, name="Three", actor=lead) for row in (one, two)))
    assert sorted(isinstance(end, Conflict) for end in ends) == [False, True]


@pytest.mark.django_db(transaction=True)
def test_of_two_new_rounds_of_one_name_at_once_the_slower_is_refused(make_round: Any, rater: Any) -> None:
    make_round(name="First", raters=[rater])
    ends = at_once(*[lambda: make_round(name="Second", raters=[rater])] * 2)
    assert sorted(isinstance(end, Conflict) for end in ends) == [False, True]


@pytest.mark.django_db(transaction=True)
def test_closing_waits_for_an_answer_that_is_being_written(make_round: Any, rater: Any, lead: Any, answer: Any) -> None:
    round_ = make_round(raters=[rater])
    pair = assignment.claim_batch(round_, rater=rater, size=1)[0]
    order: list[str] = []

    def close() -> None:
        try:
            rounds.close_round(round_, actor=lead)
            order.append("closed")
        finally:
            connection.close()

    thread = threading.Thread(target=close)
    with transaction.atomic():
        answer(round_, rater, pair, 2)
        thread.start()
        thread.join(0.5)
        order.append("answered")
    thread.join()
    assert order == ["answered", "closed"]


@pytest.mark.django_db
def test_an_answer_from_a_page_that_was_opened_before_the_round_was_closed(
    make_round: Any, rater: Any, lead: Any, answer: Any
) -> None:
    stale = make_round(raters=[rater])
    first, second = assignment.claim_batch(stale, rater=rater, size=2)
    given = answer(stale, rater, first, 2).judgment
    rounds.close_round(stale, actor=lead)
    with pytest.raises(Closed):
        answer(stale, rater, second, 2)
    with pytest.raises(Closed):
        submission.undo(stale, given.client_id, rater=rater)
    assert Judgment.objects.count() == 1


@pytest.mark.django_db
def test_a_lead_who_could_read_the_grades_cannot_rate(
    make_round: Any, rate_all: Any, rater: Any, rater2: Any, lead: Any
) -> None:
    round_ = make_round(raters=[rater])
    rate_all(round_, rater, 1)
    with pytest.raises(NotValid, match="blind") as refused:
        rounds.invite(round_, [lead, rater2], actor=lead)
    assert lead.username in refused.value.fields["raters"]
    assert round_.raters.count() == 1
    rounds.invite(round_, [rater2], actor=lead)
    assert round_.raters.count() == 2


@pytest.mark.django_db
def test_a_lead_can_join_before_the_first_grade(make_round: Any, rater: Any, lead: Any) -> None:
    round_ = make_round(raters=[rater])
    rounds.invite(round_, [lead], actor=lead)
    assert rounds.is_rater(lead, round_)
