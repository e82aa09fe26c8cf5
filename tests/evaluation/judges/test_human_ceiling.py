"""Tests of agreement between two people: scikit-learn's kappa over both orders, for the right pairs."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.metrics import cohen_kappa_score

from evaluation.judges.views.judge import two_people
from judgments.machines.calibration.audit_sample import drawn
from judgments.models import Judge, JudgeRun, Round
from judgments.rounds.settings import RoundSettings
from tests.evaluation.stage import Stage

pytestmark = pytest.mark.django_db
SCALE = [0, 1, 2, 3]


@pytest.fixture
def round_(stage: Stage) -> Round:
    """Twelve queries of three documents, two people who differ on some."""
    stage.queries()
    stage.documents()
    made = stage.round(runs=0)
    stage.graded(made, lambda pair, place: (pair.position * 7 + place * (pair.position % 3 == 0)) % 4)
    return made


@pytest.fixture
def judge(round_: Round) -> Judge:
    made = Judge.objects.create(collection=round_.collection, name="j", kind="graded")
    JudgeRun.objects.create(round=round_, judge=made, cap_calls=1, audit_share=0.5, seed=3)
    return made


def kappa(pairs: list[Any], weights: str | None) -> float:
    one = [(pair.position * 7) % 4 for pair in pairs]
    two = [(pair.position * 7 + (pair.position % 3 == 0)) % 4 for pair in pairs]
    return float(cohen_kappa_score(one + two, two + one, weights=weights, labels=SCALE))


def test_it_is_the_kappa_over_both_orders(round_: Round, judge: Judge, lead: Any) -> None:
    pairs = list(round_.pairs.select_related("query", "document"))
    run = judge.runs.get()
    inside = [one for one in pairs if drawn(run.seed, one.query.query_id, one.document.doc_id) < run.audit_share]
    assert 0 < len(inside) < len(pairs)
    for over, chosen in (("all", pairs), ("slice", inside)):
        result = two_people(round_, judge, lead, over=over)
        assert result["unweighted"].n == len(chosen)
        assert result["unweighted"].value == pytest.approx(kappa(chosen, None), abs=1e-9)
        assert result["quadratic"].value == pytest.approx(kappa(chosen, "quadratic"), abs=1e-9)
        low, value = result["quadratic"].low, result["quadratic"].value
        assert low is not None
        assert value is not None
        assert low < value


def test_a_slice_without_two_grades_falls_back(round_: Round, judge: Judge, lead: Any) -> None:
    whole = two_people(round_, judge, lead, over="all")
    JudgeRun.objects.update(audit_share=1e-9)
    other = Judge.objects.create(collection=round_.collection, name="other", kind="graded")
    JudgeRun.objects.create(round=round_, judge=other, cap_calls=1, audit_share=1e-9)
    assert two_people(round_, other, lead, over="slice")["unweighted"].n == whole["unweighted"].n


def test_one_person_has_no_agreement(stage: Stage, lead: Any) -> None:
    stage.queries(2)
    stage.documents()
    made = stage.round(runs=0, raters=1)
    stage.graded(made, lambda pair, place: 1, raters=1)
    judge = Judge.objects.create(collection=made.collection, name="j", kind="graded")
    result = two_people(made, judge, lead, over="all")["unweighted"]
    assert (result.value, result.n) == (None, 0)


def test_pairs_a_reader_may_still_grade_are_left_out(stage: Stage, lead: Any) -> None:
    stage.queries()
    stage.documents()
    stage.raters[1] = lead
    made = stage.round(runs=0, ratings_per_pair=3)
    stage.graded(made, lambda pair, place: 1, raters=1)
    judge = Judge.objects.create(collection=made.collection, name="j", kind="graded")
    assert two_people(made, judge, lead, over="all")["unweighted"].n == 0


def test_extra_raters_are_not_among_the_two_people(stage: Stage, rater3: Any, lead: Any) -> None:
    stage.queries()
    stage.documents()
    stage.raters.append(rater3)
    made = stage.round(runs=0, raters=3, settings=RoundSettings(extra_at=2))
    judge = Judge.objects.create(collection=made.collection, name="j", kind="graded")
    stage.graded(made, lambda pair, place: 3 * place * (pair.position % 3 == 0))
    before = two_people(made, judge, lead, over="all")["unweighted"]
    stage.graded(made, lambda pair, place: 0, raters=3)
    assert made.slots.filter(rater=rater3, filled_by__isnull=False).count() == 12
    after = two_people(made, judge, lead, over="all")["unweighted"]
    assert after.n == before.n == 36
    assert after.value == before.value is not None
