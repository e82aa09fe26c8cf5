"""Pages of query logs: the list, traffic by tier and draws of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from uuid import uuid4

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_datetime

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.sampling.draw import STRATIFIED
from assay.sampling.sample import Advice, advise, expected_worth
from assay.sampling.tiers import TIERS, Tier
from judgments.charts import charts
from judgments.models import Collection, QuerySample
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import number, percent
from judgments.web.lists import Listing, Page, answer, requested_table, small_table
from judgments.web.pages import finish, form_page, get_page
from judgments.web.posted_values import uuid_of
from pooling.logs import drawn_queries, query_logs, traffic
from pooling.logs.forms import DrawForm
from pooling.models import QueryLog

LOGS = Listing(
    name="query-logs",
    noun=("log", "logs"),
    columns=(
        Column("name", "Log", order="name", head=True, style="clip", url=("query_log", "collection.slug", "uuid")),
        Column("searches", "Searches", order="searches", numeric=True),
        Column("distinct", "Distinct queries", order="distinct", numeric=True),
        Column("first_at", "First search", order="first_at", style="nowrap"),
        Column("last_at", "Last search", order="last_at", style="nowrap"),
        Column("format", "Format", style="id nowrap"),
        Column("created_at", "Stored", order="created_at", style="nowrap"),
    ),
    search=("name",),
    order="-created_at",
)
SAMPLES = (
    Column("created_at", "Drawn at", style="nowrap", head=True),
    Column("method", "Method", show=lambda sample: "by tier" if sample.method == STRATIFIED else "by traffic"),
    Column("asked", "Sizes", value=lambda sample: _sizes(sample.parameters.get("asked", {}))),
    Column("seed", "Seed", numeric=True, show=lambda sample: str(sample.seed)),
    Column("window", "Window", value=lambda sample: _window(sample.parameters.get("window_days"))),
    Column("cuts", "Tiers end at", value=lambda sample: _cuts(sample.parameters)),
    Column("language", "Language", value=lambda sample: sample.parameters.get("language", "all")),
    Column("still", "Queries still in the draw", numeric=True, value="still"),
    Column("worth", "Effective size", numeric=True, value=lambda sample: sample.advice and sample.advice.worth),
    Column(
        "detectable",
        "Detectable difference",
        numeric=True,
        value=lambda sample: sample.advice and sample.advice.detectable,
        show=lambda sample: _shown(sample.advice),
    ),
)


@dataclass(frozen=True)
class TierRow:
    """A tier, the number of its queries to draw, and their probability; None if probabilities differ."""

    tier: Tier
    searches_share: float | None
    queries_share: float | None
    drawn: int | None

    @property
    def probability(self) -> float | None:
        return self.drawn / self.tier.queries if self.drawn is not None and self.tier.queries else None


TIER_COLUMNS = (
    Column("tier", "Tier", head=True, value="tier.name"),
    Column("drawn", "To draw", numeric=True),
    Column("probability", "Probability per query", numeric=True, show=lambda row: _chance(row.probability)),
    Column("queries", "Distinct queries", numeric=True, value="tier.queries"),
    Column("queries_share", "Share of queries", numeric=True, show=lambda row: percent(row.queries_share)),
    Column("searches", "Searches", numeric=True, value="tier.traffic"),
    Column("searches_share", "Share of searches", numeric=True, show=lambda row: percent(row.searches_share)),
)
CURVE_COLUMNS = (
    Column("rank", "Queries", numeric=True, value=lambda point: point[0]),
    Column("share", "Share of the traffic", numeric=True, value=lambda point: point[1]),
)


@get_page.of_collection(access.STAFF)
def log_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = QueryLog.objects.filter(collection=collection).select_related("collection")
    return answer(request, LOGS, rows, "pooling/logs/query_logs.html", {"collection": collection, "step": "queries"})


@form_page
def query_log(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS if request.method == "POST" else access.STAFF)
    rows = QueryLog.objects.select_related("collection", "created_by").filter(collection=collection)
    log = access.reach(rows, request.user, access.STAFF, uuid=uuid)
    data = request.POST if request.method == "POST" else request.GET if "method" in request.GET else None
    form = DrawForm(data, initial=DrawForm.DEFAULTS)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return _draw(request, log, {**_options(form.values), "token": uuid_of(request.POST.get("token", ""))})
    context = {"collection": collection, "step": "queries", "log": log, "form": form, **_plan(log, form)}
    file = requested_table(request, context["tables"], context)
    return file or render(request, "pooling/logs/query_log.html", context, status=form.status)


def _draw(request: HttpRequest, log: QueryLog, options: dict[str, Any]) -> HttpResponse:
    """Draw the shown plan; a second click on the same plan returns the same draw."""
    if traffic.is_large(log):
        return redirect("job", query_logs.draw_later(log, actor=request.user, **options).uuid)
    record, new = query_logs.draw(log, actor=request.user, **options)
    drawn = amount(record.queries.count(), "query", "queries")
    fresh = f", {len(new):,} of them new" if new else ""
    return finish(request, f"{drawn} drawn with seed {record.seed}{fresh}.", "queries", log.collection.slug)


def _options(values: dict[str, Any]) -> dict[str, Any]:
    """Return the form's values as arguments of the draw."""
    stratified = values["method"] == STRATIFIED
    sizes = {name: values[name] for name in ("head", "torso", "tail")}
    return {
        **{name: values[name] for name in ("method", "seed", "window_days")},
        **_frame(values),
        "sizes": sizes if stratified else None,
        "n": None if stratified else values["n"],
    }


