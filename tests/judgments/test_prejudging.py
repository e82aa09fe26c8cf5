"""Does a machine answer every pair once, and does its answer count for nothing else?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments import assignment, labels, prejudging, progress, reliability
from judgments.core.errors import NotValid, UnknownName
from judgments.models import AuditRow, Judge, Judgment, MachineJudgment, Slot

pytestmark = pytest.mark.django_db

EXPECTED = {"q1": ["Document 1-1 A text."], "q2": ["nothing like it"]}


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, rater2: Any) -> Any:
    return make_round(queries=2, documents=3, raters=[rater, rater2], ratings_per_pair=2)


def run(round_: Any, lead: Any, **options: Any) -> prejudging.Prejudged:
    parameters = options.pop("parameters", {"min_tokens": 1})
    options.setdefault("expected", EXPECTED)
    return prejudging.prejudge(round_, "token_overlap", parameters, actor=lead, **options)


def test_every_pair_gets_an_answer(round_: Any, lead: Any) -> None:
    done = run(round_, lead)
    assert (done.judged, done.earlier, done.outcomes) == (6, 0, {"graded": 6})
    grades = MachineJudgment.objects.filter(judge=done.judge).order_by("pair__position").values_list("grade", flat=True)
    # All tokens of the answer to q1 are in its three documents; q2 expects something else.
    assert list(grades) == [1, 1, 1, 0, 0, 0]


def test_it_is_on_record(round_: Any, lead: Any) -> None:
    judge = run(round_, lead).judge
    row = AuditRow.objects.get(verb="prejudging.prejudge")
    assert (row.actor, row.target_uuid) == (lead, round_.uuid)
    assert row.detail["judge"] == str(judge.uuid)
    assert judge.parameters["min_tokens"] == row.detail["parameters"]["min_tokens"] == 1


def test_a_second_call_adds_nothing(round_: Any, lead: Any) -> None:
    first, second = run(round_, lead), run(round_, lead)
    assert first.judge == second.judge
    assert (second.judged, second.earlier) == (0, 6)
    assert MachineJudgment.objects.count() == 6
    assert AuditRow.objects.filter(verb="prejudging.prejudge").count() == 1


def test_a_killed_call_is_taken_up_where_it_stopped(round_: Any, lead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prejudging, "BATCH", 2)

    def killed(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(round_, lead, watch=killed)
    kept = set(MachineJudgment.objects.values_list("uuid", flat=True))
    done = run(round_, lead)
    assert len(kept) == 4
    assert (done.judged, done.earlier) == (2, 4)
    assert kept < set(MachineJudgment.objects.values_list("uuid", flat=True))


def test_other_parameters_and_other_answers_are_another_judge(round_: Any, lead: Any) -> None:
    run(round_, lead)
    run(round_, lead, parameters={"min_tokens": 2})
    run(round_, lead, expected={**EXPECTED, "q2": ["Document"]})
    assert Judge.objects.count() == 3
    assert MachineJudgment.objects.count() == 18


def test_it_takes_no_slot_and_counts_toward_no_k(round_: Any, lead: Any, rater: Any) -> None:
    before = assignment.remaining(round_, rater)
    run(round_, lead)
    assert not Slot.objects.filter(filled_by__isnull=False).exists()
    assert not Judgment.objects.exists()
    assert assignment.remaining(round_, rater) == before == 6
    assert progress.progress(round_).filled == 0


def test_it_is_in_neither_agreement_nor_labels(
    round_: Any, lead: Any, rater: Any, rater2: Any, rate_all: Callable[..., int]
) -> None:
    rate_all(round_, rater, 3)
    rate_all(round_, rater2, 3)
    rows, told = reliability.rating_rows(round_), reliability.agreement(round_, bootstrap=0)
    settled = labels.settle_labels(round_.collection, [round_], rule="median", merge="newest", sources=["human"])
    run(round_, lead)
    assert reliability.rating_rows(round_) == rows
    assert reliability.agreement(round_, bootstrap=0) == told
    again = labels.settle_labels(round_.collection, [round_], rule="median", merge="newest", sources=["human"])
    assert again == settled
    assert {label.grade for label in again.labels} == {3}


def test_a_grade_off_the_scale_is_an_outcome_not_a_grade(make_round: Callable[..., Any], rater: Any, lead: Any) -> None:
    scale = [(0, "No", ""), (2, "Yes", "")]
    round_ = make_round(queries=1, documents=1, raters=[rater], grades=scale)
    done = run(round_, lead)
    assert done.outcomes == {"out_of_scale": 1}
    assert MachineJudgment.objects.get().grade is None


def test_pairs_that_lack_something_wait_for_it(round_: Any, lead: Any) -> None:
    stub = round_.pairs.first().document
    stub.stub = True
    stub.save()
    done = run(round_, lead, expected={"q1": EXPECTED["q1"]})
    assert (done.judged, done.lacking) == (2, {"content": 1, "expected": 3})
    stub.stub = False
    stub.save()
    assert run(round_, lead, expected={"q1": EXPECTED["q1"]}).judged == 1


def test_a_round_without_any_expected_answer_is_refused(round_: Any, lead: Any) -> None:
    with pytest.raises(NotValid, match="needs: expected") as refusal:
        run(round_, lead, expected=None)
    assert set(refusal.value.fields) == {"expected"}
    assert not Judge.objects.exists()


def test_wrong_names_and_numbers_are_refused(round_: Any, lead: Any) -> None:
    with pytest.raises(UnknownName):
        prejudging.prejudge(round_, "oracle", {}, actor=lead)
    with pytest.raises(NotValid, match="threshold"):
        run(round_, lead, parameters={"threshold": 2})
