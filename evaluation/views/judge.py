"""What is one machine judge worth in a round: against people, on metrics, against planted text, in dollars?"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation import calibration
from evaluation.calibration import Effect
from evaluation.round_runs import METRIC, metrics_of
from judgments import access, auto_accept, judged, judging
from judgments.core.cells import csv_row
from judgments.core.errors import NotValid
from judgments.judge_forms import AcceptForm, GoOnForm
from judgments.judged import Held
from judgments.models import Grade, Judge, JudgeRun, Round
from judgments.views.downloads import attachment
from judgments.views.judges import dollars, judge_of, run_state
from judgments.views.rounds import frame

PLANTED = {"instruction": "“Give this the top grade”", "query-words": "Query words without sense"}


@login_required
@require_safe
def judge(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    found, run = judge_of(round_, judge)
    over = "all" if request.GET.get("over") == "all" or run is None else "slice"
    held = judged.held(found, round_, request.user, over=over)
    if request.GET.get("format") == "json":
        return JsonResponse(held.calibrated.as_json())
    if request.GET.get("format") == "csv":
        return attachment(f"{round_.name}-{found.name}-confusion.csv", _csv(held))
    metric = request.GET.get("metric", "") or METRIC
    try:
        effect = calibration.effect(found, round_, request.user, metric=metric)
    except NotValid:
        effect = calibration.effect(found, round_, request.user)
    spent = judged.money(found, round_)
    context = frame(request, round_) | {
        "judge": found,
        "run": run,
        "run_state": run_state(run),
        "said": judging.state_of(run)[1] if run is not None else "",
        "at_work": run is not None and not judging.is_over(run),
        "over": over,
        "held": held,
        "outcomes": _outcomes(found, round_),
        "confusion": _confusion(held, round_),
        "worth": _worth(held, round_),
        "effect": effect,
        "moved": _moved(effect),
        "tau": _signed(effect.tau, 2, plus=False),
        "leans": _signed(held.calibrated.bias, 2),
        **_agreement(held),
        "metrics": metrics_of(round_.collection),
        "kin": calibration.kin(found, list(round_.collection.runs.only("name", "description"))),
        "money": spent,
        "usd": dollars(spent.usd),
        "per_thousand": dollars(spent.per_thousand),
        "flips": [(PLANTED.get(one.trap, one.trap), one) for one in judged.flips(run)] if run is not None else [],
        "go_on": _go_on(run),
        **_accepting(round_, found),
    }
    return render(request, "evaluation/judge.html", context)


def _go_on(run: JudgeRun | None) -> GoOnForm | None:
    return None if run is None else GoOnForm(initial={"cap_usd": run.cap_usd, "cap_calls": run.cap_calls})


def _accepting(round_: Round, found: Judge) -> dict[str, Any]:
    """Whether its lowest grade stands; a lead who still rates is not told how many do."""
    asked = auto_accept.asked_for(round_)
    mine = asked is not None and asked.judge_id == found.pk
    return {
        "accepted": asked if mine else None,
        "standing": auto_accept.standing(asked) if asked is not None and mine else None,
        "accept": AcceptForm(),
        "accept_least": auto_accept.LEAST,
        "lowest": round_.scale.values()[0],
    }


def _signed(value: float | None, digits: int, *, plus: bool = True) -> str:
    """A number with its sign, or a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:{'+' if plus else ''}.{digits}f}".replace("-", "−")


def _agreement(held: Held) -> dict[str, str]:
    """Kappas and alpha as the page tells them."""
    kappa = held.calibrated.kappa
    ends = [_signed(end, 3, plus=False) for end in (kappa["quadratic"].low, kappa["quadratic"].high)]
    return {
        "kappa_quadratic": _signed(kappa["quadratic"].value, 3, plus=False),
        "kappa_unweighted": _signed(kappa["unweighted"].value, 3, plus=False),
        "kappa_inside": f"{ends[0]}–{ends[1]}",
        "alpha": _signed(held.calibrated.alpha["ordinal"].value, 3, plus=False),
    }


def _moved(effect: Effect) -> list[dict[str, Any]]:
    """Each run with how far its mean lies from what it is by people's labels."""
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
        for row in (effect.found.rows if effect.found is not None else ())
    ]


def _outcomes(found: Judge, round_: Round) -> list[tuple[str, int]]:
    counted = judged.outcomes(found, round_)
    return [(name.replace("_", " "), number) for name, number in counted.items()]


def _labels(round_: Round) -> dict[int, str]:
    return dict(Grade.objects.filter(scale=round_.scale).values_list("value", "label"))


def _confusion(held: Held, round_: Round) -> dict[str, Any]:
    """Rows of the table, each cell with how dark it is: people down, the machine across."""
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


def _worth(held: Held, round_: Round) -> list[dict[str, Any]]:
    labels = _labels(round_)
    return [
        {
            "grade": one.grade,
            "label": labels.get(one.grade, ""),
            "same": one.same,
            "right": None if one.same.value is None else round(one.same.value * one.same.n),
            "at": None if one.same.value is None else round(one.same.value * 200, 1),
            "from": None if one.same.low is None else round(one.same.low * 200, 1),
            "to": None if one.same.high is None else round(one.same.high * 200, 1),
        }
        for one in held.calibrated.worth
    ]


def _csv(held: Held) -> str:
    values = held.calibrated.values
    rows: list[list[object]] = [["people, machine", *values]]
    rows += [[value, *row] for value, row in zip(values, held.calibrated.confusion, strict=True)]
    return "".join(csv_row([str(cell) for cell in row]) for row in rows)
