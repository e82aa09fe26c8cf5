"""Tests of parameter validation: defaults, type conversion, bounds, unknown parameters."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import NotValid
from assay.core.parameters import Parameter, checked

DEPTH = Parameter("depth", "Depth", "How deep.", 10, minimum=1)
SHARE = Parameter("p", "Share", "How much.", 0.5, 0.01, 0.99)
BOOST = Parameter("boost", "Boost", "Whether.", True)
PAIRS = Parameter("pairs", "Pairs", "Which.", ())
ALL = (DEPTH, SHARE, BOOST, PAIRS)


def test_missing_parameters_take_defaults() -> None:
    assert checked("the test", ALL, {"depth": None, "p": 0.9}) == {"depth": 10, "p": 0.9, "boost": True, "pairs": ()}


def test_a_value_becomes_the_parameters_type() -> None:
    values = DEPTH.check(5.0), SHARE.check(0.25), BOOST.check(False), PAIRS.check([("q1", "d1")])
    assert values == (5, 0.25, False, [("q1", "d1")])
    assert type(values[0]) is int


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        (DEPTH, 0, "at least 1"),
        (DEPTH, 2.5, "a whole number"),
        (DEPTH, "ten", "a whole number"),
        (DEPTH, True, "a whole number"),
        (DEPTH, float("inf"), "a whole number"),
        (DEPTH, 10**30, "at most 2,147,483,647"),
        (DEPTH, 1e300, "at most 2,147,483,647"),
        (SHARE, 10**400, "at most 0.99"),
        (SHARE, float("nan"), "at least 0.01 and at most 0.99"),
        (SHARE, 1, "at most 0.99"),
        (BOOST, 1, "true or false"),
    ],
)
def test_invalid_values_are_refused_with_the_bounds(parameter: Parameter, value: Any, words: str) -> None:
    with pytest.raises(NotValid, match=words) as refused:
        parameter.check(value)
    assert set(refused.value.fields) == {parameter.name}


def test_a_parameter_that_it_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(NotValid, match="the test has no parameter 'deep'; parameters: depth, p"):
        checked("the test", (DEPTH, SHARE), {"deep": 3})
