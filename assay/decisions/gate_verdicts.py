"""Verdicts of a gate on each rule, with their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.decisions.gate_rules import Rule, equal
from assay.scoring.results import Summary


@dataclass(frozen=True)
class Drop:
    """One metric of both runs on the queries that count for both."""

    queries: int
    baseline: float | None
    candidate: float | None
    p: float | None
    reason: str | None = None
    smallest_p: float | None = None
    differing: int = 0
    detectable: float | None = None


@dataclass(frozen=True)
class Verdict:
    """The verdict on a rule."""

    rule: Rule
    passed: bool
    value: float | None
    candidate: float | None
    baseline: float | None
    queries: int
    reason: str | None = None
    p: float | None = None
    smallest_p: float | None = None
    detectable: float | None = None
    differing: int = 0
    excused: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, unrounded."""
        return {
            "rule": self.rule.text,
            "passed": self.passed,
            "value": self.value,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "p": self.p,
            "reason": self.reason,
            "metric": self.rule.metric.name,
            "limit": self.rule.limit,
            "queries": self.queries,
            "excused": self.excused,
            "detectable": self.detectable,
        }


@dataclass(frozen=True)
class GateResult:
    """The verdicts on a candidate run, with the data behind them."""

    verdicts: tuple[Verdict, ...]
    warnings: tuple[str, ...]
    queries: int
    missing: str
    permutations: int
    seed: int
    scale_top: float | None = None
    unit: str = "query"

    @property
    def passed(self) -> bool:
        """Return whether every rule passed."""
        return all(verdict.passed for verdict in self.verdicts)

    @property
    def failures(self) -> int:
        """Return the number of rules that failed."""
        return sum(not verdict.passed for verdict in self.verdicts)

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``assay gate --format json``, without the files."""
        return {
            "passed": self.passed,
            "rules": [verdict.as_json() for verdict in self.verdicts],
            "warnings": list(self.warnings),
            "settings": {
                "test": "randomization",
                "permutations": self.permutations,
                "seed": self.seed,
                "missing": self.missing,
                "scale_top": self.scale_top,
                "queries": self.queries,
            },
        }


def decide(rule: Rule, *, candidate: Summary, baseline: Summary | None, drop: Drop | None) -> Verdict:
    """Decide one rule."""
    if drop is not None:
        return _decide_drop(rule, drop)
    value = _defined(candidate.mean)
    passed = value is not None and rule.holds(value)
    reason = None if passed else _missed(rule, value) if value is not None else candidate.reason or "it is undefined"
    before = None if baseline is None else _defined(baseline.mean)
    return Verdict(rule, passed, value, value, before, candidate.queries, reason)


def _decide_drop(rule: Rule, drop: Drop) -> Verdict:
    value, undefined = _amount(rule, drop)
    excused = False
    if value is None:
        passed, reason = False, undefined
    elif rule.holds(value):
        passed, reason = True, drop.reason
    else:
        excused, why = _excuse(rule, drop)
        passed, reason = excused, _missed(rule, value) + why
    return Verdict(
        rule=rule,
        passed=passed,
        value=value,
        candidate=drop.candidate,
        baseline=drop.baseline,
        queries=drop.queries,
        reason=reason,
        p=drop.p,
        smallest_p=drop.smallest_p,
        detectable=drop.detectable,
        differing=drop.differing,
        excused=excused,
    )


def _amount(rule: Rule, drop: Drop) -> tuple[float | None, str | None]:
    """Return the size of the drop, or why it is undefined."""
    before, after = _defined(drop.baseline), _defined(drop.candidate)
    if before is None or after is None:
        return None, drop.reason or "it is undefined"
    if not rule.relative:
        return before - after, None
    if before <= 0:
        return (
            None,
            f"the baseline's mean is {before:g}, so a percentage of it is undefined; limit the drop by a number",
        )
    return (before - after) / before, None


def _excuse(rule: Rule, drop: Drop) -> tuple[bool, str]:
    """Return whether a p-value excuses a drop beyond the limit, and the explanation."""
    if rule.luck is None:
        return False, ""
    if drop.p is None:
        return False, f"; no excuse without p: {drop.reason}"
    if drop.smallest_p is not None and (drop.smallest_p > rule.luck or equal(drop.smallest_p, rule.luck)):
        return False, f"; no excuse: the queries or draws are too few for a p below {rule.luck:g}"
    if rule.excuses(drop.p):
        return True, f", excused: p {drop.p:.4g} is not below {rule.luck:g}"
    return False, f", and p {drop.p:.4g} is below {rule.luck:g}"


def _missed(rule: Rule, value: float) -> str:
    """Describe by how much a value misses the limit."""
    distance = value - rule.limit
    if equal(value, rule.limit):
        return f"equal to the limit, which {rule.operator} does not allow"
    return f"{amount(abs(distance), rule)} {'above' if distance > 0 else 'below'} the limit"


def amount(value: float, rule: Rule) -> str:
    """Format a number of a rule with four decimals, or as a percentage of the baseline; a difference is never rounded
    to 0.

    Examples
    --------
    >>> from assay.decisions.gate_rules import parse_rule
    >>> amount(0.0235, parse_rule("drop(AP) <= 0.02")), amount(0.0235, parse_rule("drop(AP) <= 2%"))
    ('0.0235', '2.35%')
    >>> amount(0.00002, parse_rule("AP >= 0.5"))
    '2.0e-05'
    """
    if 0 < abs(value) < 0.00005:
        return f"{value:.1e}"
    return f"{100 * value:.2f}%" if rule.relative else f"{value:.4f}"


def _defined(value: float | None) -> float | None:
    return None if value is None or value != value else value
