"""Tests of judging a batch: one outcome per pair, shared questions, cost estimates."""

from __future__ import annotations

import json

from assay.llm.judges import MODEL_JUDGES, Context
from assay.llm.judges.bulk_judging import Asking, Verdict, key_of, outcomes
from assay.llm.judges.model_judge import JudgeOptions
from assay.llm.model_reply import Reply
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint
from tests.model_server import Answer, serving

QUICK = Limits(concurrency=4, attempts=1, timeout=5)


def test_a_batch_in_its_order_and_none_for_an_empty_one() -> None:
    judge = MODEL_JUDGES["graded"].build(JudgeOptions(MODEL_JUDGES["graded"].scale))
    contexts = [Context("tent", f"Tent {place % 3}.") for place in range(7)]

    def answer(prompt: str, number: int) -> Answer:
        return Answer(json.dumps({"reason": "", "grade": int(prompt.split("Tent ")[1][0])}))

    with serving(answer) as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "m", server.url)
        assert [one.grade for one in outcomes(judge, endpoint, contexts, limits=QUICK)] == [0, 1, 2, 0, 1, 2, 0]
        assert len(server.requests) == 3
        assert outcomes(judge, endpoint, [], limits=QUICK) == []
        short = outcomes(judge, endpoint, contexts, limits=QUICK, budget=Budget(calls=0))
    assert {(one.name, one.raw) for one in short} == {
        ("transport_error", "the limit is reached: 0 of 0 calls were made; answers so far are saved")
    }


def test_any_expected_answer_is_enough_and_a_failure_beside_a_no_is_no_no() -> None:
    answers = {"red": "YES", "green": "NO", "blue": "perhaps"}
    judge = MODEL_JUDGES["expected_answer"].build(JudgeOptions())
    contexts = [
        Context("colour", "A tent.", expected)
        for expected in (("green", "red"), ("green", "blue"), ("blue", "red"), ("green",), ("green", "green"))
    ]

    def answer(prompt: str, number: int) -> Answer:
        return Answer(answers[prompt.split("The expected answer:\n")[1].split("\n")[0]])

    verdicts: list[Verdict] = []
    with serving(answer) as server:
        endpoint = Endpoint(PROTOCOLS["openai"], "m", server.url, price_in=1, price_out=1)
        asking = Asking(judge, endpoint, contexts, {})
        # red, green, blue, each once, since the text is one.
        assert asking.plan.questions == 3
        ended = asking.run(verdicts.append, limits=QUICK)
    assert ended.end == "done"
    # What could not be read was asked once more.
    assert len(server.requests) == 4
    outcomes = {verdict.place: verdict.outcome for verdict in verdicts}
    assert [(outcomes[place].name, outcomes[place].relevant) for place in range(5)] == [
        ("graded", True),
        ("unparseable", None),
        ("graded", True),
        ("graded", False),
        ("graded", False),
    ]
    assert len(verdicts) == 5


def test_an_estimate_goes_by_what_the_provider_counted_so_far() -> None:
    judge = MODEL_JUDGES["graded"].build(JudgeOptions(MODEL_JUDGES["graded"].scale))
    endpoint = Endpoint(PROTOCOLS["openai"], "m", "http://localhost", price_in=1, price_out=1)
    contexts = [Context("帐篷", f"双人帐篷 {place}. " * 50) for place in range(2)]
    first, second = (Asking(judge, endpoint, [context], {}) for context in contexts)
    counted = 3 * first.plan.tokens_in[0]
    key = key_of(endpoint, judge.questions(contexts[0])[0])
    known = {key: Reply('{"reason": "", "grade": 1}', tokens_in=counted, tokens_out=9)}
    plan = Asking(judge, endpoint, contexts, known).plan
    assert (plan.known, plan.questions) == (1, 1)
    assert plan.tokens_in == (3 * second.plan.tokens_in[0], 9 * second.plan.tokens_in[0] // 2)
