"""Tests of the expected-answer judge: the worked example of the design, unread answers, settings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.llm.judge import Context
from assay.llm.judges import MODEL_JUDGES
from assay.llm.judges.bulk_judging import outcomes
from assay.llm.judges.expected_answer import ExpectedAnswer
from assay.llm.judges.model_judge import JudgeOptions
from assay.llm.judges.token_overlap import matched
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import ask
from tests.model_server import Answer, serving

QUERY = "What is RAG?"
E1 = "RAG combines retrieval with generation for better accuracy"
E2 = "Retrieval-augmented generation improves LLM responses"
D1 = "RAG is a technique that combines retrieval with generation"
D2 = "Vector databases store embeddings"


def says(prompt: str, number: int) -> Answer:
    """A model that says what the design's page says of its worked example."""
    return Answer("YES, it says so." if D1 in prompt else "NO.")


def judge_at(url: str) -> ExpectedAnswer:
    def answer(questions: Sequence[Question]):
        replies = {}
        ask(
            Endpoint(PROTOCOLS["openai"], "a-model", url),
            questions,
            lambda question, reply: replies.update({question.key: reply}),
            limits=Limits(attempts=1),
        )
        return [replies[question.key] for question in questions]

    return ExpectedAnswer(answer)


def test_the_worked_example_of_the_design() -> None:
    with serving(says) as server:
        judge = judge_at(server.url)
        assert judge.batch_judge([Context(QUERY, text, (expected,)) for text in (D1, D2) for expected in (E1, E2)]) == [
            True,
            True,
            False,
            False,
        ]
        # A text is credited with the first answer that it matches, so only one of the two counts.
        assert matched(judge, QUERY, [E1, E2], [D1, D2]) == [(0,), ()]
        assert matched(judge, QUERY, [E1, E2], [D1, D2], match="all") == [(0, 1), ()]


@pytest.mark.parametrize(
    ("texts", "outcome", "verdict"),
    [
        (["NO.", "YES."], "graded", True),
        (["NO.", "NO."], "graded", False),
        (["NO.", "It is hard to say"], "unparseable", False),
        (["It is hard to say", "YES"], "graded", True),
    ],
)
def test_any_expected_answer_suffices_and_failures_are_reported(texts: list[str], outcome: str, verdict: bool) -> None:
    with serving(lambda prompt, number: Answer(texts[E2 in prompt])) as server:
        judge = judge_at(server.url)
        context = Context(QUERY, D1, (E1, E2))
        (result,) = judge.outcomes([context])
        assert (result.name, judge.judge(context)) == (outcome, verdict)
    assert result.grade == (int(verdict) if outcome == "graded" else None)


def test_pair_without_expected_answer_sends_no_request() -> None:
    with serving() as server:
        (outcome,) = judge_at(server.url).outcomes([Context(QUERY, D1)])
    assert (outcome.name, server.requests) == ("unparseable", [])


def test_temperature_and_seed_reach_the_model_and_make_another_question() -> None:
    context, kind = Context(QUERY, D1, (E1,)), MODEL_JUDGES["expected_answer"]
    warm, cold = kind.build(JudgeOptions(temperature=0.7, seed=5)), kind.build(JudgeOptions())
    with serving(says) as server:
        outcomes(warm, Endpoint(PROTOCOLS["openai"], "a-model", server.url), [context])
    (_, _, body) = server.requests[0]
    assert (body["temperature"], body["seed"]) == (0.7, 5)
    assert warm.questions(context)[0].key != cold.questions(context)[0].key
