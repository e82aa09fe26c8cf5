"""Tests of reading gate rules, and of errors that name the wrong part."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.decisions.gate_rules import OPERATORS, parse_rule

LIMITS = st.floats(-2, 2, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "metric", "operator", "limit"),
    [
        ("Judged@10 >= 0.8", "Judged@10", ">=", 0.8),
        ("judged_10>=.8", "Judged@10", ">=", 0.8),
        ("  MAP   >  1e-3 ", "AP", ">", 0.001),
        ("P(rel=2)@10 <= 1", "P(rel=2)@10", "<=", 1.0),
        ("nDCG(dcg='exp-log2') @ 10 < +0.5", "nDCG(gain=exp)@10", "<", 0.5),
        ("AP( judged_only=True, rel=2 ) == 0.25", "AP(rel=2,judged_only=True)", "==", 0.25),
    ],
)
def test_a_rule_on_the_candidate(text: str, metric: str, operator: str, limit: float) -> None:
    rule = parse_rule(text)
    assert (rule.metric.name, rule.operator, rule.limit) == (metric, operator, limit)
    assert (rule.drop, rule.relative, rule.luck) == (False, False, None)


@pytest.mark.parametrize(
    ("text", "metric", "limit", "relative", "luck"),
    [
        ("drop(nDCG@10) <= 0.02", "nDCG@10", 0.02, False, None),
        ("drop(nDCG@10)<=-0.02", "nDCG@10", -0.02, False, None),
        ("DROP ( AP(rel=2) ) <= 2%", "AP(rel=2)", 0.02, True, None),
        ("drop(AP) <= 2.5 % unless p >= 0.05", "AP", 0.025, True, 0.05),
        ("drop(P(rel=2)@5) <= .01 Unless  P>=1e-2", "P(rel=2)@5", 0.01, False, 0.01),
    ],
)
def test_a_rule_on_a_drop(text: str, metric: str, limit: float, relative: bool, luck: float | None) -> None:
    rule = parse_rule(text)
    assert (rule.metric.name, rule.operator, rule.limit) == (metric, "<=", limit)
    assert (rule.drop, rule.relative, rule.luck) == (True, relative, luck)


def test_the_text_is_stored_and_does_not_tell_rules_apart() -> None:
    written, other = parse_rule(" drop( MAP )  <= 2% "), parse_rule("drop(AP) <= 0.02e2%")
    assert written.text == "drop( MAP ) <= 2%"
    assert written == other


@pytest.mark.parametrize(
    ("text", "named", "example"),
    [
        ("", "empty", "Judged@10 >= 0.8"),
        ("nDCG@10", "no comparison", ">= 0.8"),
        ("nDCG@10 0.5", "no comparison", ">= 0.8"),
        ("nDCG@10 = 0.5", "'='", "did you mean =="),
        ("nDCG@10 => 0.5", "'=>'", "did you mean >="),
        ("nDCG@10 != 0.5", "'!='", "Judged@10 >= 0.8"),
        (">= 0.5", "there is no metric before", "Judged@10"),
        ("drop( ) <= 0.5", "there is no metric inside drop()", "drop(nDCG@10)"),
        ("drop nDCG@10 <= 0.5", "in parentheses", "drop(nDCG@10)"),
        ("drop(nDCG@10 <= 0.5", "parenthesis is not closed", "drop(nDCG@10)"),
        ("P@5,10 >= 0.3", "'P@5,10' contains 2 metrics", "Judged@10"),
        ("drop(AP RR) <= 0.3", "'AP RR' contains 2 metrics", "drop(nDCG@10)"),
        ("nDCG@10 >=", "a number is missing after '>='", "0.8"),
        ("nDCG@10 >= 0,8", "'0,8'", "0.8"),
        ("nDCG@10 >= nan", "'nan'", "0.8"),
        ("nDCG@10 >= inf", "'inf'", "0.8"),
        ("nDCG@10 >= 1e999", "'1e999'", "0.8"),
        ("nDCG@10 >= 1_0", "'1_0'", "0.8"),
        ("nDCG@10 >= 80%", "80%", "0.8"),
        ("drop(AP) <= %", "a number is missing after '<='", "0.8"),
        ("nDCG@10 >= 0.8 please", "'please'", "unless p >= 0.05"),
        ("drop(AP) <= 0.02 unless p > 0.05", "'unless p > 0.05'", "unless p >= 0.05"),
        ("drop(AP) <= 0.02 unless p >= often", "'often'", "0.8"),
        ("drop(AP) <= 0.02 unless p >= 0", "between 0 and 1", "unless p >= 0.05"),
        ("drop(AP) <= 0.02 unless p >= 1", "between 0 and 1", "unless p >= 0.05"),
        ("AP <= 0.02 unless p >= 0.05", "only about the candidate", "drop(nDCG@10)"),
    ],
)
def test_a_bad_rule_names_the_part_and_an_example(text: str, named: str, example: str) -> None:
    with pytest.raises(NotValid) as refused:
        parse_rule(text)
    summary = str(refused.value)
    assert named in summary
    assert example in summary
    assert "\n" not in summary


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10 >= 0.5", "did you mean nDCG@10"),
        ("drop(P) <= 0.1", "write P@10"),
        ("P(level=2)@10 >= 0.1", "has no parameter 'level'"),
        ("drop(drop(AP)) <= 0.1", "'drop(AP)'"),
    ],
)
def test_a_bad_metric_is_reported_as_everywhere_and_in_which_rule(text: str, message: str) -> None:
    with pytest.raises(NotValid) as refused:
        parse_rule(text)
    assert message in str(refused.value)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize(
    ("operator", "below", "near", "above"),
    [
        (">=", False, True, True),
        (">", False, False, True),
        ("<=", True, True, False),
        ("<", True, False, False),
        ("==", False, True, False),
    ],
)
def test_rounding_differences_are_equal(operator: str, below: bool, near: bool, above: bool) -> None:
    rule = parse_rule(f"AP {operator} 0.1")
    assert [rule.holds(value) for value in (0.1 - 1e-9, 0.1 + 1e-9)] == [below, above]
    # 0.4 - 0.3 is 0.10000000000000003 and 0.3 - 0.2 is 0.09999999999999998.
    assert [rule.holds(value) for value in (0.4 - 0.3, 0.3 - 0.2, 0.1)] == [near, near, near]


@given(LIMITS, LIMITS)
@settings(max_examples=50, deadline=None)
def test_one_comparison_is_the_opposite_of_another(value: float, limit: float) -> None:
    held = {operator: parse_rule(f"AP {operator} {limit!r}").holds(value) for operator in OPERATORS}
    assert held[">="] is not held["<"]
    assert held["<="] is not held[">"]
    assert held["=="] is (held["<="] and held[">="])


@given(st.text(max_size=30))
@settings(max_examples=50, deadline=None)
def test_no_text_ends_in_anything_but_a_rule_or_a_sentence(text: str) -> None:
    with contextlib.suppress(NotValid):
        assert parse_rule(text).operator in OPERATORS
