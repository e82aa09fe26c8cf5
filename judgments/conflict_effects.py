"""Effect of each conflict of a round on the metrics, as computed by another app.

Effects on metrics need runs and scores, which this app does not know. An app that can compute them registers here in
its `AppConfig`; without one, or without runs, pages have no such column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judgments.core.family import Family
from judgments.models import Round


@dataclass(frozen=True)
class Effects:
    """How far settling each conflict could move a metric.

    Attributes
    ----------
    metric : str
        Its name, for example ``nDCG@10``.
    moves : mapping of int to float
        Pair key to the largest change of any run's mean when the pair's label goes from its lowest to its highest
        grade; 0 where nothing hangs on it. A pair that was not looked at is not there.
    newer : int
        Answers, and changes of answers, that came since this was counted.
    """

    metric: str
    moves: Mapping[int, float]
    newer: int = 0


@dataclass(frozen=True)
class Appraiser:
    """One who knows what hangs on conflicts.

    Attributes
    ----------
    effects : callable
        ``effects(round_)``: for all conflicts of the round, None where there is nothing to tell (no runs, for example).
        It is called for a page, so it keeps what costs.
    detail : callable
        ``detail(pair, grades)``: for one conflict a row per run: ``{"run": name, "rank": int or None, "values": {grade:
        float}}``, with the run's mean as ``effects`` counts it for each of the grades; the runs that move most first.
        Empty where there is nothing to tell.
    why_not : callable
        ``why_not(round_)``: where there would be something to tell and it is not counted, the reason in words; else "".
    """

    effects: Callable[[Round], Effects | None]
    detail: Callable[[Any, list[int]], list[dict[str, Any]]] | None = None
    why_not: Callable[[Round], str] | None = None


APPRAISERS: Family[Appraiser] = Family("appraiser of conflicts", {})


def effects(round_: Round) -> Effects | None:
    """What the first appraiser that knows anything says of the round's conflicts; None where nobody does."""
    return next((said for name in APPRAISERS if (said := APPRAISERS[name].effects(round_)) is not None), None)


def why_not(round_: Round) -> str:
    """Why nothing is told of the round's conflicts, in words; "" where there is nothing to tell."""
    told = (APPRAISERS[name].why_not for name in APPRAISERS)
    return next((words for one in told if one is not None and (words := one(round_))), "")


def detail(pair: Any, grades: list[int]) -> list[dict[str, Any]]:
    """What one conflict's settlement would do to each run; empty where nobody knows."""
    for name in APPRAISERS:
        told = APPRAISERS[name].detail
        if told is not None and (rows := told(pair, grades)):
            return rows
    return []
