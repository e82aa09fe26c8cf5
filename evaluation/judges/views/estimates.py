"""Page of estimated means of the runs from human and machine grades, with the number of queries still needed."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from assay.core.errors import NotFound, NotValid
from assay.estimators.human_machine_mean import METHODS, UNLIKE_NOTE, HumanMachineMean
from evaluation.effects.round_runs import METRIC, metrics_of
from evaluation.judges import estimates
from evaluation.judges.estimates import Both
from judgments.machines.calibration import calibration
from judgments.machines.judge_runs.views.judges import judge_of, run_context
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.figures import number
from judgments.web.pages import get_page

NAMES = {"ppi": "corrected by human grades (PPI++)", "stratified": "stratified"}


@get_page
def judge_estimates(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    machine_judge, run = judge_of(round_, judge)
    if not calibration.has_grades(machine_judge):
        raise NotFound("This judge gives no grades, so nothing can be estimated from it.")
    metric, half = request.GET.get("metric", "").strip() or METRIC, request.GET.get("half", "").strip()
    drawn, fault = request.GET.get("drawn") == "yes", ""
    method = request.GET.get("method", "") if request.GET.get("method", "") in METHODS else METHODS[0]
    try:
        result = estimates.estimates_of(
            machine_judge, round_, request.user, metric=metric, half=half_of(half), drawn=drawn
        )
    except NotValid as error:
        fault = str(error)
        result = estimates.estimates_of(machine_judge, round_, request.user, drawn=drawn)
    if request.GET.get("format") == "json" and not fault:
        return JsonResponse(result.as_json())
    # Each limitation once, without the names of runs, because nearly all runs share them.
    notes = list(dict.fromkeys(note for both in result.runs for note in chosen(both, method).notes))
    known = metrics_of(round_.collection)
    context = frame(request, round_) | {
        **run_context(run),
        "judge": machine_judge,
        "here": "estimates",
        "estimates": result,
        "fault": fault,
        "method": method,
        "methods": NAMES.items(),
        "metrics": known if result.metric in known else [result.metric, *known],
        "heads": _heads(method, result.half),
        "rows": [_row(both, method) for both in result.runs],
        "notes": [note for note in notes if UNLIKE_NOTE not in note],
        "unlike": next((note for note in notes if UNLIKE_NOTE in note), ""),
        "address": request.GET.urlencode(),
    }
    return render(request, "evaluation/judges/estimates.html", context, status=422 if fault else 200)


def _heads(method: str, half: float) -> list[str]:
    """Return the headings of the numbers of a run."""
    heads = ["Combined", "Interval", "People only", "Interval", "Machine only", "Relative width", "Queries saved"]
    return [*heads, *["Lambda"] * (method == "ppi"), f"Queries for ±{half}", f"Queries for ±{half}, people only"]


def half_of(text: str) -> float:
    """Read the half-width for planning from the URL."""
    try:
        return float(text) if text else estimates.HALF
    except ValueError as error:
        message = f"{text[:20]!r} is not a number. Enter a half-width such as {estimates.HALF}."
        raise NotValid(message, "half") from error


def chosen(both: Both, method: str) -> HumanMachineMean:
    """Return the estimate by one of the methods."""
    return both.ppi if method == "ppi" else both.stratified


def _row(both: Both, method: str) -> dict[str, Any]:
    one = chosen(both, method)
    estimate, alone = one.powered, one.powered.human_only
    return {
        "run": one.run,
        "mean": estimate.estimate,
        "inside": _ends(estimate.low, estimate.high),
        "alone": None if alone is None else alone.mean,
        "alone_inside": "" if alone is None else _ends(alone.low, alone.high),
        "machine": one.machine_only,
        "ratio": estimate.width_ratio,
        "saved": estimate.queries_saved,
        "weight": both.ppi.powered.weight if method == "ppi" else None,  # type: ignore[union-attr]
        "correlation": estimate.correlation,
        "needed": one.needed,
    }


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{number(low, 3)} to {number(high, 3)}"
