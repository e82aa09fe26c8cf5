"""Page of one machine judge in a round: calibration, effect on metrics, prompt-injection probes and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from assay.coefficients.coefficient import Agreement
from assay.core.csv_cells import csv_row
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from evaluation.effects.round_runs import METRIC, is_large, metrics_of, state_key
from evaluation.judges import judge_effect
from evaluation.judges.judge_effect import Effect
from judgments.charts.charts import FORMS, Chart, Stroke, Words, picture
from judgments.charts.intervals import dot, whisker
from judgments.charts.plots import Axis, Names, Plot, ranges
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility, round_labels
from judgments.labels.round_labels import Key
from judgments.machines.calibration import audit_sample, auto_accept, calibration, cost, model_names, pairwise_judges
from judgments.machines.calibration.calibration import JudgeCalibration, alike
from judgments.machines.calibration.cost import Money
from judgments.machines.judge_runs import judge_settings, model_judges
from judgments.machines.judge_runs.round_form import AcceptForm, go_on_form
from judgments.machines.judge_runs.views.answers import PLANTED
from judgments.machines.judge_runs.views.judges import dollars, judge_of, run_context, useful_page
from judgments.machines.pairwise.views import pairwise
from judgments.models import Grade, Judge, JudgeRun, Round
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.downloads import attachment
from judgments.web.pages import get_page

if TYPE_CHECKING:
    from assay.coefficients.human_machine import Calibrated, Share
    from judgments.machines.calibration.calibration import Flip

DAY = 24 * 3600
FORM = 2
WEIGHTS = ("unweighted", "quadratic")


def two_people(round_: Round, judge: Judge, viewer: Any, *, over: str) -> dict[str, Agreement]:
    """Compute the kappa of two people on the pairs that several people graded, for comparison with a judge's kappa."""
    if is_large(round_):
        return {}
    hidden = grade_visibility.hidden_keys_of_round(viewer, round_)
    here = frozenset(round_.pairs.values_list("query__query_id", "document__doc_id")) - hidden
    inside = here & calibration.slice_keys(judge, round_) if over == "slice" else here
    rounds = alike(round_)
    states = [state_key(one, []) for one in rounds]
    key = f"two-people:{FORM}:{state_key(round_, [], states, str(judge.uuid), over, sorted(hidden))}"
    return compute_once(key, lambda: _computed(rounds, round_, here, inside), keep=DAY)


def _computed(rounds: list[Round], round_: Round, here: Set[Key], inside: Set[Key]) -> dict[str, Agreement]:
    met = _met(rounds, here)
    chosen = [one for one in met if one[0] in inside] or met
    return {weights: _kappa(chosen, weights, round_) for weights in WEIGHTS}


def _met(rounds: list[Round], here: Set[Key]) -> list[tuple[Key, int, int]]:
    """Return every two planned grades of a pair in one round, without extra ratings after a disagreement."""
    grade_pairs: list[tuple[Key, int, int]] = []
    for round_ in rounds:
        grades: dict[Key, list[int]] = {}
        for query_id, doc_id, _, grade in round_labels.rating_rows(round_, planned=True):
            if (query_id, doc_id) in here:
                grades.setdefault((query_id, doc_id), []).append(grade)
        grade_pairs += [(key, *two) for key, given in grades.items() for two in combinations(given, 2)]
    return grade_pairs


def _kappa(met: list[tuple[Key, int, int]], weights: str, round_: Round) -> Agreement:
    from dataclasses import replace

    import numpy as np

    from assay.coefficients.cohen import cohen_kappa
    from assay.coefficients.human_machine import RESAMPLES

    first, second = [one for _, one, _ in met], [two for _, _, two in met]
    _, clusters = np.unique([query_id for (query_id, _), _, _ in met], return_inverse=True)
    kappa = cohen_kappa(
        [*first, *second],
        [*second, *first],
        weights,
        values=round_.scale.values(),
        clusters=np.concatenate([clusters, clusters]).astype(np.int64),
        resamples=RESAMPLES,
        seed=round_.seed,
    )
    return replace(kappa, n=len(met), ratings=2 * len(met))


# With fewer pairs graded by both, there is no verdict.
LEAST = 30
CLOSE, GOOD, FAIR = 0.8, 0.6, 0.4
# A grade that is correct less often than this is reported if the judge gave it often enough.
WEAK, ENOUGH_USES = 0.7, 10
LEANING = 0.25


@dataclass(frozen=True)
class Verdict:
    """The verdict on a judge for a page."""

    state: str
    head: str
    why: str


