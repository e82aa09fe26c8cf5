"""Pages of query logs: the list, traffic by tier and draws of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods, require_safe

from judgments import access
from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.models import QuerySample
from judgments.templatetags.figures import number, percent
from judgments.views.lists import Column, Listing, Page, answer
from judgments.views.sent import uuid_of
from pooling import charts, drawn_queries, log_traffic
from pooling import query_logs as verbs
from pooling.forms import DrawForm
from pooling.models import QueryLog
from pooling.sampling.advice import Advice, advise, expected_worth
from pooling.sampling.draw import STRATIFIED
from pooling.sampling.tiers import TIERS, Tier
from pooling.views import tables

LOGS = Listing(
    name="query-logs",
    noun=("log", "logs"),
    columns=(
        Column(
            "name",
            "Log",
            order="name",
            head=True,
            style="clip",
            url=lambda log: reverse("query_log", args=[log.collection.slug, log.uuid]),
        ),
        Column("searches", "Searches", order="searches", numeric=True),
        Column("distinct", "Distinct queries", order="distinct", numeric=True),
        Column("first_at", "From", order="first_at", style="nowrap"),
        Column("last_at", "To", order="last_at", style="nowrap"),
        Column("format", "Read as", style="id nowrap"),
        Column("created_at", "Stored", order="created_at", style="nowrap"),
    ),
    search=("name",),
    order="-created_at",
)
SAMPLES = (
    Column("created_at", "When", style="nowrap", head=True),
    Column("method", "Drawn", show=lambda sample: "by tier" if sample.method == STRATIFIED else "by traffic"),
    Column("asked", "Sizes", value=lambda sample: _sizes(sample.parameters.get("asked", {}))),
    Column("seed", "Seed", numeric=True, show=lambda sample: str(sample.seed)),
    Column("window", "Window", value=lambda sample: _window(sample.parameters.get("window_days"))),
    Column("cuts", "Tiers end at", value=lambda sample: _cuts(sample.parameters)),
    Column("language", "Language", value=lambda sample: sample.parameters.get("language", "all")),
    Column("still", "Queries that stand for it", numeric=True, value=lambda sample: sample.still),
    Column("worth", "Worth, in queries", numeric=True, value=lambda sample: sample.advice and sample.advice.worth),
    Column(
        "detectable",
        "Difference it shows",
        numeric=True,
        value=lambda sample: sample.advice and sample.advice.detectable,
        show=lambda sample: _shown(sample.advice),
    ),
)


@dataclass(frozen=True)
class TierRow:
    """A tier, how many of its queries would be drawn, and with what chance; None where the chances differ."""

    tier: Tier
    searches_share: float | None
    queries_share: float | None
    drawn: int | None

    @property
    def probability(self) -> float | None:
        return self.drawn / self.tier.queries if self.drawn is not None and self.tier.queries else None


TIER_COLUMNS = (
    Column("tier", "Tier", head=True, value=lambda row: row.tier.name),
    Column("drawn", "To draw", numeric=True),
    Column("probability", "Chance of each", numeric=True, show=lambda row: _chance(row.probability)),
    Column("queries", "Distinct queries", numeric=True, value=lambda row: row.tier.queries),
    Column("queries_share", "of all", numeric=True, show=lambda row: percent(row.queries_share)),
    Column("searches", "Searches", numeric=True, value=lambda row: row.tier.traffic),
    Column("searches_share", "of all", numeric=True, show=lambda row: percent(row.searches_share)),
)
CURVE_COLUMNS = (
    Column("rank", "Queries", numeric=True, value=lambda point: point[0]),
    Column("share", "Share of the traffic", numeric=True, value=lambda point: point[1]),
)


@login_required
@require_safe
def log_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = QueryLog.objects.filter(collection=collection).select_related("collection")
    return answer(request, LOGS, rows, "pooling/query_logs.html", {"collection": collection, "step": "queries"})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def query_log(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS if request.method == "POST" else access.STAFF)
    rows = QueryLog.objects.select_related("collection", "created_by").filter(collection=collection)
    log = access.reach(rows, request.user, access.STAFF, uuid=uuid)
    asked = request.POST if request.method == "POST" else request.GET if "method" in request.GET else None
    form = DrawForm(asked, initial=DrawForm.DEFAULTS)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return _draw(request, log, {**_options(form.values), "token": uuid_of(request.POST.get("token", ""))})
    context = {"collection": collection, "step": "queries", "log": log, "form": form, **_plan(log, form)}
    asked_for = tables.file_of(request, context["tables"], context)
    return asked_for or render(request, "pooling/query_log.html", context, status=form.status)


def _draw(request: HttpRequest, log: QueryLog, options: dict[str, Any]) -> HttpResponse:
    """Draw what was shown; a second click on the same plan leads to the same draw."""
    if log_traffic.is_large(log):
        return redirect("job", verbs.draw_later(log, actor=request.user, **options).uuid)
    record, new = verbs.draw(log, actor=request.user, **options)
    drawn = amount(record.queries.count(), "query", "queries")
    fresh = f"; new here: {len(new):,}" if new else ""
    messages.success(request, f"Drew {drawn} with seed {record.seed}{fresh}.")
    return redirect("queries", log.collection.slug)


def _options(values: dict[str, Any]) -> dict[str, Any]:
    """The form's values as the verb takes them."""
    stratified = values["method"] == STRATIFIED
    sizes = {name: values[name] for name in ("head", "torso", "tail")}
    return {
        **{name: values[name] for name in ("method", "seed", "window_days")},
        **_frame(values),
        "sizes": sizes if stratified else None,
        "n": None if stratified else values["n"],
    }


