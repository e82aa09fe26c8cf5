"""Conversion of a run of pairwise comparisons to its API response."""

from __future__ import annotations

from typing import Any

from judgments.machines.calibration import cost, model_names
from judgments.machines.judge_runs.run_status import name_fields, run_fields
from judgments.machines.pairwise import grades, injection_probe, runs, scores
from judgments.models import BattleRun, User

PLAIN = ("number", "cycles", "both", "most", "seed", "battles", "canaries", "audit_share")


def serialize_run(run: BattleRun, viewer: User) -> dict[str, Any]:
    """Return the API body of a run."""
    spent = cost.of_battles(run)
    return {
        **{name: getattr(run, name) for name in PLAIN},
        "id": run.uuid,
        **run_fields(run),
        **name_fields(model_names.by_name_of(run, viewer)),
        "estimate": run.estimate or None,
        "unanswered": runs.unanswered(run),
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "estimated_usd": spent.estimated,
        "left_out": list(spent.left_out),
        "prompt": f"{run.inputs['template'][0]} v{run.inputs['template'][1]}",
        "prompt_id": None if run.prompt is None else run.prompt.uuid,
        "flips": [
            {"model": of.model, **one.as_json()} for of in injection_probe.flips(run, viewer) for one in of.flips
        ],
        "models": [{name: one[name] for name in ("provider", "model")} for one in run.ensemble],
        "by_model": scores.counts(run, viewer),
        "judges": [judge.uuid for judge in grades.judges_of(run)],
    }