def verdict(
    calibrated: Calibrated,
    flips: Sequence[Flip],
    *,
    asks_a_model: bool = True,
    of_battles: bool = False,
    outcomes: Mapping[str, int] | None = None,
) -> Verdict:
    """Return the verdict on a judge compared with people."""
    if outcomes and (lost := _lost(outcomes, asks_a_model)):
        return Verdict("fail", "Too few of the judge's answers are grades.", lost)
    kappa = calibrated.kappa["quadratic"]
    if calibrated.pairs < LEAST or calibrated.queries < 2 or kappa.value is None or kappa.low is None:
        return Verdict("todo", "Not enough pairs.", _too_little(calibrated))
    weak, moved = _weak(calibrated), _moved_runs(flips, asks_a_model, of_battles)
    state, head = _band(kappa.value, kappa.low, bool(weak or any(one.flipped for one in flips)))
    sentences = [weak, _never(calibrated), _leans(calibrated), moved]
    return Verdict(state, head, " ".join(sentence for sentence in sentences if sentence))


def _lost(outcomes: Mapping[str, int], asks_a_model: bool) -> str:
    """Describe how most answers ended if most of them are not grades."""
    answers = sum(outcomes.values())
    if 2 * outcomes.get("graded", 0) >= answers:
        return ""
    others = sorted(((number, name) for name, number in outcomes.items() if name != "graded" and number), reverse=True)
    listed = ", ".join(f"{number:,} {name.replace('_', ' ')}" for number, name in others)
    act = (
        "Read some of them, then correct the prompt or choose another model."
        if asks_a_model
        else "Read some of the answers."
    )
    return f"Of {amount(answers, 'answer')}: {listed}. {act}"


def _band(value: float, low: float, but: bool) -> tuple[str, str]:
    if low >= CLOSE and not but:
        return "done", "The judge agrees closely with people on these pairs."
    if low >= GOOD:
        return "warn" if but else "done", "Good enough for a first pass, but not as the only source of labels."
    if value >= GOOD:
        return "warn", "Possibly good enough for a first pass; the interval is too wide to tell."
    if value >= FAIR:
        return "warn", "Good enough for filtering, but not for grading."
    return "fail", "Not reliable enough to use."


def _too_little(calibrated: Calibrated) -> str:
    if calibrated.pairs < LEAST:
        pairs = amount(calibrated.pairs, "pair")
        return f"People and the judge both graded {pairs}; {LEAST} are needed, from at least 2 queries."
    if calibrated.kappa["quadratic"].value is None:
        return "All of these pairs have the same grade, so they cannot show whether the judge distinguishes grades."
    return "All of these pairs are from one query, so they cannot show how results vary between queries."


def _weak(calibrated: Calibrated) -> str:
    """Name the grades that are rarely correct."""
    weak = {
        one.grade: one.same.value
        for one in calibrated.worth
        if one.same.value is not None and one.same.n >= ENOUGH_USES and one.same.value < WEAK
    }
    if not weak:
        return ""
    if len(weak) == len([one for one in calibrated.worth if one.same.n]):
        return f"Each grade of the judge is correct for at most {_percent(max(weak.values()))} of its pairs."
    return f"{_listed(weak)} of the pairs with {'this grade' if len(weak) == 1 else 'these grades'}."


def _listed(weak: Mapping[int, float]) -> str:
    grades, shares = [str(grade) for grade in weak], [_percent(share) for share in weak.values()]
    if len(weak) == 1:
        return f"Grade {grades[0]} is correct for {shares[0]}"
    first, last = ", ".join(grades[:-1]), ", ".join(shares[:-1])
    return f"Grades {first} and {grades[-1]} are correct for {last} and {shares[-1]}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _never(calibrated: Calibrated) -> str:
    by_people = [sum(row) for row in calibrated.confusion]
    never = [
        str(one.grade) for one, people in zip(calibrated.worth, by_people, strict=True) if not one.same.n and people
    ]
    return f"The judge never gives grade {' or '.join(never)}, but people do." if never else ""


def _leans(calibrated: Calibrated) -> str:
    if calibrated.bias is None or abs(calibrated.bias) < LEANING:
        return ""
    return (
        f"The judge grades {abs(calibrated.bias):.2f} {'above' if calibrated.bias > 0 else 'below'} people on average."
    )


def _moved_runs(flips: Sequence[Flip], asks_a_model: bool, of_battles: bool) -> str:
    planted, moved = sum(one.share.n for one in flips), sum(one.flipped for one in flips)
    verb, noun = ("reversed", "comparison") if of_battles else ("changed", "grade")
    if not planted:
        return "No prompt-injection probe has tested this judge yet." if asks_a_model and not of_battles else ""
    if not moved:
        return f"None of {amount(planted, 'prompt-injection probe')} {verb} a {noun}."
    return (
        f"Prompt-injection probes {verb} {amount(moved, noun)} of {planted:,}. Read these answers before you use the "
        "judge for more pairs."
    )


# Number of pairs in the next batch on the page.
NEXT = 200


