"""Page of one machine judge in a round: calibration, effect on metrics, prompt-injection probes and cost."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation import calibration
from evaluation.calibration import Effect
from evaluation.judge_files import confusion_csv, worth_chart, worth_csv
from evaluation.judge_verdict import verdict
from evaluation.round_runs import METRIC, metrics_of
from evaluation.two_people import two_people
from judgments import (
    access,
    audit_slice,
    auto_accept,
    battle_canaries,
    judge_names,
    judged,
    judging_waking,
    kinship,
    machine_runs,
    model_judges,
)
from judgments.agreement.coefficient import Agreement
from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.judge_forms import AcceptForm, go_on_form
from judgments.judged import Held, Money
from judgments.models import Grade, Judge, JudgeRun, Round
from judgments.views import battles
from judgments.views.downloads import attachment
from judgments.views.judge_answers import PLANTED
from judgments.views.judge_useful import useful_page
from judgments.views.judges import dollars, judge_of, run_state
from judgments.views.rounds import frame
from pooling.views.picture_files import picture

# So many pairs are told as the next batch.
NEXT = 200


@login_required
@require_safe
def judge(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    found, run = judge_of(round_, judge)
    if not judged.has_grades(found):
        return useful_page(request, round_, found, run)
    drawn = audit_slice.of_judge(found, round_)
    over = "all" if request.GET.get("over") == "all" or drawn is None else "slice"
    held = judged.held(found, round_, request.user, over=over)
    if file := FILES.get(request.GET.get("format", "")):
        return file(f"{round_.name}-{found.name}", held)
    metric = request.GET.get("metric", "") or METRIC
    try:
        effect = calibration.effect(found, round_, request.user, metric=metric)
    except NotValid:
        effect = calibration.effect(found, round_, request.user)
    outcomes = judged.outcomes(found, round_, request.user)
    spent, fought = judged.money(found, round_), battle_canaries.run_of(found, round_)
    flips = judged.flips(run, request.user) if run is not None else []
    flips = flips if fought is None else battle_canaries.flips_of(fought, request.user)
    names = judge_names.by_name(found, round_, request.user, spent=spent, over=over)
    context = frame(request, round_) | {
        "judge": found,
        "run": run,
        "slice": drawn,
        "run_state": run_state(run),
        "said": machine_runs.state_of(run)[1] if run is not None else "",
        "at_work": run is not None and not machine_runs.is_over(run),
        "waiting": judging_waking.waiting(run) if run is not None else None,
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
            asks_a_model=model_judges.asks_a_model(found),
            of_battles=fought is not None,
            outcomes=outcomes,
        ),
        "fought": fought,
        **_agreement(held),
        **_people(two_people(round_, found, request.user, over=over)),
        "metrics": metrics_of(round_.collection),
        "kin": kinship.kin_warning(round_.collection, *kinship.models_of(found), *spent.models),
        "names": names,
        "renamed": judge_names.warning(names),
        "money": spent,
        "usd": dollars(spent.usd),
        "per_thousand": dollars(spent.per_thousand),
        "next_batch": _next_batch(run, spent),
        "expected": [dollars(one) for one in run.estimate.get("usd") or ()] if run is not None else [],
        "flips": [((PLANTED if fought is None else battles.PLANTED).get(one.trap, one.trap), one) for one in flips],
        "flipped": judged.share_of(sum(one.flipped for one in flips), sum(one.share.n for one in flips)),
        "flipped_number": sum(one.flipped for one in flips),
        "go_on": go_on_form(run),
        **_accepting(round_, found, request.user),
    }
    return render(request, "evaluation/judge.html", context)


def _accepting(round_: Round, found: Judge, reader: Any) -> dict[str, Any]:
    """Whether its lowest grade stands; a lead who still rates is not told how many do."""
    asked = auto_accept.asked_for(round_)
    mine = asked is not None and asked.judge_id == found.pk
    return {
        "accepted": asked if mine else None,
        "standing": auto_accept.told_to(reader, round_, auto_accept.standing(asked)) if asked and mine else None,
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


def _people(found: dict[str, Agreement]) -> dict[str, str]:
    """What two people come to where the judge is held against them; empty where no pair has two grades."""
    told = {
        name: f"two people: {_signed(one.value, 3, plus=False)}, {amount(one.n, 'pair')}"
        for name, one in found.items()
        if one.value is not None
    }
    return {"people_unweighted": told.get("unweighted", ""), "people_quadratic": told.get("quadratic", "")}


def _next_batch(run: JudgeRun | None, spent: Money) -> dict[str, Any] | None:
    """What the next pairs cost at most, going by the estimate; None where none is left, or no price is known."""
    if run is None or not run.estimate.get("usd") or not run.estimate.get("pairs"):
        return None
    pairs = min(NEXT, run.estimate["pairs"] - spent.judged)
    if pairs <= 0:
        return None
    return {"pairs": pairs, "usd": dollars(run.estimate["usd"][1] * pairs / run.estimate["pairs"])}


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
            "relevant": one.relevant,
            "right": None if one.same.value is None else round(one.same.value * one.same.n),
            "at": None if one.same.value is None else round(one.same.value * 200, 1),
            "from": None if one.same.low is None else round(one.same.low * 200, 1),
            "to": None if one.same.high is None else round(one.same.high * 200, 1),
        }
        for one in held.calibrated.worth
    ]


def _as_json(name: str, held: Held) -> HttpResponse:
    return JsonResponse(held.calibrated.as_json())


def _as_csv(name: str, held: Held) -> HttpResponse:
    return attachment(f"{name}-confusion.csv", confusion_csv(held.calibrated))


def _as_worth_csv(name: str, held: Held) -> HttpResponse:
    return attachment(f"{name}-precision.csv", worth_csv(held.calibrated))


def _as_worth_svg(name: str, held: Held) -> HttpResponse:
    return picture(
        worth_chart(held.calibrated, f"How often people say the same, by the grade of {name}"), f"{name}-precision"
    )


FILES = {"json": _as_json, "csv": _as_csv, "worth.csv": _as_worth_csv, "worth.svg": _as_worth_svg}
