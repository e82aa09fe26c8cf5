"""Tests of judge kinds in a round: expected answers, usefulness to a system, ensembles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.machines import kinds
from judgments.machines.calibration import calibration
from judgments.machines.judge_runs import ensembles, judge_runs, model_judges
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall
from tests.judgments.machines.model_replies import choice_of, gone_on, grade, provider_at, started, with_texts
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
State = JudgeRun.State
EXPECTED = {"q1": ["d1-1", "d1-2"], "q2": ["d2-1"]}


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, rater2: Any) -> Any:
    return with_texts(make_round(queries=2, documents=3, raters=[rater, rater2], ratings_per_pair=1))


def says_so(prompt: str, number: int) -> Answer:
    """A model that looks whether the document has the expected answer."""
    expected = prompt.split("The expected answer:\n")[1].split("\n")[0]
    return Answer("YES." if f"about {expected}." in prompt else "NO.")


def tells(prompt: str, number: int) -> Answer:
    """A system that answers with the name of the document that it was given."""
    return Answer(prompt.split("A text about ")[1].split(".")[0])


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(says_so) as running:
        yield running


def test_each_expected_answer_takes_one_call(
    provider: Any, round_: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    choice = JudgeSettings(provider, "judge-1", kind="expected_answer", expected=EXPECTED, temperature=0.5, seed=9)
    estimate = judge_runs.estimate_run(round_, choice)
    # Three documents of q1 with two answers each, three of q2 with one.
    assert (estimate.pairs, estimate.calls[0], server.requests) == (6, 9, [])
    run = started(round_, choice, lead, commit, cap_usd=1.0, canaries=1)
    assert (run.state, run.calls, len(server.requests)) == (State.DONE, 11, 11)
    grades = dict(MachineJudgment.objects.values_list("pair__document__doc_id", "grade"))
    assert grades == {"d1-1": 1, "d1-2": 1, "d1-3": 0, "d2-1": 1, "d2-2": 0, "d2-3": 0}
    assert {(body["temperature"], body["seed"]) for _, _, body in server.requests} == {(0.5, 9)}
    assert [(one.share.n, one.flipped) for one in calibration.flips(run, lead)] == [(1, 0), (1, 0)]
    # They are kept word for word, and named by their hash.
    assert run.judge.inputs["expected"] == EXPECTED
    assert "d1-2" not in str(run.judge.parameters)


def test_more_documents_repeat_no_answered_call(
    provider: Any, round_: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    stub = round_.pairs.get(document__doc_id="d1-3").document
    stub.stub = True
    stub.save()
    run = started(round_, JudgeSettings(provider, "judge-1", kind="expected_answer", expected=EXPECTED), lead, commit)
    assert (run.state, len(server.requests)) == (State.DONE, 7)
    stub.stub = False
    stub.save()
    assert gone_on(run, lead, commit).state == State.DONE
    assert (len(server.requests), MachineJudgment.objects.count()) == (9, 6)


def test_usefulness_is_stored_with_relevance_and_is_no_grade(
    round_: Any, collection: Any, lead: Any, rater: Any, rate_all: Any, commit: Any
) -> None:
    with serving(tells) as server:
        provider = provider_at(server.url, collection, lead)
        choice = JudgeSettings(provider, "judge-1", kind="downstream", expected=EXPECTED, text_metric="exact_match")
        run = started(round_, choice, lead, commit, canaries=5)
        assert (run.state, run.calls, run.canaries) == (State.DONE, 6, 0)
    values = dict(MachineJudgment.objects.values_list("pair__document__doc_id", "usefulness"))
    assert values == {"d1-1": 1.0, "d1-2": 1.0, "d1-3": 0.0, "d2-1": 1.0, "d2-2": 0.0, "d2-3": 0.0}
    assert not MachineJudgment.objects.filter(grade__isnull=False).exists()
    assert sorted(ModelCall.objects.values_list("usefulness", flat=True)) == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    rate_all(round_, rater, lambda pair: 3 if pair.document.doc_id == "d1-1" else 0)
    usefulness = calibration.usefulness(run.judge, round_, lead)
    assert (usefulness.pairs, usefulness.mean, usefulness.by_grade) == (6, 0.5, ((0, 5, 0.4), (3, 1, 1.0)))
    assert (calibration.has_grades(run.judge), calibration.grades_of(run.judge, round_)) == (False, {})
    assert calibration.calibrate(run.judge, round_, lead, over="all").calibrated.pairs == 0


def test_another_text_metric_asks_nothing_anew(round_: Any, collection: Any, lead: Any, commit: Any) -> None:
    with serving(tells) as server:
        provider = provider_at(server.url, collection, lead)
        choice = JudgeSettings(provider, "judge-1", kind="downstream", expected=EXPECTED, text_metric="exact_match")
        first = started(round_, choice, lead, commit)
        second = started(round_, replace(choice, text_metric="token_f1"), lead, commit)
        assert (first.calls, second.calls, second.spent_usd, len(server.requests)) == (6, 0, 0, 6)
    assert second.judge.judgments.count() == 6
    assert second.judge.judgments.get(pair__document__doc_id="d1-1").usefulness == 1.0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "downstream", "expected": EXPECTED}, "text_metric"),
        ({"kind": "downstream", "text_metric": "token_f1"}, "expected"),
        ({"kind": "expected_answer", "expected": {"q1": [""]}}, "expected"),
        ({"kind": "expected_answer", "expected": EXPECTED, "temperature": 3.0}, "temperature"),
        ({"kind": "graded"}, "prompt"),
    ],
)
def test_each_kind_requires_its_settings(provider: Any, round_: Any, given: dict[str, Any], field: str) -> None:
    with pytest.raises(NotValid) as refused:
        judge_runs.estimate_run(round_, JudgeSettings(provider, "judge-1", **given))
    assert set(refused.value.fields) == {field}
    with pytest.raises(NotValid) as nobody:
        judge_runs.estimate_run(round_, JudgeSettings(kind="expected_answer", expected=EXPECTED))
    assert "provider" in nobody.value.fields


def test_several_judges_together(round_: Any, collection: Any, lead: Any, commit: Any) -> None:
    def graded(prompt: str, number: int) -> Answer:
        return grade(7) if "d2-3" in prompt else grade(3 if "d1-1" in prompt else 1)

    overlap = JudgeSettings(kind="token_overlap", expected={"q1": ["d1-1"], "q2": ["d2"]}, parameters={"min_tokens": 1})
    first = started(round_, overlap, lead, commit, cap_calls=None).judge
    with serving(graded) as server:
        second = started(round_, choice_of(provider_at(server.url, collection, lead)), lead, commit).judge
    choice = JudgeSettings(kind="ensemble", judges=[second, first], parameters={"rule": "unanimity"})
    assert judge_runs.estimate_run(round_, choice).pairs == 6
    run = started(round_, choice, lead, commit, cap_calls=None)
    assert (run.state, run.judge.parameters["judges"]) == (State.DONE, sorted([first.name, second.name]))
    answers = {row.pair.document.doc_id: row for row in run.judge.judgments.select_related("pair__document")}
    # All texts have the words that are expected; the model put d2-3 off the scale, and its failure is no vote.
    assert {name: (row.outcome, row.grade) for name, row in answers.items()} == {
        "d1-1": ("undecided", None),
        "d1-2": ("graded", 1),
        "d1-3": ("graded", 1),
        "d2-1": ("graded", 1),
        "d2-2": ("graded", 1),
        "d2-3": ("undecided", None),
    }
    assert answers["d1-1"].rationale == "2 grades, 0 failures, 2 apart"
    assert '"out_of_scale"' in answers["d2-3"].raw
    assert set(calibration.grades_of(run.judge, round_)) == {
        ("q1", "d1-2"),
        ("q1", "d1-3"),
        ("q2", "d2-1"),
        ("q2", "d2-2"),
    }


def test_an_ensemble_waits_for_its_judges(round_: Any, lead: Any, commit: Any) -> None:
    def overlap(number: int, expected: dict[str, list[str]]) -> JudgeRun:
        choice = JudgeSettings(kind="token_overlap", expected=expected, parameters={"min_tokens": number})
        return started(round_, choice, lead, commit, cap_calls=None)

    one, two = overlap(1, EXPECTED), overlap(2, {"q1": ["d1-1"]})
    run = started(round_, JudgeSettings(kind="ensemble", judges=[one.judge, two.judge]), lead, commit, cap_calls=None)
    assert run.judge.judgments.count() == 3
    assert run.estimate["without_expected"] == 3
    again = JudgeSettings(kind="ensemble", judges=[one.judge, run.judge])
    with pytest.raises(NotValid, match="an ensemble itself"):
        judge_runs.estimate_run(round_, again)


@pytest.mark.parametrize(
    ("judges", "parameters", "field"),
    [
        (1, {}, "judges"),
        (2, {"rule": "loudest"}, "rule"),
        (2, {"least": 3}, "least"),
        (2, {"weight": 3}, "weight"),
    ],
)
def test_an_ensemble_that_cannot_be_is_refused(
    round_: Any, collection: Any, lead: Any, judges: int, parameters: dict[str, Any], field: str
) -> None:
    rows = [Judge.objects.create(collection=collection, name=f"j{at}", kind="test") for at in range(judges)]
    for row in rows:
        MachineJudgment.objects.create(judge=row, pair=round_.pairs.first(), outcome="graded", grade=1)
    with pytest.raises(NotValid) as refused:
        judge_runs.estimate_run(round_, JudgeSettings(kind="ensemble", judges=rows, parameters=parameters))
    assert field in refused.value.fields


def test_judges_of_usefulness_and_from_elsewhere_join_no_ensemble(round_: Any, collection: Any, lead: Any) -> None:
    useful = Judge.objects.create(collection=collection, name="useful", kind="downstream")
    elsewhere = Judge.objects.create(collection=collection, name="elsewhere", kind="test")
    for judges, why in (([useful, elsewhere], "instead of grades"), ([elsewhere, elsewhere], "2 to 12")):
        with pytest.raises(NotValid) as refused:
            judge_runs.estimate_run(round_, JudgeSettings(kind="ensemble", judges=judges))
        assert why in refused.value.fields["judges"]


def test_a_judge_that_was_removed_takes_its_ensemble_with_it(round_: Any, lead: Any, commit: Any) -> None:
    remaining = [
        started(
            round_, JudgeSettings(kind="token_overlap", expected=EXPECTED, parameters={"min_tokens": at}), lead, commit
        )
        for at in (1, 2)
    ]
    run = started(round_, JudgeSettings(kind="ensemble", judges=[one.judge for one in remaining]), lead, commit)
    Judge.objects.filter(pk=run.judge_id).update(
        inputs={**run.judge.inputs, "judges": ["6d7f0a44-0000-4000-8000-000000000000"]}
    )
    run.refresh_from_db()

    with pytest.raises(Conflict, match="was removed"):
        ensembles.sayer(Judge.objects.get(pk=run.judge_id), round_)


def test_every_kind_names_its_models() -> None:
    asks = {kind.name: kind.asks for kind in kinds.kinds()}
    assert asks == {
        "graded": "model",
        "expected_answer": "model",
        "downstream": "model",
        "token_overlap": "machine",
        "semantic": "machine",
        "ensemble": "judges",
    }
    assert [kind.name for kind in kinds.kinds() if kind.says == "usefulness"] == ["downstream"]


def test_a_judge_without_a_kind_keeps_its_prompt(round_: Any, collection: Any, lead: Any) -> None:
    with serving() as server:
        judge, asker = model_judges.build(round_, choice_of(provider_at(server.url, collection, lead)))
    old = {name: value for name, value in judge.inputs.items() if name != "temperature"}
    assert model_judges.model_judge_of(old) == asker
