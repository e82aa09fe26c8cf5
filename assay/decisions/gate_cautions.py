"""Warnings about a gate's verdicts, whether it passed or failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.counted_nouns import agree, amount
from assay.decisions.gate_rules import equal
from assay.decisions.gate_verdicts import Verdict

# Below 25 queries two systems are often ranked the wrong way round. Source: Buckley and Voorhees 2000.
FEW_QUERIES = 25
GAP = 0.05
LEAST_JUDGED = 0.8


@dataclass(frozen=True)
class Facts:
    """Facts about the runs that the rules do not cover."""

    queries: int
    missing: str
    unanswered: int
    unanswered_by_baseline: int | None
    judged: float | None
    judged_of_baseline: float | None


def cautions(facts: Facts, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return warnings about the reliability of the verdicts.

    Examples
    --------
    >>> cautions(Facts(200, "zero", 0, 0, 0.95, 0.96), [])
    ()
    >>> cautions(Facts(200, "zero", 0, None, 0.7, None), [])
    ("70% of the candidate's top 10 is judged; unjudged documents count as not relevant; judge them first",)
    """
    sentences = [_holes(facts), *_unanswered(facts), _few(facts, verdicts), *(_cheap_excuse(one) for one in verdicts)]
    return tuple(text for text in sentences if text)


def _holes(facts: Facts) -> str:
    ours, theirs = facts.judged, facts.judged_of_baseline
    if ours is None:
        return ""
    if theirs is not None and abs(ours - theirs) > GAP and not equal(abs(ours - theirs), GAP):
        shares = f"{ours:.0%} of the candidate's top 10 is judged, {theirs:.0%} of the baseline's"
        if ours < theirs:
            return (
                f"{shares}; unjudged documents count as not relevant, so the candidate may be better than its scores "
                "suggest"
            )
        return f"{shares}; unjudged documents count as not relevant, so the baseline may be better and the drop larger"
    if ours < LEAST_JUDGED:
        advice = "unjudged documents count as not relevant; judge them first"
        return f"{ours:.0%} of the candidate's top 10 is judged; {advice}"
    return ""


def _unanswered(facts: Facts) -> list[str]:
    one, several = ("scores 0", "score 0") if facts.missing == "zero" else ("is left out", "are left out")
    return [
        f"{who} does not answer {count} of {amount(facts.queries, 'judged query', 'judged queries')}, "
        f"which {agree(count, one, several)}"
        for who, count in (("the candidate", facts.unanswered), ("the baseline", facts.unanswered_by_baseline))
        if count
    ]


def _few(facts: Facts, verdicts: Sequence[Verdict]) -> str:
    counted = min([facts.queries, *(verdict.queries for verdict in verdicts)])
    if counted >= FEW_QUERIES:
        return ""
    start = f"based on {counted} quer{'y' if counted == 1 else 'ies'}, fewer than {FEW_QUERIES}"
    seen = [one for one in verdicts if one.detectable is not None]
    worst = max(seen, key=lambda one: one.detectable or 0.0, default=None)
    if worst is None:
        return f"{start}: a different sample of queries may give a different result"
    name = worst.rule.metric.name
    return (
        f"{start}: a true difference in {name} of {worst.detectable:.3f} is detected with 80% probability, and "
        "smaller differences less often"
    )


def _cheap_excuse(verdict: Verdict) -> str:
    """Return a warning about a drop that is excused only because it occurs on too few queries to be significant."""
    luck = verdict.rule.luck
    if not verdict.excused or luck is None or 2.0 ** (1 - verdict.differing) < luck:
        return ""
    excuse = (
        f"{verdict.differing} of {amount(verdict.queries, 'query', 'queries')} "
        f"{agree(verdict.differing, 'differs', 'differ')}, too few for any p below {luck:g}"
    )
    return f"{verdict.rule.text!r} is excused, but only because {excuse}: inspect these queries"
