"""Page of estimated means of the runs from a judge's grades and people's, with the queries still needed."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation import estimates
from evaluation.estimates import Both, Told
from evaluation.estimators.from_labels import METHODS, UNLIKE_SAID, Estimate
from evaluation.round_runs import METRIC, metrics_of
from judgments import access, judged, machine_runs
from judgments.core.errors import NotFound, NotValid
from judgments.templatetags.figures import number
from judgments.views.judges import judge_of, run_state
from judgments.views.rounds import frame

NAMES = {"ppi": "corrected by people (PPI++)", "stratified": "by strata"}


@login_required
@require_safe
def judge_estimates(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    found, run = judge_of(round_, judge)
    if not judged.has_grades(found):
        raise NotFound("This judge gives no grades, so there is nothing to estimate from.")
    metric, half = request.GET.get("metric", "").strip() or METRIC, request.GET.get("half", "").strip()
    drawn, fault = request.GET.get("drawn") == "yes", ""
    method = request.GET.get("method", "") if request.GET.get("method", "") in METHODS else METHODS[0]
    try:
        told = estimates.estimates_of(found, round_, request.user, metric=metric, half=half_of(half), drawn=drawn)
    except NotValid as error:
        fault = str(error)
        told = estimates.estimates_of(found, round_, request.user, drawn=drawn)
    if request.GET.get("format") == "json" and not fault:
        return JsonResponse(told.as_json())
    notes = _notes(told, method)
    known = metrics_of(round_.collection)
    context = frame(request, round_) | {
        "judge": found,
        "run": run,
        "run_state": run_state(run),
        "said": machine_runs.state_of(run)[1] if run is not None else "",
        "at_work": run is not None and not machine_runs.is_over(run),
        "here": "estimates",
        "told": told,
        "fault": fault,
        "method": method,
        "methods": NAMES.items(),
        "metrics": known if told.metric in known else [told.metric, *known],
        "rows": [_row(both, method) for both in told.runs],
        "notes": [note for note in notes if UNLIKE_SAID not in note],
        "unlike": next((note for note in notes if UNLIKE_SAID in note), ""),
        "address": request.GET.urlencode(),
    }
    return render(request, "evaluation/estimates.html", context, status=422 if fault else 200)


def half_of(text: str) -> float:
    """Half of the interval that planning aims at; the usual one when nothing is said.

    Raises
    ------
    NotValid
        It is no number.
    """
    try:
        return float(text) if text else estimates.HALF
    except ValueError as error:
        said = f"{text[:20]!r} is no number; half of an interval is one such as {estimates.HALF}."
        raise NotValid(said, {"half": said}) from error


def chosen(both: Both, method: str) -> Estimate:
    """The estimate by one of the methods."""
    return both.ppi if method == "ppi" else both.stratified


def _row(both: Both, method: str) -> dict[str, Any]:
    one = chosen(both, method)
    found, alone = one.powered, one.powered.human_only
    return {
        "run": one.run,
        "mean": found.estimate,
        "inside": _ends(found.low, found.high),
        "alone": None if alone is None else alone.mean,
        "alone_inside": "" if alone is None else _ends(alone.low, alone.high),
        "machine": one.machine_only,
        "ratio": found.width_ratio,
        "saved": found.queries_saved,
        "weight": both.ppi.powered.weight if method == "ppi" else None,  # type: ignore[union-attr]
        "correlation": found.correlation,
        "needed": one.needed,
    }


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{number(low, 3)} to {number(high, 3)}"


def _notes(told: Told, method: str) -> list[str]:
    """Each limit once, with the runs behind it left out: they share nearly all."""
    return list(dict.fromkeys(note for both in told.runs for note in chosen(both, method).notes))
