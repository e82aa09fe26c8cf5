"""Tests of judges without a model: each pair answered once as a job, with no effect on human results."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid, UnknownName
from judgments.agreement import agreement_summary
from judgments.jobs import jobs
from judgments.labels import round_labels
from judgments.machines import machine_runs
from judgments.machines.judge_runs import judge_runs, offline_judging
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.models import AuditRow, Job, Judge, JudgeRun, Judgment, MachineJudgment, Slot
from judgments.progress import progress
from judgments.rating import assignment
from judgments.snapshots import final_labels
from tests.judgments.machines.model_replies import gone_on, started

pytestmark = pytest.mark.django_db
State = JudgeRun.State

EXPECTED = {"q1": ["Document 1-1 A text."], "q2": ["nothing like it"]}


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, rater2: Any) -> Any:
    return make_round(queries=2, documents=3, raters=[rater, rater2], ratings_per_pair=2)


def overlap(**options: Any) -> JudgeSettings:
    return JudgeSettings(kind="token_overlap", **{"parameters": {"min_tokens": 1}, "expected": EXPECTED, **options})


@pytest.fixture
def run(round_: Any, lead: Any, commit: Any) -> Callable[..., JudgeRun]:
    return lambda **options: started(round_, overlap(**options), lead, commit, cap_calls=None)


def test_every_pair_gets_an_answer_and_nothing_is_spent(run: Callable[..., JudgeRun]) -> None:
    done = run()
    assert (done.state, done.spent_usd, done.calls, done.cap_usd) == (State.DONE, 0, 0, 0)
    assert (done.job.kind, done.job.done, done.job.total) == ("prejudge", 6, 6)
    rows = MachineJudgment.objects.filter(judge=done.judge).order_by("pair__position")
    # All tokens of the answer to q1 are in its three documents; q2 expects something else.
    assert list(rows.values_list("grade", flat=True)) == [1, 1, 1, 0, 0, 0]
    assert {row.document_sha256 for row in rows} == {row.pair.document.content_sha256 for row in rows}


def test_it_is_recorded_in_the_audit_trail(run: Callable[..., JudgeRun], lead: Any) -> None:
    judge = run().judge
    row = AuditRow.objects.get(verb="judging.start")
    assert (row.actor, row.detail["judge"]) == (lead, str(judge.uuid))
    assert judge.parameters["min_tokens"] == 1
    assert "Document 1-1" not in str(judge.parameters)


def test_a_judge_is_set_to_a_round_once(run: Callable[..., JudgeRun], round_: Any, lead: Any, commit: Any) -> None:
    first = run()
    with pytest.raises(Conflict, match="Resume it"):
        run()
    assert gone_on(first, lead, commit).state == State.DONE
    assert MachineJudgment.objects.count() == 6
    with pytest.raises(NotValid, match="calls no model"):
        judge_runs.resume(first, actor=lead, cap_calls=10)


def test_a_killed_job_is_taken_up_where_it_stopped(
    run: Callable[..., JudgeRun], lead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offline_judging, "BATCH", 2)
    report_progress = jobs.Work.progress

    def killed(work: jobs.Work, done: int, total: int | None = None) -> None:
        report_progress(work, done, total)
        if done == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobs.Work, "progress", killed)
        with pytest.raises(KeyboardInterrupt):
            run()
    stored = set(MachineJudgment.objects.values_list("uuid", flat=True))
    assert len(stored) == 4
    job = Job.objects.get(kind="prejudge")
    Job.objects.update(lease_until=job.created_at)
    jobs.work_on_job.call(str(job.uuid))
    assert JudgeRun.objects.get().state == State.DONE
    assert (MachineJudgment.objects.count(), stored < set(MachineJudgment.objects.values_list("uuid", flat=True))) == (
        6,
        True,
    )


def test_it_stops_between_batches_when_it_is_paused(
    run: Callable[..., JudgeRun], lead: Any, commit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offline_judging, "BATCH", 2)
    report_progress = jobs.Work.progress

    def paused(work: jobs.Work, done: int, total: int | None = None) -> None:
        report_progress(work, done, total)
        if done == 2:
            judge_runs.pause(JudgeRun.objects.get(), actor=lead)

    with monkeypatch.context() as patch:
        patch.setattr(jobs.Work, "progress", paused)
        current_run = run()
    assert (current_run.state, MachineJudgment.objects.count()) == (State.PAUSED, 2)
    assert gone_on(current_run, lead, commit).state == State.DONE
    assert MachineJudgment.objects.count() == 6


def test_other_parameters_and_other_answers_are_another_judge(run: Callable[..., JudgeRun]) -> None:
    run()
    run(parameters={"min_tokens": 2})
    run(expected={**EXPECTED, "q2": ["Document"]})
    assert Judge.objects.count() == 3
    assert MachineJudgment.objects.count() == 18


def test_it_takes_no_slot_and_counts_toward_no_k(run: Callable[..., JudgeRun], round_: Any, rater: Any) -> None:
    before = assignment.remaining(round_, rater)
    run()
    assert not Slot.objects.filter(filled_by__isnull=False).exists()
    assert not Judgment.objects.exists()
    assert assignment.remaining(round_, rater) == before == 6
    assert progress.progress(round_).filled == 0


def test_it_is_in_neither_agreement_nor_labels(
    run: Callable[..., JudgeRun], round_: Any, rater: Any, rater2: Any, rate_all: Callable[..., int]
) -> None:
    rate_all(round_, rater, 3)
    rate_all(round_, rater2, 3)
    rows, agreement = round_labels.rating_rows(round_), agreement_summary.agreement(round_)
    settled = final_labels.compute_labels(round_.collection, [round_], rule="median", merge="newest", sources=["human"])
    run()
    assert round_labels.rating_rows(round_) == rows
    assert agreement_summary.agreement(round_) == agreement
    again = final_labels.compute_labels(round_.collection, [round_], rule="median", merge="newest", sources=["human"])
    assert again == settled
    assert {label.grade for label in again.labels} == {3}


@pytest.mark.parametrize(("yes", "grades"), [(None, {2}), (3, {3})])
def test_a_yes_maps_to_a_grade_of_the_scale(
    make_round: Callable[..., Any], rater: Any, lead: Any, commit: Any, yes: int | None, grades: set[int]
) -> None:
    scale = [(0, "No", ""), (1, "Near", ""), (2, "Yes", ""), (3, "Just this", "")]
    round_ = make_round(queries=1, documents=2, raters=[rater], grades=scale)
    round_.scale.relevant_from = 2
    round_.scale.save()
    run = started(round_, overlap(yes=yes), lead, commit, cap_calls=None)
    assert set(MachineJudgment.objects.values_list("grade", flat=True)) == grades
    assert run.judge.parameters["yes"] == grades.pop()
    with pytest.raises(NotValid) as refused:
        judge_runs.estimate_run(round_, overlap(yes=0))
    assert set(refused.value.fields) == {"yes"}


def test_pairs_that_lack_something_wait_for_it(round_: Any, lead: Any, commit: Any) -> None:
    stub = round_.pairs.first().document
    stub.stub = True
    stub.save()
    choice = overlap(expected={"q1": EXPECTED["q1"]})
    estimate = judge_runs.estimate_run(round_, choice)
    assert (estimate.pairs, estimate.without_text, estimate.without_expected, estimate.usd) == (2, 1, 3, (0, 0))
    run = started(round_, choice, lead, commit, cap_calls=None)
    assert MachineJudgment.objects.count() == 2
    stub.stub = False
    stub.save()
    gone_on(run, lead, commit)
    assert MachineJudgment.objects.count() == 3


@pytest.mark.parametrize("expected", [{}, {"q9": ["elsewhere"]}])
def test_a_round_without_any_expected_answer_is_refused(round_: Any, lead: Any, expected: Any) -> None:
    with pytest.raises(NotValid, match="No query of this round") as refused:
        judge_runs.start(round_, overlap(expected=expected), actor=lead, cap_usd=None, cap_calls=None)
    assert set(refused.value.fields) == {"expected"}
    assert not Judge.objects.exists()


def test_wrong_names_and_numbers_are_refused(round_: Any) -> None:
    with pytest.raises(UnknownName, match="token_overlap"):
        judge_runs.estimate_run(round_, JudgeSettings(kind="oracle"))
    with pytest.raises(NotValid, match="threshold"):
        judge_runs.estimate_run(round_, overlap(parameters={"threshold": 2}))


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra semantic is installed here")
def test_a_judge_whose_extra_is_not_here_says_what_to_install(round_: Any) -> None:
    with pytest.raises(NotValid, match=r"assay\[semantic\]") as refused:
        judge_runs.estimate_run(round_, JudgeSettings(kind="semantic", expected=EXPECTED))
    assert set(refused.value.fields) == {"kind"}


def test_a_model_that_the_operator_does_not_name_is_not_loaded(round_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgments.machines.kinds.find_spec", lambda name: object())
    with pytest.raises(NotValid, match="LOCAL_MODELS") as refused:
        judge_runs.estimate_run(
            round_, JudgeSettings(kind="semantic", expected=EXPECTED, parameters={"model": "/tmp/anything"})
        )
    assert "model" in refused.value.fields


FOLDER = "/srv/models/of-the-operator"


@pytest.fixture
def semantic(round_: Any, lead: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> JudgeRun:
    """A judge of embeddings in line for its first attempt, made while the operator allowed its folder."""
    monkeypatch.setattr("judgments.machines.kinds.find_spec", lambda name: object())
    settings.LOCAL_MODELS = [FOLDER]
    choice = JudgeSettings(kind="semantic", expected=EXPECTED, parameters={"model": FOLDER})
    return judge_runs.start(round_, choice, actor=lead, cap_usd=None, cap_calls=None)


def test_a_model_that_is_not_allowed_any_more_is_not_loaded(semantic: JudgeRun, settings: Any) -> None:
    settings.LOCAL_MODELS = ["all-MiniLM-L6-v2"]
    # As it is for every attempt: the first, one after a worker was killed, one that somebody asked for.
    for _ in range(2):
        jobs.work_on_job.call(str(semantic.job.uuid))
        semantic.refresh_from_db()
        assert (semantic.state, semantic.end_message.split()[:4]) == (
            State.STOPPED,
            ["Semantic", "similarity", "cannot", "load"],
        )
        Job.objects.filter(pk=semantic.job_id).update(state=Job.State.QUEUED)
    assert not MachineJudgment.objects.exists()


def test_a_disallowed_model_cannot_continue(semantic: JudgeRun, settings: Any, lead: Any, round_: Any) -> None:
    machine_runs.record_end(semantic, State.STOPPED, "")
    settings.LOCAL_MODELS = []
    with pytest.raises(NotValid, match=r"cannot load.*LOCAL_MODELS"):
        judge_runs.resume(semantic, actor=lead)
    other = JudgeSettings(kind="semantic", expected=EXPECTED, parameters={"model": FOLDER})
    with pytest.raises(NotValid, match="LOCAL_MODELS"):
        judge_runs.estimate_run(round_, other)
