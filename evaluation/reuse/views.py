"""Reusability page: how reliable a collection is for a system that did not contribute to its pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from evaluation.reuse import reuse as reusability
from evaluation.scoring import leaderboard
from evaluation.scoring.metric_values import signed
from evaluation.scoring.scoring import relevant_from
from judgments.charts.charts import FORMS, PHONE, Chart, Stroke, Words, picture, short_name, whole_ticks
from judgments.charts.intervals import dot, levels, line_of
from judgments.charts.plots import Axis, Layer, Plot, ranges
from judgments.models import Collection, Snapshot
from judgments.snapshots import snapshots
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import json_file
from judgments.web.figures import percent
from judgments.web.lists import Listing, answer
from judgments.web.pages import get_page

if TYPE_CHECKING:
    from assay.estimators.discovery_curve import Discovery
    from assay.estimators.left_out_systems import LeftOut
    from assay.estimators.residual_sample import Missed
    from assay.estimators.reusability import Reuse

LEFT_OUT = Listing(
    name="left-out",
    noun=("run left out", "runs left out"),
    columns=(
        Column("run", "Run", order="run", head=True, style="name"),
        Column("group", "Left out with", order="group"),
        Column("contributed", "Pairs", order="contributed", numeric=True),
        Column("unique", "Unique pairs", order="unique", numeric=True),
        Column("unique_relevant", "Unique relevant pairs", order="unique_relevant", numeric=True),
        Column("score", "Score", order="score", numeric=True, digits=4),
        Column("score_without", "Score without the run", order="score_without", numeric=True, digits=4),
        Column("change", "Score change", order="change", numeric=True, show=lambda row: signed(row["change"], 4)),
        Column("rank", "Rank", order="rank", numeric=True),
        Column("rank_without", "Rank without the run", order="rank_without", numeric=True),
        Column("judged", "Judged@10", order="judged", numeric=True, show=lambda row: percent(row["judged"])),
        Column(
            "judged_without",
            "Judged@10 without the run",
            order="judged_without",
            numeric=True,
            show=lambda row: percent(row["judged_without"]),
        ),
        Column("tau", "Tau", order="tau", numeric=True, show=lambda row: _tau(row["tau"]) or ""),
    ),
    order="change",
    search=("run", "group"),
)
# The table on the page has this many depths of the curve; the file has all of them.
SHOWN_DEPTHS = (1, 2, 3, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)
# A run whose first ten have a lower judged share is marked.
LEAST_JUDGED = 0.8


@get_page
def reuse(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    if snapshot is None:
        return render(request, "evaluation/reuse/reuse_empty.html", {"collection": collection, "step": "scores"})
    context = _requested_settings(request, collection, snapshot)
    try:
        withheld = context["withheld"]
        together = reusability.requested_names(collection, request.GET.getlist("together"))
        grade = context["relevant_from"]
        how: dict[str, Any] = {"together": together, "relevant_from": grade, "withheld": withheld}
        result = reusability.look(snapshot, context["metric"], **how)
    except NotValid as error:
        return render(request, "evaluation/reuse/reuse_empty.html", context | {"error": error})
    given = {"snapshot": str(snapshot.uuid), "metric": context["metric"], "relevant": str(grade)}
    context["together_runs"] = [run for run in context["runs"] if run.name in together]
    given |= {"together": ",".join(str(run.uuid) for run in context["together_runs"])}
    context |= _result_context(result, together, {key: value for key, value in given.items() if value})
    if file := _file_of(request, snapshot, result, len(withheld)):
        return file
    return answer(
        request, replace(LEFT_OUT, given=context["given"]), _rows(result), "evaluation/reuse/reuse.html", context
    )


def _requested_settings(request: HttpRequest, collection: Collection, snapshot: Snapshot) -> dict[str, Any]:
    """Return the options in the URL; invalid ones are ignored."""
    metrics, grades = reusability.metrics_of(snapshot), reusability.grades_of(snapshot)
    metric, relevant = request.GET.get("metric", ""), request.GET.get("relevant", "")
    runs = list(collection.runs.defer("report", "health"))
    had = reusability.contributors(snapshot, runs)
    threshold = relevant_from(snapshot)
    usual = threshold if threshold in grades else next(iter(grades), 1)
    return {
        "collection": collection,
        "step": "scores",
        "snapshot": snapshot,
        "snapshots": list(collection.snapshots(manager="of_documents").defer("manifest")),
        "metrics": metrics,
        "metric": metric if metric in metrics else next(iter(metrics), leaderboard.HEADLINE),
        "grades": grades,
        "relevant_from": next((grade for grade in grades if str(grade) == relevant), usual),
        "runs": runs,
        "had": had,
        "withheld": snapshots.withheld_queries(request.user, snapshot),
    }


def _result_context(result: Reuse, together: list[str], given: dict[str, str]) -> dict[str, Any]:
    """Return the result in the formats that the page shows."""
    every = [*result.left_out, *result.groups]
    steps = result.curve.steps()
    return {
        "result": result,
        "missed": result.missed,
        "together": together,
        "given": given,
        "address": urlencode(given),
        "worst": _worst(every),
        "lowest_tau": _tau(min((one.tau for one in every if one.tau is not None), default=None)),
        "undefined": [one for one in every if one.reason],
        "chart": discovery_curve(result.curve, result.missed) if steps else None,
        "on_phone": discovery_curve(result.curve, result.missed, PHONE) if steps else None,
        "steps": [step for step in steps if step["depth"] in SHOWN_DEPTHS or step is steps[-1]],
        "cutoffs": [f"Judged@{k}" for k in next(iter(result.judged.values()), {})],
        "judged": [
            (name, name in result.contributors, list(of.values())) for name, of in sorted(result.judged.items())
        ],
        "little_judged": [name for name, of in sorted(result.judged.items()) if (of[10] or 0.0) < LEAST_JUDGED],
    }


def _tau(value: float | None) -> str | None:
    """Format a value with a true minus and no plus, because it is not a difference."""
    return None if value is None else f"{value:.3f}".replace("-", "−")


def _worst(every: list[LeftOut]) -> LeftOut | None:
    """Return the left-out group whose runs lose most."""
    known = [one for one in every if one.worst is not None]
    return min(known, key=lambda one: (one.worst or 0.0, -(one.ranks_lost or 0)), default=None)


def _rows(result: Reuse) -> list[dict[str, Any]]:
    """Return one row per left-out run, alone or in a group."""
    rows = []
    for one in (*result.left_out, *result.groups):
        counts = {"contributed": one.contributed, "unique": one.unique, "unique_relevant": one.unique_relevant}
        for hurt in one.runs:
            group = f"{short_name(one.name, 24)}, {amount(len(one.runs), 'run')}" if len(one.runs) > 1 else "alone"
            rows.append({**vars(hurt), **counts, "change": hurt.change, "group": group, "tau": one.tau})
    return rows


def _file_of(request: HttpRequest, snapshot: Snapshot, result: Reuse, left_out: int) -> HttpResponse | None:
    """Return the chart or the API response as a file, if requested."""
    collection, wanted = snapshot.collection, request.GET.get("format", "")
    if wanted in FORMS:
        return picture(discovery_curve(result.curve, result.missed), f"{collection.slug} {snapshot} discovery", wanted)
    if wanted != "json":
        return None
    content = snapshots.redacted_for(request.user, collection, reusability.as_json(snapshot, result, left_out))
    return json_file(slugify(f"{collection.slug} {snapshot} reuse"), content)


WIDE, HIGH = 900.0, 300.0
LEFT, TOP, BOTTOM = 64.0, 28.0, 44.0
# Depths that are labeled along the curve if there is room.
NAMED = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
ROOM = 56.0


def discovery_curve(curve: Discovery, missed: Missed, width: float = WIDE) -> Chart:
    """Draw relevant documents found over documents pooled, by depth, with the estimated total."""
    steps = curve.steps()
    pooled, judged_relevant = steps[-1]["pooled"], steps[-1]["relevant"]
    top = max(judged_relevant, 1, judged_relevant + (missed.high or 0.0))
    ticks = whole_ticks(top)
    right = width - (28.0 if width <= PHONE else 150.0)
    x = Axis(0, max(pooled, 1), LEFT, right, "documents returned down to this rank")
    y = Axis(0, max(top, ticks[-1]), HIGH - BOTTOM, TOP, "relevant documents")
    rows = [{"depth": 0, "pooled": 0, "judged": 0, "relevant": 0}, *steps]
    strokes, words = levels(y, LEFT, right, ticks)
    # The depth down to which everything is judged, if deeper ranks follow.
    cut = steps[curve.whole - 1 : curve.whole] if 0 < curve.whole < curve.depth else []
    strokes += [Stroke(f"M{x.at(step['pooled'])},{TOP}V{HIGH - BOTTOM}", "cut") for step in cut]
    found = {"x": "pooled", "y": "relevant"}
    # Below the completely judged ranks a flat line means nothing, so it is drawn in a muted style.
    lines = [
        Layer("line", found, "completely judged", "here-line", rows[: curve.whole + 1]),
        Layer("line", found, "partly judged", "axis", rows[curve.whole :]),
    ]
    lines = [line for line in lines if len(line.rows or ()) > 1]
    strokes += [line_of(x, y, line) for line in reversed(lines)]
    strokes.append(dot(x.at(pooled), y.at(judged_relevant), "here"))
    words += _depths(steps, x)
    words.append(Words(LEFT, HIGH - 6, x.title, kind="mute"))
    words += _ends(strokes, missed, judged_relevant, y, right, beside=width > PHONE)
    layers = [*lines, Layer("rule", {"x": "pooled"}, kind="cut", rows=cut), Layer("point", found, rows=steps[-1:])]
    if missed.value is not None and missed.unjudged:
        total = {"pooled": pooled, "total": judged_relevant + missed.value}
        total |= {"low": judged_relevant + (missed.low or 0.0), "high": judged_relevant + (missed.high or 0.0)}
        layers += ranges("y", "total", "low", "high", {"x": "pooled"}, [total])
    label = (
        f"{judged_relevant:,} relevant in {amount(steps[-1]['judged'], 'judged pair')} "
        f"of {pooled:,} returned by the runs, by depth"
    )
    return Chart(HIGH, label, tuple(strokes), words=tuple(words), width=width, plot=Plot(x, y, layers=layers))


def _depths(steps: Sequence[dict[str, int]], x: Axis) -> list[Words]:
    words: list[Words] = []
    last = -ROOM
    for step in steps:
        at = x.at(step["pooled"])
        if step["depth"] in NAMED and at - last >= ROOM:
            words.append(Words(at, HIGH - BOTTOM + 16, f"rank {step['depth']:,}", "middle", "mute"))
            last = at
    return words


def _ends(strokes: list[Stroke], missed: Missed, relevant: int, y: Axis, right: float, *, beside: bool) -> list[Words]:
    """Write at the right how many were found, and the interval of the estimated total."""

    def words_at(height: float, text: str, kind: str = "") -> Words:
        if beside:
            return Words(right + 26, height + 4, text, kind=kind)
        return Words(right + 4, height - 8, text, "end", kind)

    words = [words_at(y.at(relevant), f"{relevant:,} found")]
    if missed.value is None or missed.low is None or missed.high is None or not missed.unjudged:
        return words
    at = right + 14
    low, middle, high = (y.at(relevant + value) for value in (missed.low, missed.value, missed.high))
    strokes += [Stroke(f"M{at},{low}V{high}", "axis"), dot(at, middle, "mark")]
    if y.at(relevant) - middle > 16:
        words.append(words_at(middle, f"about {relevant + missed.value:,.0f} in total", "mute"))
    return words