def _frame(values: dict[str, Any]) -> dict[str, Any]:
    """Return the tier cuts and the language as arguments of the draw."""
    by_rank = {name: values[name] for name in ("head_ranks", "torso_ranks") if values[name]}
    cuts = by_rank or {name: values[name] for name in ("head_share", "torso_share")}
    return {**cuts, "language": values["language"].strip() or None}


def _plan(log: QueryLog, form: DrawForm) -> dict[str, Any]:
    """Return the plan for the form's values: the curve, the tiers, and the number of queries of each tier."""
    values = form.values
    frame = _frame(values)
    cuts = {name: value for name, value in frame.items() if name != "language"}
    unseen = traffic.is_large(log) and not traffic.is_usual(log, values["window_days"], frame["language"], cuts)
    try:
        scope = {} if unseen else {"window_days": values["window_days"], **frame}
        log_figures = traffic.traffic(log, **scope)
    except NotValid as error:
        form.tell(error)
        values = DrawForm.DEFAULTS
        log_figures = traffic.traffic(log)
    rows = _tier_rows(log_figures, values)
    by_tier = small_table("tiers", ("tier", "tiers"), TIER_COLUMNS, rows)
    curve = small_table("curve", ("point", "points"), CURVE_COLUMNS, log_figures.curve)
    samples = _samples(log)
    drawn = [row.drawn for row in rows if row.drawn is not None]
    return {
        "token": uuid4(),
        "values": {name: "" if value is None else value for name, value in values.items()},
        "traffic": log_figures,
        "last": parse_datetime(log_figures.last) if log_figures.last else None,
        "unseen": unseen,
        "chart": charts.traffic_curve(
            log_figures.curve,
            [(tier.name, tier.queries) for tier in log_figures.tiers],
            _shares(log_figures, tuple(traffic.CUTS.values()) if unseen else tuple(cuts.values())),
        ),
        "advice": None
        if unseen
        else advise(expected_worth(log_figures.tiers, [row.drawn or 0 for row in rows]), values["detect"]),
        "languages": traffic.languages(log),
        "tiers": by_tier,
        "curve": curve,
        "samples": samples,
        "tables": (by_tier, curve, samples),
        "to_draw": sum(drawn) if drawn else min(values["n"], log_figures.distinct),
        "requested": sum(values[row.tier.name] for row in rows) if drawn else values["n"],
        "short": _too_small(rows, values),
        "dropped": sorted(log_figures.dropped.items()),
    }


def _shares(log_figures: traffic.Traffic, cuts: Sequence[float]) -> Sequence[float]:
    """Return the shares of the traffic at the tier boundaries, as requested or at the requested ranks."""
    if any(isinstance(cut, float) for cut in cuts):
        return cuts
    above = list(accumulate(tier.share or 0.0 for tier in log_figures.tiers))
    return above[:-1]


def _tier_rows(log_figures: traffic.Traffic, values: dict[str, Any]) -> list[TierRow]:
    stratified = values["method"] == STRATIFIED
    return [
        TierRow(
            tier,
            tier.share,
            tier.queries / log_figures.distinct if log_figures.distinct else None,
            min(values[tier.name], tier.queries) if stratified else None,
        )
        for tier in log_figures.tiers
    ]


def _too_small(rows: list[TierRow], values: dict[str, Any]) -> str:
    """Return the tiers with fewer queries than requested, as text."""
    return " and ".join(row.tier.name for row in rows if row.drawn is not None and row.drawn < values[row.tier.name])


def _samples(log: QueryLog) -> Page:
    rows = QuerySample.objects.filter(collection=log.collection, log_sha256=log.sha256)
    draws: Sequence[Any] = list(rows.annotate(still=Count("queries")))
    worth = drawn_queries.worth(draws)
    for sample in draws:
        sample.advice = advise(worth.get(sample.pk))
    return small_table("draws", ("draw", "draws"), SAMPLES, draws)


def _chance(probability: float | None) -> str:
    return "certain" if probability == 1 else number(probability, 4)


def _sizes(sizes: dict[str, int]) -> str:
    # In the order of the tiers, because databases do not preserve the order of JSON keys.
    return ", ".join(f"{sizes[name]:,} {name}" for name in (*TIERS, "all") if sizes.get(name))


def _cuts(parameters: dict[str, Any]) -> str:
    if "head_ranks" in parameters:
        return f"rank {parameters['head_ranks']:,} and {parameters['torso_ranks']:,}"
    shares = [parameters.get(name) for name in traffic.CUTS]
    return " and ".join(percent(share) for share in shares) if all(shares) else ""


def _shown(advice: Advice | None) -> str:
    return f"{advice.detectable:.3f} ± {advice.reach:.3f}" if advice else ""


def _window(days: int | None) -> str:
    return amount(days, "day") if days else "the whole log"
