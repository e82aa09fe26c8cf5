"""The scorecards of a sample set: metrics with intervals, slices, settings, and the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import Truncator

from assay.coefficients.gate import reason_in_words
from assay.core.text_rules import amount
from assay.estimators.prediction_powered import REASONS
from assay.rag.human_grades import Corrected
from evaluation.models import RagSampleSet, RagScorecard, RagSystem
from evaluation.rag import people, scorecards, systems
from evaluation.rag.forms import SettingsForm
from evaluation.rag.sample_sets import sample_set_of
from evaluation.scoring import metric_values
from judgments.agreement import round_report
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.models import Round
from judgments.web import access
from judgments.web.figures import number
from judgments.web.pages import get_page, post_action

# A page shows more systems than this only if its URL names them.
MOST_SYSTEMS = 6


@dataclass(frozen=True)
class Cell:
    """One metric of one system on the scorecard."""

    value: str
    low: str = ""
    high: str = ""
    number: int | None = None
    reason: str = ""
    interval_reason: str = ""
    words: str = ""
    sign: str = ""
    p: str = ""


@dataclass(frozen=True)
class Row:
    """One metric on the scorecard."""

    label: str
    title: str
    cells: list[Cell]
    higher_is_better: bool | None
    critic: str = ""


@dataclass(frozen=True)
class Beside:
    """A metric compared with human grades: agreement, and one cell per system."""

    of: people.Compared
    agreement: list[tuple[str, Cell]]
    bias: str
    pairs: int
    cells: list[tuple[Cell, Cell, Cell]]
    worth: list[tuple[int, Cell]]


@get_page
def sample_set(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Show the scorecards of the systems of a sample set."""
    row = sample_set_of(request, slug, uuid)
    cards, settings = scorecards.cards_of(row, request.user), scorecards.settings_of(row)
    systems = list(row.systems.active().select_related("created_by"))
    for one in systems:
        one.has_card = any(card.system_id == one.pk for card in cards)
    shown = _shown_cards(cards, request.GET.getlist("system"))
    graded = people.graded(row, request.user)
    with_values = scorecards.cards_of(row, request.user, per_sample=True) if any(one.means for one in graded) else []
    slices = [label for label in row.labels if any(label in card.slices for card in shown)]
    context = {
        "collection": row.collection,
        "sample_set": row,
        "systems": systems,
        "several": len(systems) > 1,
        "described": any(system.description for system in systems),
        "cards": shown,
        "names": [Truncator(card.system.name).chars(40) for card in shown],
        "hidden": len(cards) - len(shown),
        # Notes name their system; identical notes are shown once.
        "notes": list(dict.fromkeys(note for card in shown for note in [*card.notes, *_unfinished_critics(card)])),
        "parts": [(part, _rows(row, shown, labels)) for part, labels in scorecards.parts_of(shown).items()],
        "baseline": next((card.system for card in shown if card.system.baseline), None),
        "settings": settings,
        "job": scorecards.job_of(row),
        "critic": settings.critic,
        "critic_hidden": settings.critic is not None and scorecards.hides_critics(row, request.user),
        "waiting": any(not one.has_card for one in systems),
        "slices": slices,
        "form": SettingsForm(row),
        "graded": [
            (one, _agreement(one.round, request.user), [_mean_grade(one, card.system) for card in shown])
            for one in graded
        ],
        "beside": [_beside(one, shown) for one in people.comparisons(row, with_values, request.user)],
        **_slice(request, shown, slices),
    }
    return render(request, "evaluation/rag/set.html", context)


def _beside(of: people.Compared, shown: Sequence[RagScorecard]) -> Beside:
    calibration = of.result.calibration
    coefficients = {"quadratic kappa": calibration.kappa["quadratic"], "ordinal alpha": calibration.alpha["ordinal"]}
    systems = {one.system: one for one in of.result.systems}
    return Beside(
        of,
        [(name, _number(one.value, one.low, one.high, one.n, one.reason)) for name, one in coefficients.items()],
        "" if calibration.bias is None else metric_values.signed(calibration.bias),
        calibration.pairs,
        [_means_of(systems[card.system.name]) for card in shown],
        [(one.grade, _number(one.same.value, one.same.low, one.same.high, one.same.n)) for one in calibration.worth],
    )


def _number(value: float | None, low: float | None, high: float | None, n: int, reason: str | None = None) -> Cell:
    if value is None:
        return Cell("", number=n, reason=reason or "")
    return Cell(number(value), in_units(low, ""), in_units(high, ""), n)


def _means_of(one: Corrected) -> tuple[Cell, Cell, Cell]:
    """Return the human mean, the metric's mean, and the corrected mean of one system."""
    metric = _number(one.metric_mean, None, None, one.with_metric)
    if one.estimate is None:
        return Cell("", reason=one.reason or ""), metric, Cell("", reason=one.reason or "")
    alone, estimate = one.estimate.human_only, one.estimate
    why = REASONS.get(estimate.reason or "", estimate.reason or "")
    people_mean = (
        Cell("", reason=why) if alone is None else _number(alone.mean, alone.low, alone.high, estimate.queries)
    )
    return (
        people_mean,
        metric,
        _number(estimate.estimate, estimate.low, estimate.high, estimate.queries + estimate.others, why),
    )


