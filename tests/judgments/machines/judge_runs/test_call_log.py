"""Tests of answer storage: grouped writes, each answer once, two workers on one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from assay.llm.judge import Outcome
from assay.llm.judges.bulk_judging import Answered
from assay.llm.model_reply import Reply
from assay.llm.providers import Question
from judgments.machines.judge_runs import judge_runs
from judgments.machines.judge_runs.call_log import JudgeCallLog, used
from judgments.models import JudgeRun, MachineJudgment, ModelCall, Pair
from tests.judgments.machines.model_replies import choice_of, provider_at, with_texts

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(models_allowed: None, make_round: Callable[..., Any], rater: Any, collection: Any, lead: Any) -> JudgeRun:
    made = with_texts(make_round(queries=2, documents=20, raters=[rater]))
    choice = choice_of(provider_at("http://127.0.0.1:9", collection, lead))
    return judge_runs.start(made, choice, actor=lead, cap_usd=1.0, cap_calls=None)


def hand_in(log: JudgeCallLog, pairs: list[Pair], grade: int, *, key: str = "key") -> None:
    """As many answers as pairs, in one go."""

    def work() -> None:
        for pair in pairs:
            reply = Reply("{}", tokens_in=10, tokens_out=2, cost_usd=0.25)
            question = Question(f"{key}-{pair.pk}", "", "")
            log.call(Answered(question, reply, Outcome("graded", grade)), "judge-1", pair, "pair", "")
            log.judgment(pair, Outcome("graded", grade))

    log.commit_after(work)


def test_a_commit_takes_as_many_questions_to_the_database_however_many_answers_it_keeps(run: JudgeRun) -> None:
    pairs = list(run.round.pairs.select_related("document"))
    taken = []
    for some in (pairs[:1], pairs[1:40]):
        log = JudgeCallLog(run, run.round.scale.values())
        with CaptureQueriesContext(connection) as queries:
            hand_in(log, some, 2)
        taken.append(len(queries))
    assert taken[0] == taken[1]
    assert ModelCall.objects.count() == MachineJudgment.objects.exclude(call=None).count() == 40


def test_rows_of_another_worker_stay_and_the_rest_is_stored(run: JudgeRun) -> None:
    pairs = list(run.round.pairs.select_related("document"))[:3]
    one, other = (JudgeCallLog(run, run.round.scale.values()) for _ in range(2))
    hand_in(one, pairs[:2], 3)
    hand_in(other, pairs, 1)
    assert list(MachineJudgment.objects.order_by("pair").values_list("grade", flat=True)) == [3, 3, 1]
    assert [row.call.grade for row in MachineJudgment.objects.order_by("pair") if row.call] == [3, 3, 1]
    assert ModelCall.objects.count() == 3
    # What was spent is what the ledger says, whoever wrote it.
    assert used(ModelCall.objects.filter(run=run)) == (pytest.approx(0.75), 3)


def test_a_pair_without_an_answer_goes_on_waiting(run: JudgeRun) -> None:
    pair = run.round.pairs.first()
    log = JudgeCallLog(run, run.round.scale.values())

    def work() -> None:
        failed = Outcome("transport_error", raw="no answer")
        log.call(Answered(Question("k", "", ""), Reply(fault="no answer"), failed), "judge-1", pair, "pair", "")
        log.judgment(pair, failed)

    log.commit_after(work)
    assert ModelCall.objects.get().outcome == "transport_error"
    assert not MachineJudgment.objects.exists()


def test_an_estimate_goes_by_what_the_provider_counted_before(run: JudgeRun) -> None:
    before = judge_runs.estimate_run(run.round, choice_of(run.judge.provider))
    log = JudgeCallLog(run, run.round.scale.values())
    pairs = list(run.round.pairs.select_related("document"))[:2]

    def work() -> None:
        for pair in pairs:
            question = Question(f"k-{pair.pk}", "", "x" * 400)
            reply = Reply("{}", tokens_in=250, tokens_out=2)
            log.call(Answered(question, reply, Outcome("graded", 1)), "judge-1", pair, "canary", "")

    log.commit_after(work)
    after = judge_runs.estimate_run(run.round, choice_of(run.judge.provider))
    assert after.tokens_in == pytest.approx([2.5 * tokens for tokens in before.tokens_in], rel=0.01)
    other = judge_runs.estimate_run(run.round, choice_of(run.judge.provider, model="judge-2"))
    assert other.tokens_in == before.tokens_in
