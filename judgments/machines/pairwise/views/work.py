"""Cost of a run of pairwise comparisons: spent, still to come, and for further comparisons."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from judgments.machines import machine_runs
from judgments.machines.calibration import cost
from judgments.machines.judge_runs import kinship
from judgments.machines.judge_runs.views.judges import dollars
from judgments.machines.pairwise import runs
from judgments.machines.pairwise.forms import FurtherForm
from judgments.machines.pairwise.runs import Estimate
from judgments.models import BattleRun, Provider


def work(run: BattleRun) -> dict[str, Any]:
    """Return the work and cost so far, the remaining work, and the providers that refused a call."""
    spent, usd = cost.of_battles(run), run.estimate.get("usd")
    return {
        "money": spent,
        "usd": dollars(run.spent_usd) if _priced(run) else "",
        "cap": dollars(run.cap_usd),
        "expected": [dollars(one) for one in usd] if usd else None,
        "to_come": _to_come(run),
        "providers": _providers(run),
    }


def _priced(run: BattleRun) -> bool:
    """Return whether all models of the run have a price, so that its cost is known."""
    return bool(run.estimate.get("usd")) or run.cap_usd is not None or run.spent_usd > 0


def _providers(run: BattleRun) -> list[Provider]:
    """Return the providers of the run's models that still exist."""
    return list(run.round.collection.providers.filter(uuid__in=[one["provider"] for one in run.ensemble]))


def _to_come(run: BattleRun) -> dict[str, Any] | None:
    """Return the remaining answers and their maximum cost by the estimate; None if none are left."""
    if not machine_runs.is_over(run) or not (left := runs.unanswered(run)):
        return None
    usd, calls = run.estimate.get("usd"), run.estimate.get("calls")
    return {"answers": left, "usd": dollars(usd[1] * left / calls[0]) if usd and calls and calls[0] else ""}


def further(run: BattleRun, request: HttpRequest) -> dict[str, Any]:
    """Return the form for further comparisons, with their cost if a number was entered."""
    form = FurtherForm(request.GET) if "number" in request.GET else None
    estimate: Estimate | None = None
    if form is not None and form.is_valid():
        with form.telling():
            estimate = runs.estimate_further(run, form.cleaned_data["number"])
    return {
        "further": form or FurtherForm(),
        "estimate": estimate,
        "expected_further": [dollars(one) for one in estimate.usd]
        if estimate is not None and estimate.usd is not None
        else None,
        "kin": kinship.kin_warning(run.round.collection, *(one["model"] for one in run.ensemble)) if estimate else "",
    }
