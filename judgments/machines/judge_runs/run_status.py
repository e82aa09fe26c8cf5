"""Response fields shared by runs of judges and of pairwise comparisons: state, caps, usage and model names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgments.machines import machine_runs
from judgments.machines.calibration import model_names
from judgments.machines.judge_runs import retry
from judgments.models import MachineRun

# For a judge that never ran in the round itself, such as one based on pairwise comparisons.
NO_RUN = {
    "state": MachineRun.State.DONE,
    "said": "",
    "tried_again_at": None,
    "job": None,
    "cap_usd": None,
    "cap_calls": None,
    "spent_usd": 0.0,
    "calls": 0,
}


def run_fields(run: MachineRun | None) -> dict[str, Any]:
    """Return the state, the next retry, the caps and the usage."""
    if run is None:
        return NO_RUN
    (state, message), waits = machine_runs.state_of(run), retry.wait_of(run)
    return {
        "state": state,
        "said": message,
        "tried_again_at": None if waits is None else waits.at,
        "job": None if run.job is None else run.job.uuid,
        **{name: getattr(run, name) for name in ("cap_usd", "cap_calls", "spent_usd", "calls")},
    }


def name_fields(names: Sequence[model_names.Named]) -> dict[str, Any]:
    """Return the names under which its models answered, with a warning if a model had several."""
    return {"renamed": model_names.warning(list(names)), "by_name": [model_names.as_json(one) for one in names]}
