"""Contract tests that every judge must pass: typed outcomes, no invented grades, no state."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import NotValid, UnknownName
from assay.llm.judges import JUDGES, OUTCOMES, Context, Outcome
from judgments.models.machines.machine import OUTCOMES as STORED_OUTCOMES

CONTEXTS = [
    Context("rain jacket", "A jacket that keeps the rain out.", ("keeps the rain out",), "something dry"),
    Context("rain jacket", "", ("keeps the rain out",), "something dry"),
    Context("rain jacket", "A stove.", ("keeps the rain out",), "something dry"),
]


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_answers_every_context_and_remembers_none(name: str) -> None:
    if JUDGES[name].extra:
        pytest.skip(f"{name} needs the extra {JUDGES[name].extra} and a model: see its own tests")
    judge = JUDGES[name].judge({})
    together = judge.outcomes(CONTEXTS)
    assert all(isinstance(outcome, Outcome) for outcome in together)
    assert together == [judge.outcomes([context])[0] for context in CONTEXTS]
    assert together[::-1] == judge.outcomes(CONTEXTS[::-1])
    assert judge.outcomes([]) == []


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_says_what_it_is_and_takes(name: str) -> None:
    kind = JUDGES[name]
    assert kind.name == name
    assert kind.title
    assert kind.description.endswith(".")
    assert kind.checked({}) == {parameter.name: parameter.default for parameter in kind.parameters}


def test_the_outcomes_are_those_that_the_table_takes() -> None:
    assert OUTCOMES == STORED_OUTCOMES


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "refused", "grade": 0},
        {"name": "graded"},
        {"name": "truncated", "relevant": True},
        {"name": "failed"},
    ],
)
def test_a_failure_is_never_a_grade(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="outcome"):
        Outcome(**fields)


def test_a_grade_off_the_scale_is_not_clipped() -> None:
    off = Outcome("graded", 5, True, rationale="why", cost_usd=0.5).on_scale((0, 1, 2, 3))
    assert (off.name, off.grade, off.relevant, off.raw) == ("out_of_scale", None, None, "grade 5")
    assert (off.rationale, off.cost_usd) == ("why", 0.5)


@pytest.mark.parametrize("name", [name for name in OUTCOMES if name != "graded"])
def test_a_failure_stays_what_it_is_on_any_scale(name: Any) -> None:
    assert Outcome(name).on_scale((0, 1)) == Outcome(name)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_tokens": 1.5}, "a whole number"),
        ({"min_tokens": -1}, "at least 0"),
        ({"threshold": 1.5}, "at least 0.01 and at most 1"),
        ({"threshold": "0.5"}, "a number"),
        ({"threshold": True}, "a number"),
        ({"query_boost": 1}, "true or false"),
        ({"model": "x"}, "has no parameter 'model'"),
    ],
)
def test_parameters_are_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(NotValid, match=message) as refusal:
        JUDGES["token_overlap"].checked(given)
    assert set(refusal.value.fields) == set(given)


def test_an_unknown_judge_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="did you mean token_overlap"):
        JUDGES["token-overlap"]
