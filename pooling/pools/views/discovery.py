"""Discovery page of a round, with controls for choosing additional pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.errors import NotFound
from assay.strategies import STRATEGIES
from assay.strategies.discovery_curve import DiscoveryCurve
from judgments import hooks
from judgments.charts import table_files
from judgments.charts.chart_files import picture
from judgments.charts.charts import PHONE
from judgments.models import Round
from judgments.rounds.views.rounds import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.lists import Page
from judgments.web.pages import errors_as_messages, get_page, post_action
from pooling.models import Pool, Refill
from pooling.pools import discovery, refill
from pooling.pools.discovery_chart import discovery_curve

# Maximum rows of the curve on the page; the file has one row per judged pair.
SHOWN = 25
CURVE = (
    Column("judged", "Pairs judged", head=True, numeric=True, value=lambda row: row[0]),
    Column("relevant", "Relevant", numeric=True, value=lambda row: row[1]),
)
DEPTHS = (
    Column("depth", "Depth", head=True, numeric=True),
    Column("pairs", "Pairs", numeric=True),
    Column("judged", "Judged", numeric=True),
    Column("relevant", "Relevant (lower bound)", numeric=True),
    Column("unjudged", "Unjudged", numeric=True),
)


@get_page.of_round(access.STAFF)
def round_discovery(request: HttpRequest, round_: Round) -> HttpResponse:
    pool = discovery.pool_of(round_)
    context = {**frame(request, round_), "choosing": hooks.status(round_), **shown(request.user, pool, [round_])}
    file = file_of(request, context, f"{round_.collection.slug} {round_} discovery")
    return file or render(request, "pooling/pools/round_discovery.html", context)


def file_of(request: HttpRequest, context: dict[str, Any], name: str) -> Any:
    """Return the requested chart or table as a file, if the reader may see it."""
    if "discovery" not in context:
        return None
    if request.GET.get("picture") == "found":
        return picture(context["discovery_chart"], name)
    return table_files.file_of(request, context["discovery_tables"], context)


def shown(user: Any, pool: Pool | None, rounds: Sequence[Round]) -> dict[str, Any]:
    """Return the context of `_discovery.html`: the curve with its tables, or a note that it is hidden from the
    reader."""
    if not rounds:
        return {}
    if discovery.is_hidden_from(user, rounds):
        return {"discovery_withheld": True}
    curve = discovery.discovery_of(pool, rounds)
    depths = table_files.small("depths", ("depth", "depths"), DEPTHS, curve.depths)
    return {
        "discovery": curve,
        "discovery_same": curve.same_work(),
        "discovery_from": discovery.relevant_from(pool) if pool else 1.0,
        "discovery_chart": discovery_curve(curve, _title(pool)),
        "discovery_on_phone": discovery_curve(curve, _title(pool), PHONE),
        "discovery_curve": _points(curve, SHOWN),
        "discovery_depths": depths,
        "discovery_tables": (_points(curve, curve.judged), depths),
    }


def _points(curve: DiscoveryCurve, most: int) -> Page:
    """Return the curve as at most this many evenly spaced rows."""
    step = max(1, -(-curve.judged // max(most, 1)))
    places = sorted({*range(step, curve.judged + 1, step), *([curve.judged] if curve.judged else [])})
    rows = [(at, curve.relevant[at - 1]) for at in places]
    return table_files.small("curve", ("pair", "pairs"), CURVE, rows)


def _title(pool: Pool | None) -> str:
    if pool is None:
        return "These pairs"
    return STRATEGIES[pool.strategy].title if pool.strategy in STRATEGIES else pool.strategy


@post_action.of_round(access.LEADS)
def round_refill(request: HttpRequest, round_: Round) -> HttpResponse:
    row = Refill.objects.filter(round=round_).first()
    act = refill.ACTS.get(request.POST.get("act", ""))
    with errors_as_messages(request):
        if row is None or act is None:
            raise NotFound(f"The pairs of {round_} are fixed. Assay adds no pairs while it is open.")
        act(row, actor=request.user)
        message = (
            "Pair selection resumed."
            if act is refill.resume
            else "Pair selection stopped. No more pairs will be added."
        )
        messages.success(request, message)
    return redirect("round_progress", round_.uuid)