def _frame(values: dict[str, Any]) -> dict[str, Any]:
    """Where the tiers are cut and in which language, as the verb takes it."""
    by_rank = {name: values[name] for name in ("head_ranks", "torso_ranks") if values[name]}
    cuts = by_rank or {name: values[name] for name in ("head_share", "torso_share")}
    return {**cuts, "language": values["language"].strip() or None}


def _plan(log: QueryLog, form: DrawForm) -> dict[str, Any]:
    """What the form's values would draw: the curve, the tiers, how many of each."""
    values = form.values
    frame = _frame(values)
    cuts = {name: value for name, value in frame.items() if name != "language"}
    unseen = log_traffic.is_large(log) and not log_traffic.is_usual(log, values["window_days"], frame["language"], cuts)
    try:
        asked = {} if unseen else {"window_days": values["window_days"], **frame}
        traffic = log_traffic.traffic(log, **asked)
    except NotValid as error:
        form.tell(error)
        values = DrawForm.DEFAULTS
        traffic = log_traffic.traffic(log)
    rows = _tier_rows(traffic, values)
    by_tier = tables.small("tiers", ("tier", "tiers"), TIER_COLUMNS, rows)
    curve = tables.small("curve", ("point", "points"), CURVE_COLUMNS, traffic.curve)
    samples = _samples(log)
    drawn = [row.drawn for row in rows if row.drawn is not None]
    return {
        "token": uuid4(),
        "values": {name: "" if value is None else value for name, value in values.items()},
        "traffic": traffic,
        "last": parse_datetime(traffic.last) if traffic.last else None,
        "unseen": unseen,
        "chart": charts.traffic_curve(
            traffic.curve,
            [(tier.name, tier.queries) for tier in traffic.tiers],
            _shares(traffic, tuple(log_traffic.CUTS.values()) if unseen else tuple(cuts.values())),
        ),
        "advice": None
        if unseen
        else advise(expected_worth(traffic.tiers, [row.drawn or 0 for row in rows]), values["detect"]),
        "languages": log_traffic.languages(log),
        "tiers": by_tier,
        "curve": curve,
        "samples": samples,
        "tables": (by_tier, curve, samples),
        "to_draw": sum(drawn) if drawn else min(values["n"], traffic.distinct),
        "asked": sum(values[row.tier.name] for row in rows) if drawn else values["n"],
        "short": _too_small(rows, values),
        "dropped": sorted(traffic.dropped.items()),
    }


def _shares(traffic: log_traffic.Traffic, asked: Sequence[float]) -> Sequence[float]:
    """The shares of the traffic at the cuts: those asked for, or those that the ranks come to."""
    if any(isinstance(cut, float) for cut in asked):
        return asked
    above = list(accumulate(tier.share or 0.0 for tier in traffic.tiers))
    return above[:-1]


def _tier_rows(traffic: log_traffic.Traffic, values: dict[str, Any]) -> list[TierRow]:
    stratified = values["method"] == STRATIFIED
    return [
        TierRow(
            tier,
            tier.share,
            tier.queries / traffic.distinct if traffic.distinct else None,
            min(values[tier.name], tier.queries) if stratified else None,
        )
        for tier in traffic.tiers
    ]


def _too_small(rows: list[TierRow], values: dict[str, Any]) -> str:
    """The tiers that hold fewer queries than were asked for."""
    return " and ".join(row.tier.name for row in rows if row.drawn is not None and row.drawn < values[row.tier.name])


def _samples(log: QueryLog) -> Page:
    rows = QuerySample.objects.filter(collection=log.collection, log_sha256=log.sha256)
    found: Sequence[Any] = list(rows.annotate(still=Count("queries")))
    worth = drawn_queries.worth(found)
    for sample in found:
        sample.advice = advise(worth.get(sample.pk))
    return tables.small("draws", ("draw", "draws"), SAMPLES, found)


def _chance(probability: float | None) -> str:
    return "certain" if probability == 1 else number(probability, 4)


def _sizes(asked: dict[str, int]) -> str:
    # In the order of the tiers: a database keeps JSON in an order of its own.
    return ", ".join(f"{asked[name]:,} {name}" for name in (*TIERS, "all") if asked.get(name))


def _cuts(parameters: dict[str, Any]) -> str:
    if "head_ranks" in parameters:
        return f"rank {parameters['head_ranks']:,} and {parameters['torso_ranks']:,}"
    shares = [parameters.get(name) for name in log_traffic.CUTS]
    return " and ".join(percent(share) for share in shares) if all(shares) else ""


def _shown(advice: Advice | None) -> str:
    return f"{advice.detectable:.3f} ± {advice.reach:.3f}" if advice else ""


def _window(days: int | None) -> str:
    return amount(days, "day") if days else "the whole log"
