"""Tests of routing pairs to people: failures, disagreement, doubts and the audit slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict
from judgments.hooks import DOUBTS, Doubt
from judgments.machines.calibration import routing
from judgments.machines.calibration.routing import APART, AUDIT, ERROR, FAILED, TURNED
from judgments.models import Judge, JudgeRun, MachineJudgment, Round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=2, documents=5, raters=[rater])


def answer_of(round_: Round, kind: str, words: dict[str, dict[str, Any]]) -> Judge:
    """A judge that answers by document; grade 1 where nothing is said."""
    judge = Judge.objects.create(collection=round_.collection, name=f"one of {kind}", kind=kind)
    for pair in round_.pairs.select_related("document"):
        word = words.get(pair.document.doc_id, words.get("*", {"outcome": "graded", "grade": 1}))
        MachineJudgment.objects.create(judge=judge, pair=pair, **word)
    return judge


def reasons(round_: Round) -> dict[str, str]:
    return {one.pair.document.doc_id: one.reason for one in routing.routed(round_)}


def test_failures_come_before_disagreement_and_the_rest_is_left_to_machines(round_: Any) -> None:
    answer_of(round_, "graded", {"d1-1": {"outcome": "refused"}, "d1-2": {"outcome": "graded", "grade": 3}})
    answer_of(round_, "token_overlap", {"d1-1": {"outcome": "unparseable"}})
    assert reasons(round_) == {"d1-1": FAILED, "d1-2": APART}


def test_usefulness_is_no_grade_no_failure_and_no_disagreement(round_: Any) -> None:
    useful = {"outcome": "graded", "usefulness": 0.9}
    answer_of(round_, "downstream", {"*": useful, "d1-2": {"outcome": "refused"}})
    assert reasons(round_) == {}
    answer_of(round_, "graded", {})
    assert reasons(round_) == {}


def test_doubts_of_other_apps_are_added(round_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_of(round_, "graded", {"d1-1": {"outcome": "refused"}})
    answer_of(round_, "binary", {"d1-2": {"outcome": "graded", "grade": 3}, "d1-1": {"outcome": "refused"}})
    pairs = {pair.document.doc_id: pair.pk for pair in round_.pairs.select_related("document")}

    def doubts(of: Round, viewer: Any) -> dict[int, list[Doubt]]:
        assert of == round_
        return {
            pairs["d1-1"]: [Doubt(TURNED, 1.0)],  # as large as the failure, which weighs more
            pairs["d1-2"]: [Doubt(ERROR, 0.9)],  # larger than the disagreement of two steps in three
            pairs["d2-1"]: [Doubt(ERROR, 0.4), Doubt(TURNED, 0.6)],
            pairs["d2-2"]: [Doubt(ERROR, 0.3)],
        }

    monkeypatch.setitem(DOUBTS._members, "for a test", doubts)
    assert reasons(round_) == {"d1-1": FAILED, "d1-2": ERROR, "d2-1": TURNED, "d2-2": ERROR}
    assert [one.pair.document.doc_id for one in routing.routed(round_)] == ["d1-1", "d1-2", "d2-1", "d2-2"]


def test_the_audit_slice_comes_first(round_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = answer_of(round_, "graded", {})
    JudgeRun.objects.create(round=round_, judge=judge, cap_calls=1, audit_share=1.0)
    monkeypatch.setitem(
        DOUBTS._members, "for a test", lambda of, viewer: {pk: [Doubt(ERROR, 0.9)] for pk in pairs_of(of)}
    )
    assert set(reasons(round_).values()) == {AUDIT}


def test_leads_who_may_still_grade_cannot_draft_the_round(
    make_round: Callable[..., Any], lead: Any, rater: Any, rate_all: Callable[..., Any]
) -> None:
    round_ = make_round(queries=2, documents=2, raters=[rater, lead], ratings_per_pair=2)
    answer_of(round_, "graded", {"d1-1": {"outcome": "refused"}})
    with pytest.raises(Conflict, match="You may still grade pairs of this round"):
        routing.draft_round(round_, actor=lead)
    rate_all(round_, lead, 2)
    with pytest.raises(Conflict, match="People have already judged all"):
        routing.draft_round(round_, actor=lead)


def pairs_of(round_: Round) -> list[int]:
    return list(round_.pairs.values_list("pk", flat=True))
