"""Tests of judge calibration: newest human labels, cached results, hidden pairs, large rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judgments.machines.calibration import calibration as judged
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall
from judgments.rating import assignment
from judgments.rounds import rounds
from tests.world import grade_together

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=4, documents=3, raters=[rater], ratings_per_pair=1)


@pytest.fixture
def judge(round_: Any) -> Judge:
    made = Judge.objects.create(collection=round_.collection, name="j", kind="test")
    JudgeRun.objects.create(round=round_, judge=made, cap_calls=1, audit_share=0.5, seed=3, state="done")
    rows = [MachineJudgment(judge=made, pair=pair, outcome="graded", grade=2) for pair in round_.pairs.all()]
    MachineJudgment.objects.bulk_create(rows)
    return made


def again(round_: Any, rater: Any, lead: Any, pairs: Any) -> Any:
    """Some pairs once more, in a round of their own."""
    made = rounds.create_round(
        round_.collection,
        name="Again",
        candidates=[rounds.Candidate(pair.query, pair.document, {}) for pair in pairs],
        provenance={},
        guidelines=round_.guidelines,
        actor=lead,
        raters=[rater],
        ratings_per_pair=1,
        grades=list(round_.scale.grades.order_by("value").values_list("value", "label", "cue")),
        relevant_from=round_.scale.relevant_from,
    )
    return rounds.open_round(made, actor=lead)


def test_the_newest_round_speaks_and_pairs_of_other_rounds_do_not(
    round_: Any, make_round: Callable[..., Any], rater: Any, lead: Any, rate_all: Any
) -> None:
    rate_all(round_, rater, 1)
    first = round_.pairs.order_by("position")[0]
    later = again(round_, rater, lead, [first])
    rate_all(later, rater, 3)
    labels = judged.labels_of(round_)
    assert len(labels) == 12
    assert (labels[first.query.query_id, first.document.doc_id], sorted(set(labels.values()))) == (3.0, [1.0, 3.0])
    assert judged.labels_of(later) == {(first.query.query_id, first.document.doc_id): 3.0}


def test_the_second_look_reads_no_grades(round_: Any, judge: Judge, rater: Any, lead: Any, rate_all: Any) -> None:
    rate_all(round_, rater, 2)
    first = judged.calibrate(judge, round_, lead, over="all")
    with CaptureQueriesContext(connection) as queries:
        assert judged.calibrate(judge, round_, lead, over="all") == first
    assert not any('"grade"' in one["sql"].split("FROM")[0] for one in queries.captured_queries)
    assert (first.calibrated.pairs, first.calibrated.only_machine) == (12, 0)
    rate_all(again(round_, rater, lead, round_.pairs.all()[:1]), rater, 0)
    assert judged.calibrate(judge, round_, lead, over="all").calibrated.confusion[0][2] == 1


def test_cached_numbers_are_not_shared_with_raters(
    make_round: Callable[..., Any], lead: Any, rater: Any, lead2: Any, rate_all: Any
) -> None:
    round_ = make_round(queries=2, documents=2, raters=[rater, lead2], ratings_per_pair=2)
    judge = Judge.objects.create(collection=round_.collection, name="j", kind="test")
    rows = [MachineJudgment(judge=judge, pair=pair, outcome="graded", grade=2) for pair in round_.pairs.all()]
    MachineJudgment.objects.bulk_create(rows)
    rate_all(round_, rater, 2)
    full, restricted = (judged.calibrate(judge, round_, who, over="all") for who in (lead, lead2))
    assert (full.calibrated.pairs, full.hidden) == (4, 0)
    assert (restricted.calibrated.pairs, restricted.calibrated.only_machine, restricted.hidden) == (0, 0, 4)


def test_readers_with_different_hidden_pairs_get_different_numbers(
    make_round: Callable[..., Any], lead: Any, rater: Any, lead2: Any, rate_all: Any
) -> None:
    round_ = make_round(queries=2, documents=2, raters=[rater, lead, lead2], ratings_per_pair=3)
    judge = Judge.objects.create(collection=round_.collection, name="j", kind="test")
    rate_all(round_, rater, 2)
    pairs = list(round_.pairs.order_by("pk"))
    grades = [(pairs[0], 2), (pairs[1], 2), (pairs[2], 0), (pairs[3], 2)]
    MachineJudgment.objects.bulk_create(
        MachineJudgment(judge=judge, pair=pair, outcome="graded", grade=grade) for pair, grade in grades
    )
    # The keys of what each has still to grade have one sum, too.
    for who, left in (lead, {pairs[0].pk, pairs[3].pk}), (lead2, {pairs[1].pk, pairs[2].pk}):
        held = assignment.claim_batch(round_, rater=who, size=4)
        grade_together(round_, who, {pair.uuid: 2 for pair in held if pair.pk not in left})
    mine, other = (judged.calibrate(judge, round_, who, over="all") for who in (lead, lead2))
    assert (mine.calibrated.confusion[2][2], other.calibrated.confusion[2][2]) == (1, 2)


def test_flips_leave_out_pairs_that_the_reader_may_still_grade(
    make_round: Callable[..., Any], lead: Any, rater: Any, lead2: Any, rate_all: Any, api_of: Any
) -> None:
    round_ = make_round(queries=2, documents=2, raters=[rater, lead2], ratings_per_pair=2)
    judge = Judge.objects.create(collection=round_.collection, name="j", kind="graded")
    run = JudgeRun.objects.create(round=round_, judge=judge, cap_calls=9, audit_share=0.5, state="done")
    for pair in round_.pairs.all():
        MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", grade=1)
        key, planted = f"{pair.pk:064}", {"purpose": "canary", "trap": "instruction", "grade": 2}
        ModelCall.objects.create(
            run=run, judge=judge, pair=pair, key=key, requested_model="m", outcome="graded", **planted
        )
    assert [(one.flipped, one.share.n) for one in judged.flips(run, lead)] == [(4, 4)]
    assert judged.flips(run, lead2) == []
    here = f"/api/v1/rounds/{round_.uuid}/judges/"
    assert [len(api_of(who).get(here).json()[0]["flips"]) for who in (lead, lead2)] == [1, 0]


def test_of_very_many_pairs_whole_queries_are_looked_at(
    round_: Any, judge: Judge, rater: Any, lead: Any, rate_all: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate_all(round_, rater, 2)
    monkeypatch.setattr(judged, "MOST_HELD", 7)
    calibration = judged.calibrate(judge, round_, lead, over="all")
    assert (calibration.calibrated.pairs, calibration.calibrated.queries, calibration.passed) == (6, 2, 6)
    assert calibration.calibrated.only_machine == 6
