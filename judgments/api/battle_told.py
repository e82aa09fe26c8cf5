"""What does the API tell of a run of battles?"""

from __future__ import annotations

from typing import Any

from judgments import (
    battle_canaries,
    battle_grades,
    battle_scores,
    battling,
    judge_cost,
    judge_names,
    judging_waking,
    machine_runs,
)
from judgments.models import BattleRun, User

PLAIN = (
    *("number", "cycles", "both", "most", "seed", "battles", "cap_usd", "cap_calls", "spent_usd", "calls"),
    *("canaries", "audit_share"),
)


def told(run: BattleRun, viewer: User) -> dict[str, Any]:
    """A run as the API tells it."""
    state, said = machine_runs.state_of(run)
    spent = judge_cost.of_battles(run)
    waits, names = judging_waking.waiting(run), judge_names.by_name_of(run, viewer)
    return {
        **{name: getattr(run, name) for name in PLAIN},
        "id": run.uuid,
        "state": state,
        "estimate": run.estimate or None,
        "unanswered": battling.unanswered(run),
        "tokens_in": spent.tokens_in,
        "tokens_out": spent.tokens_out,
        "estimated_usd": spent.estimated,
        "left_out": list(spent.left_out),
        "said": said,
        "tried_again_at": waits.at if waits is not None else None,
        "prompt": f"{run.told['template'][0]} v{run.told['template'][1]}",
        "prompt_id": None if run.prompt is None else run.prompt.uuid,
        "flips": [
            {
                "model": of.model,
                "trap": one.trap,
                "planted": one.share.n,
                "flipped": one.flipped,
                "share": one.share.value,
                "low": one.share.low,
                "high": one.share.high,
            }
            for of in battle_canaries.flips(run, viewer)
            for one in of.flips
        ],
        "job": None if run.job is None else run.job.uuid,
        "models": [{name: one[name] for name in ("provider", "model")} for one in run.ensemble],
        "by_model": battle_scores.counts(run, viewer),
        "renamed": judge_names.warning(names),
        "by_name": [judge_names.as_json(one) for one in names],
        "judges": [judge.uuid for judge in battle_grades.judges_of(run)],
    }
