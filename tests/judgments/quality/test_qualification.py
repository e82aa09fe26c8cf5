"""Tests of rater qualification: gold pairs before a round, required share, retries, sources of gold pairs."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import CalibrationFirst, Conflict, NotFound, NotValid
from judgments.agreement import resolutions
from judgments.models import AuditRow, GoldPair, Judgment, Pair, ProbeAnswer, Query, Round, RoundRater
from judgments.quality import gold_pairs, qualification
from judgments.rating import assignment
from judgments.rating.submission import Answer
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture
from tests.judgments.rating.test_inserted_checks import known

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
@cached_fixture
def round_(make_round: Make, rater: Any, rater2: Any, lead: Any, collection: Any) -> Round:
    """An open round that asks for three of four right."""
    made = make_round(queries=2, documents=3, raters=[rater, rater2, lead])
    gold_pairs.add(made, known(collection, 4), use="calibration", actor=lead)
    Round.objects.filter(pk=made.pk).update(pass_mark=0.75, pass_within=0)
    return Round.objects.get(pk=made.pk)


def sit(round_: Round, rater: Any, grades: list[int | None]) -> list[qualification.Answered]:
    done = []
    for grade in grades:
        probe = qualification.next_probe(round_, rater)
        state = "graded" if grade is not None else "unrateable"
        done.append(qualification.answer(round_, Answer(uuid.uuid4(), probe.uuid, grade, state), rater=rater))
    return done


def test_no_pair_is_assigned_before_qualification(round_: Round, rater: Any, lead: Any) -> None:
    with pytest.raises(CalibrationFirst, match=f"/rounds/{round_.uuid}/calibrate/"):
        assignment.claim_batch(round_, rater=rater)
    assert assignment.claim_batch(round_, rater=lead), "whoever leads knows the grades"
    Round.objects.filter(pk=round_.pk).update(pass_mark=None)
    assert assignment.claim_batch(Round.objects.get(pk=round_.pk), rater=rater)


def test_a_passing_mark_without_pairs_blocks_no_rater(make_round: Make, rater: Any) -> None:
    made = make_round(raters=[rater])
    Round.objects.filter(pk=made.pk).update(pass_mark=0.9)
    assert assignment.claim_batch(Round.objects.get(pk=made.pk), rater=rater)


def test_three_of_four_right_is_enough(round_: Round, rater: Any) -> None:
    done = sit(round_, rater, [2, 2, None, 2])
    assert [one.right for one in done] == [True, True, False, True]
    round_rater = round_.raters.get(user=rater)
    assert round_rater.calibrated_at is not None
    assert round_rater.calibration_share == 0.75
    assert qualification.next_probe(round_, rater) is None
    assert assignment.claim_batch(round_, rater=rater)
    assert not Judgment.objects.exists()


def test_too_few_right_is_tried_again_in_another_order(round_: Round, rater: Any) -> None:
    first = sit(round_, rater, [1, 3, 2, 2])
    assert [one.steps for one in first] == [-1, 1, 0, 0]
    now = qualification.sitting(round_, rater)
    assert (now.over, now.passed, now.share) == (True, False, 0.5)
    with pytest.raises(CalibrationFirst):
        assignment.claim_batch(round_, rater=rater)
    orders = [[one.probe.gold_id for one in first]]
    for _ in range(4):
        assert qualification.start_new_attempt(round_, rater=rater).attempt == len(orders) + 1
        assert qualification.start_new_attempt(round_, rater=rater).attempt == len(orders) + 1, (
            "asked twice it begins once"
        )
        orders.append([one.probe.gold_id for one in sit(round_, rater, [1, 1, 2, 2])])
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(orders[0]))}
    assert len({tuple(order) for order in orders}) > 1
    qualification.start_new_attempt(round_, rater=rater)
    sit(round_, rater, [2, 2, 2, 2])
    (result,) = [one for one in qualification.results(round_) if one.assignment.user_id == rater.pk]
    assert (result.attempts, result.share, result.passed) == (6, 1.0, True)
    with pytest.raises(Conflict, match="already qualified"):
        qualification.start_new_attempt(round_, rater=rater)


def test_near_enough_is_right_where_the_lead_says_so(round_: Round, rater: Any) -> None:
    Round.objects.filter(pk=round_.pk).update(pass_within=1)
    done = sit(Round.objects.get(pk=round_.pk), rater, [1, 3, 0, 2])
    assert [one.right for one in done] == [True, True, False, True]


def test_an_answer_is_final_and_only_the_own(round_: Round, rater: Any, rater2: Any) -> None:
    probe = qualification.next_probe(round_, rater)
    qualification.answer(round_, Answer(uuid.uuid4(), probe.uuid, 0), rater=rater)
    again = qualification.answer(round_, Answer(uuid.uuid4(), probe.uuid, 2), rater=rater)
    assert again.answer.grade == 0
    assert ProbeAnswer.objects.count() == 1
    with pytest.raises(NotFound):
        qualification.answer(round_, Answer(uuid.uuid4(), probe.uuid, 2), rater=rater2)
    for wrong in (Answer(uuid.uuid4(), qualification.next_probe(round_, rater).uuid, 9),):
        with pytest.raises(NotValid):
            qualification.answer(round_, wrong, rater=rater)


def test_a_lead_qualifies_a_rater(round_: Round, rater: Any, lead: Any) -> None:
    round_rater = round_.raters.get(user=rater)
    qualification.waive(round_rater, actor=lead)
    assert assignment.claim_batch(round_, rater=rater)
    assert AuditRow.objects.get(verb="calibration.let_pass").sentence.startswith(
        "lena waived the qualification of rosa"
    )
    with pytest.raises(Conflict):
        qualification.waive(round_rater, actor=lead)


def test_shown_gold_pairs_stay(round_: Round, rater: Any, lead: Any) -> None:
    probe = qualification.next_probe(round_, rater)
    with pytest.raises(Conflict, match="cannot be removed"):
        gold_pairs.remove(probe.gold, actor=lead)
    other = round_.gold.exclude(pk=probe.gold_id).first()
    gold_pairs.remove(other, actor=lead)
    assert round_.gold.count() == 3


# --- Where the grades come from.


@pytest.fixture
@cached_fixture
def earlier(make_round: Make, rater: Any, rater2: Any, rate_all: Make, lead: Any) -> Round:
    """An earlier round over three queries: raters agree on q1 and q3, a lead settled a pair of q2."""
    made = make_round(queries=3, documents=3, raters=[rater, rater2], name="Earlier")
    rate_all(made, rater, lambda pair: 2)
    rate_all(made, rater2, lambda pair: 0 if pair.query.query_id == "q2" else 2)
    settled = made.pairs.get(document__doc_id="d2-1")
    resolutions.resolve(settled, grade=1, reason="It is a part only.", actor=lead)
    return rounds.close_round(made, actor=lead)


def test_resolved_and_unanimous_pairs_are_offered(earlier: Round, make_round: Make, rater: Any, lead: Any) -> None:
    made = make_round(queries=1, documents=2, raters=[rater], name="Next")
    offered = {
        one.key: (one.grade, one.source, one.explanation) for one in gold_pairs.known_elsewhere(made, viewer=lead)
    }
    assert offered == {
        ("q1", "d1-3"): (2, "unanimous", ""),
        ("q2", "d2-1"): (1, "settled", "It is a part only."),
        **{("q3", f"d3-{place}"): (2, "unanimous", "") for place in (1, 2, 3)},
    }
    drawn = gold_pairs.suggested(gold_pairs.known_elsewhere(made, viewer=lead), number=3, seed=1)
    assert {one.grade for one in drawn} == {1, 2}
    assert drawn == gold_pairs.suggested(gold_pairs.known_elsewhere(made, viewer=lead), number=3, seed=1)


def test_gold_suggestions_hide_pairs_that_the_lead_may_still_grade(
    earlier: Round, make_round: Make, rater: Any, lead: Any, rate_all: Make
) -> None:
    made = make_round(queries=1, documents=2, raters=[rater], name="Next")
    again = make_round(queries=3, documents=3, raters=[lead, rater], name="Once more")
    assert gold_pairs.known_elsewhere(made, viewer=lead) == []
    rate_all(again, lead)
    assert len(gold_pairs.known_elsewhere(made, viewer=lead)) == 5


def test_other_grades_are_not_offered(earlier: Round, make_round: Make, rater: Any, lead: Any) -> None:
    made = make_round(queries=1, raters=[rater], name="Yes or no", grades=[(0, "no", ""), (1, "yes", "")])
    assert gold_pairs.known_elsewhere(made, viewer=lead) == []


def test_pairs_of_the_round_cannot_be_gold_pairs(make_round: Make, rater: Any, lead: Any, collection: Any) -> None:
    made = make_round(queries=1, documents=2, raters=[rater], name="Next")
    pair = made.pairs.select_related("query", "document").first()
    copy = known(collection, 1)[0].document
    Pair.objects.filter(pk=pair.pk).update(origin={"copies": [{"doc_id": copy.doc_id, "similarity": 1.0}]})
    with pytest.raises(NotValid, match="shares its label, is part of the round"):
        gold_pairs.add(made, [gold_pairs.Known(pair.query, pair.document, 2)], use="hidden", actor=lead)
    with pytest.raises(NotValid, match="shares its label"):
        gold_pairs.add(made, [gold_pairs.Known(pair.query, copy, 2)], use="hidden", actor=lead)
    fine = known(collection, 2)
    with pytest.raises(NotValid, match=r"9 is not a grade.*already a gold pair"):
        gold_pairs.add(
            made, [gold_pairs.Known(fine[0].query, fine[0].document, 9), fine[1], fine[1]], use="hidden", actor=lead
        )
    assert not GoldPair.objects.exists()


FILES = {
    "no head": ("q1,g1,2\n", "Line 1 has no column query_id"),
    "empty": ("", "empty"),
    "unknown query": ("query_id,doc_id,grade\nq9,d1,2\n", "Line 2: the query 'q9' is not in this collection"),
    "no grade": ("query_id,doc_id,grade\ng0,gold-0,two\n", "Line 2: 'two' is not a grade"),
    "short line": ("query_id,doc_id,grade\ng0,gold-0,2\n\ng1\n", "Line 4: 1 cell, but the header has 3"),
    "off the scale": ("query_id,doc_id,grade\ng0,gold-0,7\n", "Line 2, g0 with gold-0: 7 is not a grade"),
    "not utf-8": (b"query_id,doc_id,grade\ng0,gold-0,2,caf\xe9\n", "Line 2 is not UTF-8"),
    "nul": ("query_id,doc_id,grade\ng0,gold\0,2\n", "Line 2 contains a NUL"),
}


@pytest.mark.parametrize("name", FILES)
def test_each_rejected_line_of_a_file_is_reported_with_its_number(
    name: str, make_round: Make, rater: Any, lead: Any, collection: Any
) -> None:
    content, message = FILES[name]
    made = make_round(raters=[rater])
    known(collection, 2)

    def store() -> None:
        rows = gold_pairs.read_csv(collection, content if isinstance(content, bytes) else content.encode())
        gold_pairs.add(made, rows, use="hidden", actor=lead)

    with pytest.raises(NotValid, match=re.escape(message)):
        store()
    assert not GoldPair.objects.exists()


def test_a_file_is_read_with_its_explanations(make_round: Make, rater: Any, lead: Any, collection: Any) -> None:
    made = make_round(raters=[rater])
    known(collection, 2)
    text = '\ufeffquery_id,doc_id,grade,explanation\ng0,gold-0,2,"A tent,\nnot a jacket"\ng1,gold-1,0,\n'
    gold_pairs.add(made, gold_pairs.read_csv(collection, text.encode()), use="calibration", actor=lead)
    assert list(made.gold.values_list("query__query_id", "grade", "explanation", "position")) == [
        ("g0", 2, "A tent,\nnot a jacket", 0),
        ("g1", 0, "", 1),
    ]


def test_a_gold_pair_that_joins_a_refilled_round_is_graded_once(round_: Round, rater: Any, lead: Any) -> None:
    """What the round asks by now is no probe of it any more."""
    Round.objects.filter(pk=round_.pk).update(gold_every=2, pass_mark=None)
    hidden = round_.gold.first()
    GoldPair.objects.filter(pk=hidden.pk).update(use="hidden", position=90)
    last = round_.pairs.order_by("-position").first()
    pair = Pair.objects.create(
        round=round_, query=hidden.query, document=hidden.document, position=last.position + 1, ratings_wanted=1
    )
    assert isinstance(pair.query, Query)
    shown = assignment.claim_batch(Round.objects.get(pk=round_.pk), rater=rater, size=20)
    assert all(isinstance(one, Pair) for one in shown)
    assert RoundRater.objects.filter(round=round_).exists()
