"""Page of one machine judge in a round: calibration, effect on metrics, prompt-injection probes and cost."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from assay.coefficients.coefficient import Agreement
from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from evaluation.effects import judge_effect
from evaluation.effects.human_ceiling import two_people
from evaluation.effects.judge_effect import Effect
from evaluation.effects.judge_files import confusion_csv, worth_chart, worth_csv
from evaluation.effects.judge_verdict import verdict
from evaluation.effects.round_runs import METRIC, metrics_of
from judgments.charts.chart_files import picture
from judgments.machines import machine_runs
from judgments.machines.calibration import audit_sample, auto_accept, calibration, model_names, pairwise_judges
from judgments.machines.calibration.calibration import JudgeCalibration, Money
from judgments.machines.judge_runs import kinship, model_judges, retry
from judgments.machines.judge_runs.forms import AcceptForm, go_on_form
from judgments.machines.judge_runs.views.answers import PLANTED
from judgments.machines.judge_runs.views.judges import dollars, judge_of, run_state
from judgments.machines.judge_runs.views.usefulness import useful_page
from judgments.machines.pairwise.views import pairwise
from judgments.models import Grade, Judge, JudgeRun, Round
from judgments.rounds.views.rounds import frame
from judgments.web import access
from judgments.web.downloads import attachment

# Number of pairs in the next batch on the page.
NEXT = 200


@login_required
@require_safe
def judge(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    machine_judge, run = judge_of(round_, judge)
    if not calibration.has_grades(machine_judge):
        return useful_page(request, round_, machine_judge, run)
    drawn = audit_sample.of_judge(machine_judge, round_)
    over = "all" if request.GET.get("over") == "all" or drawn is None else "slice"
    held = calibration.calibrate(machine_judge, round_, request.user, over=over)
    if file := FILES.get(request.GET.get("format", "")):
        return file(f"{round_.name}-{machine_judge.name}", held)
    metric = request.GET.get("metric", "") or METRIC
    try:
        effect = judge_effect.effect(machine_judge, round_, request.user, metric=metric)
    except NotValid:
        effect = judge_effect.effect(machine_judge, round_, request.user)
    outcomes = calibration.outcomes(machine_judge, round_, request.user)
    spent, fought = calibration.money(machine_judge, round_), pairwise_judges.run_of(machine_judge, round_)
    flips = calibration.flips(run, request.user) if run is not None else []
    flips = flips if fought is None else pairwise_judges.flips_of(fought, request.user)
    names = model_names.by_name(machine_judge, round_, request.user, spent=spent, over=over)
    context = frame(request, round_) | {
        "judge": machine_judge,
        "run": run,
        "slice": drawn,
        "run_state": run_state(run),
        "run_message": machine_runs.state_of(run)[1] if run is not None else "",
        "at_work": run is not None and not machine_runs.is_over(run),
        "waiting": retry.wait_of(run) if run is not None else None,
        "over": over,
        "held": held,
        "outcomes": [(name.replace("_", " "), number) for name, number in outcomes.items()],
        "graded": outcomes.get("graded", 0),
        "confusion": _confusion(held, round_),
        "worth": _worth(held, round_),
        "effect": effect,
        "moved": _moved(effect),
        "tau": _signed(effect.tau, 2, plus=False),
        "leans": _signed(held.calibrated.bias, 2),
        "verdict": verdict(
            held.calibrated,
            flips,
            asks_a_model=model_judges.asks_a_model(machine_judge),
            of_battles=fought is not None,
            outcomes=outcomes,
        ),
        "fought": fought,
        **_agreement(held),
        **_people(two_people(round_, machine_judge, request.user, over=over)),
        "metrics": metrics_of(round_.collection),
        "kin": kinship.kin_warning(round_.collection, *kinship.models_of(machine_judge), *spent.models),
        "names": names,
        "renamed": model_names.warning(names),
        "money": spent,
        "usd": dollars(spent.usd),
        "per_thousand": dollars(spent.per_thousand),
        "next_batch": _next_batch(run, spent),
        "expected": [dollars(one) for one in run.estimate.get("usd") or ()] if run is not None else [],
        "flips": [((PLANTED if fought is None else pairwise.PLANTED).get(one.trap, one.trap), one) for one in flips],
        "flipped": calibration.share_of(sum(one.flipped for one in flips), sum(one.share.n for one in flips)),
        "flipped_number": sum(one.flipped for one in flips),
        "go_on": go_on_form(run),
        **_accepting(round_, machine_judge, request.user),
    }
    return render(request, "evaluation/effects/judge.html", context)


def _accepting(round_: Round, judge: Judge, reader: Any) -> dict[str, Any]:
    """Return whether the lowest grade can be accepted automatically; hidden from leads who still rate."""
    accept = auto_accept.active_accept(round_)
    mine = accept is not None and accept.judge_id == judge.pk
    return {
        "accepted": accept if mine else None,
        "standing": auto_accept.visible_status(reader, round_, auto_accept.status_of(accept))
        if accept and mine
        else None,
        "accept": AcceptForm(),
        "accept_least": auto_accept.LEAST,
        "lowest": round_.scale.values()[0],
    }


def _signed(value: float | None, digits: int, *, plus: bool = True) -> str:
    """Format a number with its sign, or a dash if it is missing."""
    if value is None:
        return "–"
    return f"{value:{'+' if plus else ''}.{digits}f}".replace("-", "−")


def _agreement(held: JudgeCalibration) -> dict[str, str]:
    """Return the kappas and alpha in the order of the page."""
    kappa = held.calibrated.kappa
    ends = [_signed(end, 3, plus=False) for end in (kappa["quadratic"].low, kappa["quadratic"].high)]
    return {
        "kappa_quadratic": _signed(kappa["quadratic"].value, 3, plus=False),
        "kappa_unweighted": _signed(kappa["unweighted"].value, 3, plus=False),
        "kappa_inside": f"{ends[0]}–{ends[1]}",
        "alpha": _signed(held.calibrated.alpha["ordinal"].value, 3, plus=False),
    }


def _people(agreements: dict[str, Agreement]) -> dict[str, str]:
    """Return the agreement of two people, or an empty string if no pair has two grades."""
    sentences = {
        name: f"two people: {_signed(one.value, 3, plus=False)}, {amount(one.n, 'pair')}"
        for name, one in agreements.items()
        if one.value is not None
    }
    return {"people_unweighted": sentences.get("unweighted", ""), "people_quadratic": sentences.get("quadratic", "")}


def _next_batch(run: JudgeRun | None, spent: Money) -> dict[str, Any] | None:
    """Return the maximum cost of the next pairs by the estimate; None if no pair is left or no price is known."""
    if run is None or not run.estimate.get("usd") or not run.estimate.get("pairs"):
        return None
    pairs = min(NEXT, run.estimate["pairs"] - spent.judged)
    if pairs <= 0:
        return None
    return {"pairs": pairs, "usd": dollars(run.estimate["usd"][1] * pairs / run.estimate["pairs"])}


def _moved(effect: Effect) -> list[dict[str, Any]]:
    """Return each run with the difference between its mean under machine and human labels."""
    return [
        {
            "run": row.run,
            "people": row.people,
            "machine": row.machine,
            "shown": _signed(row.difference, 3),
            "inside": "too few queries"
            if row.low is None
            else f"{_signed(row.low, 3, plus=False)} to {_signed(row.high, 3, plus=False)}",
        }
        for row in (effect.biases.rows if effect.biases is not None else ())
    ]


def _labels(round_: Round) -> dict[int, str]:
    return dict(Grade.objects.filter(scale=round_.scale).values_list("value", "label"))


def _confusion(held: JudgeCalibration, round_: Round) -> dict[str, Any]:
    """Return the rows of the table with the shade of each cell: human grades down, machine grades across."""
    table, labels = held.calibrated.confusion, _labels(round_)
    most = max((cell for row in table for cell in row), default=0)
    rows = [
        {
            "grade": value,
            "label": labels.get(value, ""),
            "cells": [(cell, _level(cell, most)) for cell in row],
            "all": sum(row),
        }
        for value, row in zip(held.calibrated.values, table, strict=True)
    ]
    across = [sum(row[at] for row in table) for at in range(len(table))]
    return {"values": held.calibrated.values, "rows": rows, "across": across, "all": sum(across), "top": max(labels)}


def _level(cell: int, most: int) -> int:
    return min(4, -(-4 * cell // most)) if most and cell else 0


def _worth(held: JudgeCalibration, round_: Round) -> list[dict[str, Any]]:
    labels = _labels(round_)
    return [
        {
            "grade": one.grade,
            "label": labels.get(one.grade, ""),
            "same": one.same,
            "relevant": one.relevant,
            "right": None if one.same.value is None else round(one.same.value * one.same.n),
            "at": None if one.same.value is None else round(one.same.value * 200, 1),
            "from": None if one.same.low is None else round(one.same.low * 200, 1),
            "to": None if one.same.high is None else round(one.same.high * 200, 1),
        }
        for one in held.calibrated.worth
    ]


def _as_json(name: str, held: JudgeCalibration) -> HttpResponse:
    return JsonResponse(held.calibrated.as_json())


def _as_csv(name: str, held: JudgeCalibration) -> HttpResponse:
    return attachment(f"{name}-confusion.csv", confusion_csv(held.calibrated))


def _as_worth_csv(name: str, held: JudgeCalibration) -> HttpResponse:
    return attachment(f"{name}-precision.csv", worth_csv(held.calibrated))


def _as_worth_svg(name: str, held: JudgeCalibration) -> HttpResponse:
    return picture(
        worth_chart(held.calibrated, f"Share of pairs with the same human grade, by grade of {name}"),
        f"{name}-precision",
    )


FILES = {"json": _as_json, "csv": _as_csv, "worth.csv": _as_worth_csv, "worth.svg": _as_worth_svg}
