"""Tests of a judge's effect on metrics: current labels of every round."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.judges import judge_effect
from judgments.models import Judge, MachineJudgment
from tests.evaluation.stage import Stage, by_digit

pytestmark = pytest.mark.django_db


def test_labels_of_a_newer_round_are_not_answered_by_what_was_computed_before(stage: Stage, lead: Any) -> None:
    stage.systems()
    round_ = stage.round()
    stage.graded(round_, by_digit)
    judge = Judge.objects.create(collection=round_.collection, name="j", kind="graded")
    pairs = round_.pairs.select_related("query", "document")
    MachineJudgment.objects.bulk_create(
        MachineJudgment(judge=judge, pair=pair, outcome="graded", grade=by_digit(pair, 0)) for pair in pairs
    )
    before = judge_effect.effect(judge, round_, lead).biases
    assert before is not None
    assert all(row.difference == 0 for row in before.rows)
    # The same pairs again: people say the opposite now, and the first round has no new answer.
    stage.graded(stage.round(name="Again"), lambda pair, place: 3 - by_digit(pair, place))
    after = judge_effect.effect(judge, round_, lead).biases
    assert after is not None
    assert any(row.difference for row in after.rows)
