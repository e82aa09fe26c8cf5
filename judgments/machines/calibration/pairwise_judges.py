"""Judges based on pairwise comparisons: their run, and the parameters, comparisons and flips that a reader may see."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet

from judgments.labels import grade_visibility
from judgments.machines.calibration.calibration import Flip, share_of
from judgments.machines.kinds import BATTLES
from judgments.models import Battle, BattleCanary, BattleRun, Judge, Round

LEARNT = {"cuts", "steepness", "anchors_right"}


def run_of(judge: Judge, round_: Round) -> BattleRun | None:
    """Return the run of comparisons that a judge is based on; None for every other judge."""
    if judge.kind != BATTLES:
        return None
    try:
        return round_.battle_runs.defer("drawn").filter(uuid=judge.parameters.get("run")).first()
    except (ValidationError, ValueError):
        return None


def visible_parameters(judge: Judge, round_: Round, viewer: Any) -> dict[str, Any]:
    """Return a judge's parameters, without those learned from anchors for a reader who may still grade an anchor."""
    learnt = LEARNT & judge.parameters.keys()
    hidden = grade_visibility.hidden_keys_of_round(viewer, round_) if learnt and viewer is not None else set()
    if not any(tuple(key) in hidden for key in (judge.inputs.get("example_pairs", ()) if hidden else ())):
        return judge.parameters
    return {name: value for name, value in judge.parameters.items() if name not in learnt}


def visible_battles(run: BattleRun, viewer: Any, table: type[Battle] | type[BattleCanary] = Battle) -> QuerySet[Any]:
    """Return the comparisons that a reader may see, without documents that they may still grade."""
    rows = table.objects.filter(run=run)
    if viewer is None:
        return rows
    hidden = grade_visibility.pairs_with_hidden_grades(viewer, run.round).values("pk")
    return rows.exclude(Q(a__in=hidden) | Q(b__in=hidden))


def flips_of(run: BattleRun, viewer: Any) -> list[Flip]:
    """Return the flips by probe, over all models of the run."""
    outcomes: dict[tuple[Any, ...], bool] = {}
    for model, turned in probe_outcomes(run, viewer).items():
        outcomes |= {(*key, model): won for key, won in turned.items()}
    return list(by_trap(outcomes))


def probe_outcomes(run: BattleRun, viewer: Any) -> dict[str, dict[tuple[Any, ...], bool]]:
    """Return by model, and by probe and comparison, whether the former loser won."""
    rows = visible_battles(run, viewer, BattleCanary).filter(score__isnull=False).order_by("pk")
    outcomes: dict[str, dict[tuple[Any, ...], bool]] = {}
    for model, trap, a, b, turned, score, plain in rows.values_list(
        "requested_model", "trap", "a", "b", "swapped", "score", "plain"
    ):
        outcomes.setdefault(model, {})[trap, a, b, turned] = score * plain < 0
    return outcomes


def by_trap(turned: dict[tuple[Any, ...], bool]) -> tuple[Flip, ...]:
    """Return by probe how many of the probed documents won, and their share."""
    wins: dict[str, list[bool]] = {}
    for key, won in turned.items():
        wins.setdefault(key[0], []).append(won)
    return tuple(Flip(trap, sum(of), share_of(sum(of), len(of))) for trap, of in sorted(wins.items()))