def _unfinished_critics(card: RagScorecard) -> list[str]:
    """Note the metrics whose means cover only some of the answers because the critic stopped."""
    return [
        f"{card.system}: {label} leaves out {amount(count, 'sample')}, because the critic did not answer"
        for label, score in card.metrics.items()
        if (count := score["details"]["skipped"].get("critic_not_asked")) and score["details"]["defined"]
    ]


def _shown_cards(cards: Sequence[RagScorecard], wanted: Sequence[str]) -> list[RagScorecard]:
    """Return the systems in the URL, or else the first ones; the baseline always comes first."""
    chosen = [card for card in cards if str(card.system.uuid) in wanted or (wanted and card.system.baseline)]
    return (chosen or list(cards))[:MOST_SYSTEMS]


def _rows(row: RagSampleSet, cards: Sequence[RagScorecard], labels: Sequence[str]) -> list[Row]:
    rows = []
    baseline = next((card.system for card in cards if card.system.baseline), None)
    for label in labels:
        about = next(card.about[label] for card in cards if label in card.about)
        better = about["higher_is_better"]
        cells = []
        for card in cards:
            against = None
            if baseline is not None and card.system_id != baseline.pk:
                against = scorecards.comparison(row, baseline, card.system, label)
            cells.append(_cell(card.metrics.get(label), about["target"], against, better))
        rows.append(Row(label, about["title"], cells, better, scorecards.critic_words(about)))
    return rows


def _cell(
    score: Mapping[str, Any] | None, target: str, against: Mapping[str, Any] | None = None, better: bool | None = True
) -> Cell:
    if score is None:
        return Cell("", reason="not computed")
    details = score["details"]
    if not details["defined"]:
        return Cell("", number=details["num_samples"], reason=details["reason"] or "")
    words = scorecards.in_words(against, better) if against is not None else ""
    p = None if against is None else against["p"] if against["p_corrected"] is None else against["p_corrected"]
    return Cell(
        in_units(score["value"], target),
        in_units(score["low"], target),
        in_units(score["high"], target),
        details["num_samples"],
        interval_reason=score.get("interval_reason") or "",
        words=words,
        sign=words if words in ("better", "worse") else "",
        p="" if p is None else metric_values.chance(p),
    )


def in_units(value: float | None, target: str) -> str:
    """Format a value for a page: seconds with a unit, anything else with three decimals."""
    if value is None:
        return ""
    if target != "latency":
        return number(float(value))
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:,.2f} s"


def _slice(request: HttpRequest, cards: Sequence[RagScorecard], slices: Sequence[str]) -> dict[str, Any]:
    """Return the table of one metric by the values of one label."""
    if not slices:
        return {}
    label = request.GET.get("slice", "")
    label = label if label in slices else slices[0]
    metrics = list(dict.fromkeys(one for labels in scorecards.parts_of(cards).values() for one in labels))
    metric = chosen_metric(request.GET.get("metric", ""), metrics)
    target = next((card.about[metric]["target"] for card in cards if metric in card.about), "")
    values = dict.fromkeys(value for card in cards for value in card.slices.get(label, {}))
    rows = [
        (value or "(none)", [_cell(card.slices.get(label, {}).get(value, {}).get(metric), target) for card in cards])
        for value in values
    ]
    return {"slice": label, "slice_metric": metric, "slice_metrics": metrics, "slice_rows": rows}


def chosen_metric(wanted: str, metrics: Sequence[str]) -> str:
    if wanted in metrics:
        return wanted
    return next((one for one in ("TokenF1", "RecallAtK(k=10)") if one in metrics), next(iter(metrics), ""))


@post_action
def score(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Choose metrics and slices, and score the systems of a set."""
    row = sample_set_of(request, slug, uuid)
    form = SettingsForm(row, request.POST)
    if form.is_valid():
        with form.telling():
            job = scorecards.change(
                row,
                metrics=form.cleaned_data["metrics"].split("\n") if form.cleaned_data["metrics"].strip() else [],
                slices=form.cleaned_data.get("slices", []),
                actor=request.user,  # type: ignore[arg-type]
            )
            return redirect("job", job.uuid)
    context = {"collection": row.collection, "sample_set": row, "form": form}
    return render(request, "evaluation/rag/settings.html", context, status=form.status)


def _mean_grade(of: people.Graded, system: RagSystem) -> Cell:
    """Return the mean human grade of one system's answers."""
    mean = of.means.get(str(system.uuid))
    if mean is None or mean.value is None:
        return Cell("", reason=of.hidden or "no grades")
    return Cell(number(mean.value), number(mean.low), number(mean.high), mean.number)


def _agreement(round_: Round, reader: Any) -> Cell:
    """Return Krippendorff's alpha of the raters if the reader may see it."""
    if round_.state != Round.State.CLOSED:
        return Cell("", reason="shown after the round is closed")
    alpha = AgreementSummary(round_, round_report.look(round_), reader).agreement["alpha"]["ordinal"]
    if alpha["value"] is None:
        return Cell("", reason=f"not defined: {reason_in_words(alpha['reason'])}")
    return Cell(number(alpha["value"]), number(alpha["low"]), number(alpha["high"]), alpha["n"])


@post_action
def make_baseline(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Make a system the baseline of its set."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    system = systems.system_for(request.user, collection, uuid)
    systems.set_baseline(system, actor=request.user)  # type: ignore[arg-type]
    messages.success(request, f"{system} is now the baseline of {system.sample_set}.")
    return redirect("rag_set", slug, system.sample_set.uuid)
