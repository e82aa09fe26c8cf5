"""Estimates before a decision starts: how many queries and hours a verdict takes, and when it can be expected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils import timezone

from evaluation.decisions.decisions import Plan
from pooling.pools.effort import Pace

# The standard deviation of the differences between two different lists, typical of nDCG@10 on web and product search.
SPREAD = 0.25
DIFFERENCES = (0.1, 0.05, 0.0)
HOURS_A_DAY = 2


@dataclass(frozen=True)
class Scenario:
    """The effort until a verdict if the candidate differs by ``difference`` on the queries whose lists differ."""

    difference: float
    verdict: str
    queries: int
    judgments: int
    hours: str
    answer_on: date | None


def scenarios(plan: Plan, pace: Pace, raters: int) -> list[Scenario]:
    """Return the effort for a large, a medium and no difference."""
    return [_scenario(plan, pace, raters, difference) for difference in DIFFERENCES]


def _scenario(plan: Plan, pace: Pace, raters: int, difference: float) -> Scenario:
    from assay.sequential.decide import decide_differences

    settings = plan.settings
    result = decide_differences(
        _typical(plan, difference),
        delta=settings.delta,
        alpha=settings.alpha,
        method=settings.method,
        planned=len(plan.order) if settings.method == "group" else None,
        bounded=settings.method != "asymptotic",
        forecast=False,
    )
    pairs = plan.pairs_after(result.queries)
    judgments = pairs + round(pairs * settings.overlap) * (settings.ratings_per_pair - 1)
    days = math.ceil(judgments * pace.seconds / 3600 / max(raters, 1) / HOURS_A_DAY)
    return Scenario(
        difference,
        result.verdict,
        result.queries,
        judgments,
        pace.cost(judgments),
        working_day(days) if raters else None,
    )


def _typical(plan: Plan, difference: float) -> Sequence[float]:
    """Return typical differences in the plan's order: 0 for identical lists, otherwise spread around the mean."""
    values, sign = [], 1
    for query_id in plan.order:
        if query_id in plan.pairs:
            values.append(difference + sign * SPREAD)
            sign = -sign
        else:
            values.append(0.0)
    return values


def working_day(days: int) -> date:
    """Return the working day this many days from today."""
    day = timezone.localdate()
    while days > 0 or day.weekday() >= 5:
        day += timedelta(days=1)
        days -= day.weekday() < 5
    return day