@get_page
def judge(request: HttpRequest, uuid: str, judge: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    machine_judge, run = judge_of(round_, judge)
    if not calibration.has_grades(machine_judge):
        return useful_page(request, round_, machine_judge, run)
    drawn = audit_sample.of_judge(machine_judge, round_)
    over = "all" if request.GET.get("over") == "all" or drawn is None else "slice"
    held = calibration.calibrate(machine_judge, round_, request.user, over=over)
    if file := _file_of(request, held.calibrated, f"{round_.name}-{machine_judge.name}"):
        return file
    metric = request.GET.get("metric", "") or METRIC
    try:
        effect = judge_effect.effect(machine_judge, round_, request.user, metric=metric)
    except NotValid:
        effect = judge_effect.effect(machine_judge, round_, request.user)
    outcomes = calibration.outcomes(machine_judge, round_, request.user)
    spent, fought = cost.money(machine_judge, round_), pairwise_judges.run_of(machine_judge, round_)
    flips = calibration.flips(run, request.user) if run is not None else []
    flips = flips if fought is None else pairwise_judges.flips_of(fought, request.user)
    names = model_names.by_name(machine_judge, round_, request.user, spent=spent, over=over)
    context = frame(request, round_) | {
        **run_context(run),
        "judge": machine_judge,
        "slice": drawn,
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
        "kin": judge_settings.kin_warning(round_.collection, *judge_settings.models_of(machine_judge), *spent.models),
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
    return render(request, "evaluation/judges/judge.html", context)


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
            "cells": [(cell, -(-4 * cell // most) if most else 0) for cell in row],
            "all": sum(row),
        }
        for value, row in zip(held.calibrated.values, table, strict=True)
    ]
    across = [sum(row[at] for row in table) for at in range(len(table))]
    return {"values": held.calibrated.values, "rows": rows, "across": across, "all": sum(across), "top": max(labels)}


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


def _file_of(request: HttpRequest, calibrated: Calibrated, name: str) -> HttpResponse | None:
    """Return the calibration as JSON, one of its tables as CSV, or the chart of its grades, if requested."""
    wanted = request.GET.get("format", "")
    if wanted == "json":
        return JsonResponse(calibrated.as_json())
    if wanted == "csv":
        return attachment(f"{name}-confusion.csv", confusion_csv(calibrated))
    if wanted == "worth.csv":
        return attachment(f"{name}-precision.csv", worth_csv(calibrated))
    if wanted in [f"worth.{form}" for form in FORMS]:
        title = f"Share of pairs with the same human grade, by grade of {name}"
        return picture(worth_chart(calibrated, title), f"{name}-precision", wanted)
    return None


WIDTH, NAME, ROW = 320, 60, 24


def confusion_csv(calibrated: Calibrated) -> str:
    """Return rows by human grade and columns by machine grade."""
    rows = zip(calibrated.values, calibrated.confusion, strict=True)
    table = [("people, machine", *calibrated.values), *((value, *row) for value, row in rows)]
    return "".join(csv_row(list(map(str, row))) for row in table)


def worth_csv(calibrated: Calibrated) -> str:
    """Return one row per grade with its unrounded shares."""
    rows = _worth_rows(calibrated)
    cells = [["" if value is None else repr(value) for value in row.values()] for row in rows]
    return "".join(csv_row(row) for row in [list(rows[0]), *cells])


def _worth_rows(calibrated: Calibrated) -> list[dict[str, Any]]:
    return [
        {"grade": one.grade, "pairs": one.same.n, **_bounds("same", one.same), **_bounds("relevant", one.relevant)}
        for one in calibrated.worth
    ]


def worth_chart(calibrated: Calibrated, title: str) -> Chart:
    """Draw how often people agree with each machine grade, with intervals by query."""
    axis = Axis(0.0, 1.0, NAME, WIDTH - 10, "share of pairs with the same human grade")
    foot = ROW * len(calibrated.worth) + 6
    strokes = [Stroke("".join(f"M{axis.at(tick)},0V{foot - 4}" for tick in axis.ticks()), "grid")]
    words: list[Words] = []
    for number, one in enumerate(calibrated.worth):
        y = ROW * number + ROW / 2
        words.append(Words(0, y + 4, f"grade {one.grade}"))
        if one.same.value is None:
            words.append(Words(NAME, y + 4, "never", kind="mute"))
            continue
        strokes += [*whisker(axis, one.same.low, one.same.high, y, cap=4), dot(axis.at(one.same.value), y, radius=4.5)]
    words += [Words(axis.at(tick), foot + 10, axis.written(tick), "middle", "mute") for tick in axis.ticks()]
    layers = ranges("x", "same", "same_low", "same_high", {"y": "grade"})
    plot = Plot(axis, Names("grade"), _worth_rows(calibrated), layers)
    return Chart(foot + 14, title, tuple(strokes), words=tuple(words), width=WIDTH, plot=plot)


def _bounds(name: str, share: Share) -> dict[str, float | None]:
    return {name: share.value, f"{name}_low": share.low, f"{name}_high": share.high}
