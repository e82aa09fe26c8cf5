"""Tests of machine grades as labels: only on request, confirmed by people, and where no person graded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import NotValid
from judgments.machines.judge_runs import model_judges
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.models import Judge, MachineJudgment
from judgments.rating import assignment
from judgments.rounds import rounds
from judgments.snapshots import final_labels, snapshots
from tests.judgments.machines.calibration.audit_example import judged_by
from tests.judgments.machines.model_replies import started
from tests.world import grade_together

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    """Sixteen queries of six documents; a rater who is handed some of them grades those."""
    return make_round(queries=16, documents=6, raters=[rater], ratings_per_pair=1)


def settled(round_: Any, **how: Any) -> final_labels.LabelSet:
    how = {"rule": "median", "merge": "newest", "sources": ["human"], **how}
    return final_labels.compute_labels(round_.collection, [round_], **how)


def test_human_else_machine_marks_what_no_person_gave(round_: Any, lead: Any, rater: Any, rate_all: Any) -> None:
    run = judged_by(round_, lambda pair: 1)
    batch = assignment.claim_batch(round_, rater=rater, size=5)
    grade_together(round_, rater, {pair.uuid: 3 for pair in batch})
    assert {one.column for one in settled(round_).labels} == {final_labels.HUMAN}
    result = settled(round_, sources=["human", "machine"], judge=run.judge.name)
    assert sorted({(one.column, one.grade) for one in result.labels}) == [
        (final_labels.HUMAN, 3),
        (final_labels.MACHINE, 1),
    ]
    assert (len(result.labels), result.by_machine) == (96, 91)
    closed = rounds.close_round(round_, actor=lead)
    how = {"rounds": [closed], "sources": ["human", "machine"], "judge": run.judge.name}
    frozen = snapshots.freeze(round_.collection, name="with", actor=lead, **how)
    plain = snapshots.freeze(round_.collection, name="without", actor=lead, rounds=[closed])
    assert (frozen.manifest["counts"]["by_machine"], "by_machine" in plain.manifest["counts"]) == (91, False)
    assert frozen.manifest["consolidation"]["judge"] == run.judge.name
    rows = [line.split() for line in snapshots.export(frozen, "trec-qrels")[1].decode().splitlines()]
    assert sorted({row[1] for row in rows}) == ["0", "1"]
    # Examples for a model come from people alone.
    assert {row[2] for row in model_judges._human(frozen)} == {3}


def test_several_judges_together_are_a_machine_too(
    round_: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    one, other = (Judge.objects.create(collection=round_.collection, name=f"judge {at}", kind="test") for at in (1, 2))
    for judge in (one, other):
        for pair in round_.pairs.all():
            MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", grade=2)
    choice = JudgeSettings(kind="ensemble", judges=[one, other])
    run = started(round_, choice, lead, django_capture_on_commit_callbacks, cap_calls=None)
    assert settled(round_).labels == []
    result = settled(round_, sources=["human", "machine"], judge=run.judge.name)
    assert {(label.column, label.grade) for label in result.labels} == {(final_labels.MACHINE, 2)}
    assert result.by_machine == len(result.labels) == 96


def test_usefulness_is_no_label(round_: Any) -> None:
    judge = Judge.objects.create(collection=round_.collection, name="useful", kind="downstream")
    MachineJudgment.objects.create(judge=judge, pair=round_.pairs.first(), outcome="graded", usefulness=1.0)
    with pytest.raises(NotValid, match="no grade") as refused:
        settled(round_, sources=["human", "machine"], judge="useful")
    assert set(refused.value.fields) == {"judge"}


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"sources": ["machine"], "judge": "x"}, "sources"),
        ({"sources": ["human", "machine"]}, "judge"),
        ({"sources": ["human", "machine"], "judge": "nobody"}, "judge"),
        ({"sources": ["human"], "judge": "x"}, "sources"),
    ],
)
def test_invalid_combinations_are_refused(how: dict[str, Any], field: str, round_: Any) -> None:
    with pytest.raises(NotValid) as refused:
        settled(round_, **how)
    assert field in refused.value.fields
