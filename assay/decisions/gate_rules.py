"""Rules for a candidate run, and the parser of their notation.

A rule is ``METRIC OP NUMBER``, or ``drop(METRIC) OP NUMBER`` if the candidate is compared with a baseline. A drop may
be limited to a share of the baseline (``2%``) and excused as not significant (``unless p >= 0.05``). OP is one of
``>= > <= < ==``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn, Protocol

from assay.core.errors import NotValid
from assay.metrics.metric import parse_metrics

# A mean of decimal fractions is rarely exact: values within this distance equal the limit.
ROUNDING = 1e-12
EXAMPLE = "Judged@10 >= 0.8"
DROP_EXAMPLE = "drop(nDCG@10) <= 0.02 unless p >= 0.05"

# A metric may contain a metric with parameters: drop(NoiseRobustness(RecallAtK(k=5))).
INNER = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
LEFT = rf"(?:[^()<>=!]|{INNER})*"
RULE = re.compile(rf"({LEFT})([<>=!]+)\s*([^\s%]*)\s*(%?)\s*(.*)", re.DOTALL)
DROP = re.compile(r"drop\s*\((.*)\)", re.DOTALL | re.IGNORECASE)
UNLESS = re.compile(r"unless\s+p\s*>=\s*(\S+)", re.IGNORECASE)
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

OPERATORS: MappingProxyType[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        ">=": lambda value, limit: value >= limit or equal(value, limit),
        ">": lambda value, limit: value > limit and not equal(value, limit),
        "<=": lambda value, limit: value <= limit or equal(value, limit),
        "<": lambda value, limit: value < limit and not equal(value, limit),
        "==": lambda value, limit: equal(value, limit),
    }
)


class Named(Protocol):
    """The part of a metric that rules need."""

    @property
    def name(self) -> str:
        """Return the name of its values."""


ReadMetrics = Callable[[str], Sequence[Named]]


def equal(value: float, limit: float) -> bool:
    """Return whether two numbers differ by at most rounding: 1e-12, or that share of the larger one above 1.

    Examples
    --------
    >>> equal(0.1 + 0.2, 0.3), equal(0.3, 0.3000001)
    (True, False)
    """
    return math.isclose(value, limit, rel_tol=ROUNDING, abs_tol=ROUNDING)


@dataclass(frozen=True)
class Rule:
    """One condition on a candidate run."""

    text: str = field(compare=False)
    metric: Named
    operator: str
    limit: float
    drop: bool = False
    relative: bool = False
    luck: float | None = None

    def holds(self, value: float) -> bool:
        """Return whether the value meets the limit; a value that equals it up to rounding passes ``>=``, ``<=``,
        ``==``.

        Examples
        --------
        >>> rule = parse_rule("drop(P@10) <= 0.1")
        >>> rule.holds(0.4 - 0.3), rule.holds(0.11)
        (True, False)
        """
        return OPERATORS[self.operator](value, self.limit)

    def excuses(self, p: float) -> bool:
        """Return whether this p excuses a drop beyond the limit.

        Examples
        --------
        >>> parse_rule("drop(P@10) <= 0.1 unless p >= 0.05").excuses(0.05)
        True
        """
        return self.luck is not None and (p >= self.luck or equal(p, self.luck))


def parse_rule(text: str, read: ReadMetrics = parse_metrics) -> Rule:
    """Parse a rule.

    Examples
    --------
    >>> rule = parse_rule("drop(P(rel=2)@10) <= 2% unless p >= 0.05")
    >>> rule.metric.name, rule.limit, rule.drop, rule.relative, rule.luck
    ('P(rel=2)@10', 0.02, True, True, 0.05)
    """
    cleaned = " ".join(text.split())
    shape = RULE.fullmatch(cleaned)
    if shape is None:
        _refuse_shape(cleaned)
    left, operator, limit, percent, rest = (part.strip() for part in shape.groups())
    dropped = DROP.fullmatch(left)
    metric = _metric(cleaned, dropped[1] if dropped else left, read, drop=dropped is not None)
    _check_operator(cleaned, operator)
    value = _number(cleaned, limit, operator)
    if percent and not dropped:
        _refuse(cleaned, f"a percentage ({limit}%) is a share of the baseline; use it with a drop", EXAMPLE)
    luck = _luck(cleaned, rest, drop=dropped is not None) if rest else None
    return Rule(cleaned, metric, operator, value / 100 if percent else value, dropped is not None, bool(percent), luck)


def _refuse(rule: str, problem: str, example: str) -> NoReturn:
    raise NotValid(f"the rule {rule!r}: {problem}; write a rule such as {example!r}")


def _refuse_shape(rule: str) -> NoReturn:
    if not rule:
        raise NotValid(f"a rule is empty; write a rule such as {EXAMPLE!r}")
    if rule.count("(") != rule.count(")"):
        _refuse(rule, "a parenthesis is not closed", DROP_EXAMPLE if rule.lower().startswith("drop") else EXAMPLE)
    _refuse(rule, f"there is no comparison ({' '.join(OPERATORS)}) with a number", EXAMPLE)


def _metric(rule: str, name: str, read: ReadMetrics, *, drop: bool) -> Named:
    example = DROP_EXAMPLE if drop else EXAMPLE
    if not drop and re.match(r"drop\b", name, re.IGNORECASE):
        _refuse(rule, "drop needs a metric in parentheses", DROP_EXAMPLE)
    if not name.strip():
        _refuse(rule, "there is no metric " + ("inside drop()" if drop else "before the comparison"), example)
    try:
        metrics = read(name)
    except NotValid as error:
        raise NotValid(f"the rule {rule!r}: {error}") from None
    if len(metrics) > 1:
        _refuse(rule, f"{name.strip()!r} contains {len(metrics)} metrics, but a rule has one metric", example)
    return metrics[0]


def _check_operator(rule: str, operator: str) -> None:
    if operator in OPERATORS:
        return
    meant = {"=": "==", "=>": ">=", "=<": "<="}.get(operator)
    hint = f", did you mean {meant}?" if meant else ""
    _refuse(rule, f"{operator!r} is not a comparison ({' '.join(OPERATORS)}){hint}", EXAMPLE)


def _number(rule: str, text: str, after: str) -> float:
    if not text:
        _refuse(rule, f"a number is missing after {after!r}", EXAMPLE)
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        _refuse(rule, f"{text!r} after {after!r} is not a finite number with a decimal point", EXAMPLE)
    return float(text)


def _luck(rule: str, text: str, *, drop: bool) -> float:
    match = UNLESS.fullmatch(text)
    if match is None:
        _refuse(rule, f"{text!r} after the number cannot be parsed", DROP_EXAMPLE)
    if not drop:
        _refuse(rule, "'unless p' applies only to drops, but this rule is only about the candidate", DROP_EXAMPLE)
    level = _number(rule, match[1], "p >=")
    if not 0 < level < 1:
        _refuse(rule, f"p >= {match[1]} is not a level between 0 and 1", DROP_EXAMPLE)
    return level
