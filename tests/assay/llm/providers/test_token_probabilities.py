"""Tests of token probabilities over real HTTP: only those of the grade are read."""

from __future__ import annotations

import json
import math

import pytest

from assay.llm.model_reply import Reply, read_grade
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import MOST_ALTERNATIVES, Endpoint, of_grade
from assay.llm.providers.question_run import ask
from tests.model_server import Answer, serving

SURE, PERHAPS = math.exp(-0.1), math.exp(-2.5)
TELLING = ["openai", "gemini"]
Tokens = list[tuple[str, dict[str, float]]]


def grade_probabilities(answer: Answer, protocol: str = "openai") -> dict[str, float] | None:
    """What is read as the probabilities of the grades 0 to 3."""
    replies: list[Reply] = []
    schema = {"type": "object", "properties": {"grade": {"type": "integer", "enum": [0, 1, 2, 3]}}}
    with serving(lambda prompt, number: answer) as server:
        endpoint = Endpoint(PROTOCOLS[protocol], "a-model", server.url)
        question = Question("k", "", "Document", schema, probabilities=True)
        ask(endpoint, [question], lambda _, reply: replies.append(reply), limits=Limits(1, attempts=1))
    outcome = read_grade(replies[0], (0, 1, 2, 3))
    assert outcome.name == "graded", outcome
    return None if outcome.probabilities is None else dict(outcome.probabilities)


def shares(**of: float) -> object:
    return pytest.approx({str(grade): of.get(f"g{grade}", 0.0) / math.fsum(of.values()) for grade in range(4)})


@pytest.mark.parametrize("protocol", TELLING)
@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "fits", "grade": 1}',
        '{"reason": "A tent for 2, not 3", "grade": 1}',
        '{"grade": 1, "reason": "A tent for 2"}',
        '{"reason": "It says \\"grade\\": 3, which is no reason", "grade": 1}',
        '{"grade":1}',
    ],
)
def test_a_number_in_the_reason_is_not_the_grade(protocol: str, text: str) -> None:
    assert grade_probabilities(Answer(text), protocol) == shares(g1=SURE, g2=PERHAPS)


@pytest.mark.parametrize("protocol", TELLING)
@pytest.mark.parametrize(
    "end",
    [
        [('":', {}), (" 1", {" 1": -0.1, " 2": -2.5}), ("}", {})],
        [('":1', {'":1': -0.1, '":2': -2.5}), ("}", {})],
        [('":', {}), ("1}", {"1}": -0.1, "2}": -2.5})],
        [('": 1}', {'": 1}': -0.1, '": 2}': -2.5})],
        # One grade in several spellings is one grade, and what is none is left out.
        [('":', {}), ("1", {"1": math.log(SURE / 2), " 1": math.log(SURE / 2), "2": -2.5, "null": -4.0}), ("}", {})],
    ],
)
def test_however_the_answer_is_cut_into_tokens(protocol: str, end: Tokens) -> None:
    begin: Tokens = [('{"', {}), ("reason", {}), ('": "for ', {}), ("3", {"3": -0.1}), ('", "', {}), ("grade", {})]
    text = "".join(token for token, _ in [*begin, *end])
    assert grade_probabilities(Answer(text, tokens=[*begin, *end]), protocol) == shares(g1=SURE, g2=PERHAPS)


def test_a_grade_of_two_tokens_has_no_probabilities() -> None:
    tokens: Tokens = [('{"grade": ', {}), ("0", {"0": -0.1, "1": -2.5}), ("1", {"1": -0.1}), ("}", {})]
    assert grade_probabilities(Answer('{"grade": 1}', tokens=tokens)) is None


def test_tokens_that_name_no_grade_tell_nothing() -> None:
    assert grade_probabilities(Answer("Tent for 2\nScore: 1")) is None


@pytest.mark.parametrize("token", ["2", None, {"2": -0.1}])
def test_probabilities_of_another_shape_cost_no_answer(token: object) -> None:
    message = {"message": {"content": '{"grade": 2}'}, "logprobs": {"content": [{"token": token}]}}
    assert grade_probabilities(Answer(body=json.dumps({"choices": [message]}).encode())) is None


def test_probabilities_are_requested_only_on_demand() -> None:
    for protocol in TELLING:
        body = str(PROTOCOLS[protocol].body(Question("k", "", "Document"), "a-model"))
        assert "logprobs" not in body.lower()


def test_a_server_that_tells_of_a_million_tokens_is_read_as_far_as_any_provider_tells() -> None:
    might = {str(number): -5.0 for number in range(10, 10 * MOST_ALTERNATIVES)}
    probabilities = of_grade([('{"grade":', {}), ("7", {"7": -0.1, **might})])
    assert probabilities is not None
    assert (len(probabilities), probabilities["7"]) == (MOST_ALTERNATIVES, pytest.approx(SURE))
