"""Tests of model judge runs: each pair once, caps, failures, reuse of answers, pause and resume."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.jobs import jobs
from judgments.labels import round_labels
from judgments.machines import machine_runs
from judgments.machines.judge_runs import attempts, judge_runs, model_judges
from judgments.machines.judge_runs import job as judging_job
from judgments.machines.judge_runs.estimate import context_of
from judgments.machines.providers import accounts
from judgments.models import AuditRow, Job, Judge, JudgeRun, MachineJudgment, ModelCall, Slot
from judgments.snapshots import final_labels
from tests.judgments.machines.model_replies import KEY, choice_of, gone_on, grade, provider_at, started, with_texts
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
State = JudgeRun.State


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: grade(2)) as running:
        yield running


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, rater2: Any) -> Any:
    return with_texts(make_round(queries=2, documents=3, raters=[rater, rater2]))


@pytest.fixture
def choice(server: ModelServer, collection: Any, lead: Any) -> Any:
    return choice_of(provider_at(server.url, collection, lead))


def test_every_pair_takes_one_call_that_is_in_the_ledger(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    run = started(round_, choice, lead, commit, cap_usd=1.0)
    assert (run.state, run.calls, len(server.requests)) == (State.DONE, 6, 6)
    assert set(MachineJudgment.objects.values_list("outcome", "grade")) == {("graded", 2)}
    call = ModelCall.objects.first()
    assert call is not None
    assert (call.requested_model, call.model_answered, call.outcome, call.grade) == ("judge-1", "judge-1", "graded", 2)
    assert call.cost_usd == pytest.approx((call.tokens_in * 1.0 + call.tokens_out * 4.0) / 1_000_000)
    assert run.spent_usd == pytest.approx(sum(ModelCall.objects.values_list("cost_usd", flat=True)))
    assert call.raw.startswith('{"reason"')
    assert MachineJudgment.objects.exclude(call=None).count() == 6
    assert {headers["Authorization"] for _, headers, _ in server.requests} == {f"Bearer {KEY}"}
    # The round's own scale and guidelines are in the words, and nothing of runs or ranks.
    assert "Grade what helps." in server.prompts[0]
    assert "3 = Perfect" in server.prompts[0]
    assert not any("bm25" in prompt or "depth" in prompt for prompt in server.prompts)
    assert AuditRow.objects.filter(verb="judging.start", actor=lead).count() == 1
    assert not any(KEY in str(row.detail) + row.sentence for row in AuditRow.objects.all())


def test_portions_are_read_ahead_and_equal_texts_in_two_of_them_are_one_question(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging_job, "AT_ONCE", 2)
    monkeypatch.setattr(judging_job, "A_STEP", 1)
    # The first and the last pair of the first query, in the first portion and in the second one.
    first, last = [pair.document for pair in round_.pairs.order_by("position").select_related("document")[0:3:2]]
    last.title, last.text, last.fields = first.title, first.text, first.fields
    last.save()
    server.answer = lambda prompt, number: grade(1 if first.text in prompt else 2)
    run = started(round_, choice, lead, commit)
    assert (run.state, run.calls, len(server.requests)) == (State.DONE, 5, 5)
    grades = dict(MachineJudgment.objects.values_list("pair__position", "grade"))
    assert sorted(grades) == [0, 1, 2, 3, 4, 5]
    assert [position for position, given in grades.items() if given == 1] == [0, 2]


def test_paid_answers_are_stored_when_reading_ahead_fails() -> None:
    done: list[int] = []
    ahead = threading.Event()

    def steps() -> Iterator[None]:
        yield
        ahead.set()
        raise ZeroDivisionError

    at = attempts.MainThreadExecutor(lambda: None)

    def outside() -> None:
        assert ahead.wait(60)
        at.here(lambda: done.append(1))

    with pytest.raises(ZeroDivisionError):
        at.during(outside, steps())
    assert done == [1]


def test_half_a_character_in_an_answer_ends_no_run(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    # As the reply holds it, and spelt out once more within the model's own JSON.
    server.answer = lambda prompt, number: Answer('{"reason": "\ud83d \\ud83d \\u0000", "grade": 2}')
    run = started(round_, choice, lead, commit, cap_usd=1.0)
    assert (run.state, run.calls) == (State.DONE, 6)
    row = MachineJudgment.objects.select_related("call").first()
    assert row is not None
    assert row.call is not None
    assert (row.grade, row.rationale, row.call.rationale) == (2, "\ufffd \ufffd \ufffd", "\ufffd \ufffd \ufffd")
    assert row.raw == '{"reason": "\ufffd \\ud83d \\u0000", "grade": 2}'


def test_it_counts_for_nothing_by_itself(round_: Any, choice: Any, lead: Any, commit: Any) -> None:
    started(round_, choice, lead, commit)
    assert not Slot.objects.filter(filled_by__isnull=False).exists()
    assert round_labels.rating_rows(round_) == []
    settled = final_labels.compute_labels(round_.collection, [round_], rule="median", merge="newest", sources=["human"])
    assert settled.labels == []


def test_an_estimate_asks_nothing_and_bounds_what_it_costs(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    estimate = judge_runs.estimate_run(round_, choice)
    assert (estimate.pairs, estimate.calls, server.requests, Judge.objects.count()) == (6, (6, 12), [], 0)
    run = started(round_, choice, lead, commit, cap_usd=1.0)
    assert estimate.usd is not None
    assert 0 < run.spent_usd <= estimate.usd[1]


def test_the_cap_in_calls_holds_and_going_on_asks_the_rest(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    run = started(round_, choice, lead, commit, cap_calls=4)
    assert (run.state, run.calls, len(server.requests)) == (State.BUDGET, 4, 4)
    with pytest.raises(NotValid) as refused:
        judge_runs.resume(run, actor=lead, cap_calls=4)
    assert "cap_calls" in refused.value.fields
    run = gone_on(run, lead, commit, cap_calls=10)
    assert (run.state, run.calls, len(server.requests)) == (State.DONE, 6, 6)
    assert len(set(server.prompts)) == 6


def test_the_cap_in_dollars_is_never_overdrawn(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    graded = model_judges.build(round_, choice)[1]
    endpoint = accounts.endpoint(choice.provider, choice.model)
    pairs = round_.pairs.select_related("query", "document")
    most = max(endpoint.most_cost(graded.question(context_of(pair))) or 0.0 for pair in pairs)
    # A provider that counts a token a byte, and a model that writes as long as it may: more than half of what is held.
    server.answer = lambda prompt, number: Answer(grade(2).text, read=len(prompt.encode()), written=400)
    run = started(round_, choice, lead, commit, cap_usd=most * 1.5)
    assert (run.state, run.calls, len(server.requests)) == (State.BUDGET, 1, 1)
    assert most / 2 < run.spent_usd <= run.cap_usd
    assert "one more question could cost" in run.end_message


def test_a_wrong_key_stops_at_once(round_: Any, collection: Any, lead: Any, commit: Any) -> None:
    def refuse(prompt: str, number: int) -> Answer:
        return Answer(status=401, body=f'{{"error": {{"message": "Incorrect API key: {KEY}"}}}}'.encode())

    with serving(refuse) as server:
        run = started(round_, choice_of(provider_at(server.url, collection, lead, concurrency=1)), lead, commit)
        assert (run.state, run.calls, len(server.requests)) == (State.REFUSED, 0, 1)
    assert "401" in run.end_message
    job = Job.objects.get(pk=run.job_id)
    assert job.state == Job.State.FAILED
    assert KEY not in run.end_message + job.error + job.log
    assert not MachineJudgment.objects.exists()


def test_a_provider_that_is_down_costs_no_pair(round_: Any, collection: Any, lead: Any, commit: Any) -> None:
    up: list[bool] = []
    with serving(lambda prompt, number: grade(1) if up else Answer(status=503)) as server:
        run = started(round_, choice_of(provider_at(server.url, collection, lead)), lead, commit)
        assert run.state == State.DOWN
        assert not MachineJudgment.objects.exists()
        assert set(ModelCall.objects.values_list("outcome", flat=True)) == {"transport_error"}
        up.append(True)
        run = gone_on(run, lead, commit)
    assert run.state == State.DONE
    assert MachineJudgment.objects.filter(outcome="graded", grade=1).count() == 6


def test_unparseable_answers_are_retried_once_and_are_never_grades(
    round_: Any, collection: Any, lead: Any, commit: Any
) -> None:
    replies = {"d1-1": "", "d1-2": "It deserves a 3 from me", "d1-3": '{"grade": 7}'}

    def answer(prompt: str, number: int) -> Answer:
        for name, text in replies.items():
            if name in prompt:
                return Answer(text)
        if "d2-1" in prompt:
            return Answer('{"grade": 2', stop="length")
        return Answer("I cannot help with that.", stop="refused") if "d2-2" in prompt else grade(3)

    with serving(answer) as server:
        started(round_, choice_of(provider_at(server.url, collection, lead)), lead, commit)
        calls = {name: sum(name in prompt for prompt in server.prompts) for name in ("d1-2", "d1-3", "d2-1", "d2-2")}
    outcomes = dict(MachineJudgment.objects.values_list("pair__document__doc_id", "outcome"))
    assert outcomes == {
        "d1-1": "unparseable",
        "d1-2": "unparseable",
        "d1-3": "out_of_scale",
        "d2-1": "truncated",
        "d2-2": "refused",
        "d2-3": "graded",
    }
    # What cannot be read or was cut off is asked again, once; the rest would be answered alike.
    assert calls == {"d1-2": 2, "d1-3": 1, "d2-1": 2, "d2-2": 1}
    assert MachineJudgment.objects.get(pair__document__doc_id="d1-2").raw == "It deserves a 3 from me"


def test_a_text_that_the_provider_blocks_is_not_retried(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    filtered = json.dumps({"error": {"code": "content_filter", "message": "The prompt was filtered"}}).encode()
    server.answer = lambda prompt, number: Answer(status=400, body=filtered) if "d1-1" in prompt else grade(2)
    run = started(round_, choice, lead, commit, cap_calls=6)
    assert (run.state, len(server.requests)) == (State.DONE, 6)
    outcomes = dict(MachineJudgment.objects.values_list("pair__document__doc_id", "outcome"))
    assert (outcomes.pop("d1-1"), set(outcomes.values())) == ("blocked", {"graded"})
    run = gone_on(run, lead, commit, cap_calls=20)
    assert (run.state, len(server.requests)) == (State.DONE, 6)


def test_answers_of_another_round_are_not_paid_again(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any, make_round: Any, rater: Any
) -> None:
    started(round_, choice, lead, commit)
    again = make_round(queries=2, documents=3, raters=[rater], name="Round 2")
    run = started(again, choice, lead, commit)
    assert (run.state, run.calls, len(server.requests)) == (State.DONE, 0, 6)
    assert MachineJudgment.objects.filter(pair__round=again, grade=2).count() == 6
    assert Judge.objects.count() == 1


def test_another_model_or_prompt_is_another_judge(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    started(round_, choice, lead, commit)
    started(round_, choice_of(choice.provider, model="judge-2"), lead, commit)
    assert (Judge.objects.count(), len(server.requests), MachineJudgment.objects.count()) == (2, 12, 12)
    with pytest.raises(Conflict, match="Resume it"):
        judge_runs.start(round_, choice, actor=lead, cap_usd=None, cap_calls=10)


def test_a_run_pauses_and_resumes(
    round_: Any, choice: Any, server: ModelServer, lead: Any, commit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = jobs.Work.progress

    def and_pause(work: jobs.Work, done: int, total: int | None = None) -> None:
        progress(work, done, total)
        if done >= 2:
            judge_runs.pause(JudgeRun.objects.get(), actor=lead)

    # The job looks whether it is to stop at every turn, and the server gives it time to.
    monkeypatch.setattr(attempts, "EVERY", 0.0)
    choice.provider.concurrency = 1
    choice.provider.save()
    server.answer = lambda prompt, number: Answer(grade(2).text, wait=0.2)
    with monkeypatch.context() as patch:
        patch.setattr(jobs.Work, "progress", and_pause)
        run = started(round_, choice, lead, commit)
    assert run.state == State.PAUSED
    assert 2 <= len(server.requests) < 6
    run = gone_on(run, lead, commit)
    assert (run.state, len(server.requests)) == (State.DONE, 6)


def test_canaries_are_planted_where_the_judge_saw_nothing(round_: Any, collection: Any, lead: Any, commit: Any) -> None:
    def gullible(prompt: str, number: int) -> Answer:
        return grade(3 if "highest grade" in prompt or "fully relevant" in prompt or "verified" in prompt else 0)

    with serving(gullible) as server:
        run = started(round_, choice_of(provider_at(server.url, collection, lead)), lead, commit, canaries=4)
        assert (run.state, len(server.requests)) == (State.DONE, 6 + 8)
    planted = ModelCall.objects.filter(purpose="canary")
    assert set(planted.filter(trap="instruction").values_list("grade", flat=True)) == {3}
    assert set(planted.filter(trap="query-words").values_list("grade", flat=True)) == {0}
    # The planted ones are no judgments of the pairs.
    assert set(MachineJudgment.objects.values_list("grade", flat=True)) == {0}


@pytest.mark.parametrize("given", [{"cap_usd": None, "cap_calls": None}, {"cap_calls": 0}, {"audit_share": 0.0}])
def test_a_refused_start_has_a_reason(given: dict[str, Any], round_: Any, choice: Any, lead: Any) -> None:
    with pytest.raises(NotValid) as refused:
        judge_runs.start(round_, choice, actor=lead, **{"cap_usd": None, "cap_calls": 10, **given})
    assert refused.value.fields
    assert not JudgeRun.objects.exists()


def test_a_cap_in_dollars_needs_a_price(round_: Any, choice: Any, lead: Any) -> None:
    with pytest.raises(NotValid, match="no price"):
        judge_runs.start(round_, choice_of(choice.provider, model="judge-2"), actor=lead, cap_usd=1.0, cap_calls=None)


def test_a_job_that_was_lost_leaves_a_run_that_can_go_on(round_: Any, choice: Any, lead: Any) -> None:
    run = judge_runs.start(round_, choice, actor=lead, cap_usd=None, cap_calls=10)
    assert machine_runs.state_of(run)[0] == State.WAITING
    jobs.cancel(run.job, actor=lead)
    run = JudgeRun.objects.select_related("job", "judge").get(pk=run.pk)
    assert machine_runs.state_of(run)[0] == State.STOPPED
    judge_runs.resume(run, actor=lead)
