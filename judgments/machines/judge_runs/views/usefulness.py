"""Page of a judge that rates usefulness: how useful documents are to a system, compared with their relevance."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from judgments.machines import machine_runs
from judgments.machines.calibration import calibration
from judgments.machines.judge_runs import kinship, retry
from judgments.machines.judge_runs.round_form import go_on_form
from judgments.machines.judge_runs.views.judges import dollars, run_state
from judgments.models import Grade, Judge, JudgeRun, Round
from judgments.rounds.views.rounds import frame


def useful_page(request: HttpRequest, round_: Round, judge: Judge, run: JudgeRun | None) -> HttpResponse:
    """Return the page; the caller has checked access."""
    useful, spent = calibration.usefulness(judge, round_, request.user), calibration.money(judge, round_)
    labels = dict(Grade.objects.filter(scale=round_.scale).values_list("value", "label"))
    counted = calibration.outcomes(judge, round_, request.user)
    context = frame(request, round_) | {
        "judge": judge,
        "run": run,
        "run_state": run_state(run),
        "run_message": machine_runs.state_of(run)[1] if run is not None else "",
        "at_work": run is not None and not machine_runs.is_over(run),
        "waiting": retry.wait_of(run) if run is not None else None,
        "kin": kinship.kin_warning(round_.collection, judge.model, *spent.models),
        "useful": useful,
        "failed": sum(counted.values()) - counted.get("graded", 0),
        "grades": [(value, labels.get(value, ""), number, mean) for value, number, mean in useful.by_grade],
        "top": max(labels, default=0),
        "money": spent,
        "per_thousand": dollars(spent.per_thousand),
        "go_on": go_on_form(run),
    }
    return render(request, "judgments/machines/judge_runs/judge_useful.html", context)
