"""Convert a run of pairwise comparisons to its API response."""

from __future__ import annotations

from typing import Any

from judgments import (
    battle_canaries,
    battle_grades,
    battle_scores,
    battling,
    judge_cost,
    judge_names,
)
from judgments.api.machine_runs import names_told, run_told
from judgments.models import BattleRun, User

PLAIN = ("number", "cycles", "both", "most", "seed", "battles", "canaries", "audit_share")


def told(run: BattleRun, viewer: User) -> dict[str, Any]:
    """A run as the API tells it."""
    spent = judge_cost.of_battles(run)
    return {
        **{name: getattr(run, name) for name in PLAIN},
        "id": run.uuid,
        **run_told(run),
        **names_told(judge_names.by_name_of(run, viewer)),
        "estimate": run.estimate or None,
        "unanswered": battling.unanswered(run),
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "estimated_usd": spent.estimated,
        "left_out": list(spent.left_out),
        "prompt": f"{run.told['template'][0]} v{run.told['template'][1]}",
        "prompt_id": None if run.prompt is None else run.prompt.uuid,
        "flips": [
            {"model": of.model, **one.as_json()} for of in battle_canaries.flips(run, viewer) for one in of.flips
        ],
        "models": [{name: one[name] for name in ("provider", "model")} for one in run.ensemble],
        "by_model": battle_scores.counts(run, viewer),
        "judges": [judge.uuid for judge in battle_grades.judges_of(run)],
    }
