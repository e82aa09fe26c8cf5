"""Discovery page of a round, with controls for its choice of further pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from judgments import access, growing
from judgments.core.errors import AssayError, NotFound
from judgments.models import Round
from judgments.views.lists import Column, Page
from judgments.views.rounds import frame
from pooling import discovery as verbs
from pooling import refill
from pooling.charts import PHONE
from pooling.discovery_chart import found_curve
from pooling.models import Pool, Refill
from pooling.strategies import STRATEGIES
from pooling.strategies.discovery import Found
from pooling.views import tables
from pooling.views.picture_files import picture

# Rows of the curve on the page; the file has one for every judged pair.
SHOWN = 25
CURVE = (
    Column("judged", "Pairs judged", head=True, numeric=True, value=lambda row: row[0]),
    Column("relevant", "Relevant found", numeric=True, value=lambda row: row[1]),
)
DEPTHS = (
    Column("depth", "Depth", head=True, numeric=True),
    Column("pairs", "Pairs it takes", numeric=True),
    Column("judged", "of them judged", numeric=True),
    Column("relevant", "Relevant, at least", numeric=True),
    Column("unjudged", "Nobody knows of", numeric=True),
)


@login_required
@require_safe
def round_discovery(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.STAFF)
    pool = verbs.pool_of(round_)
    context = {**frame(request, round_), "choosing": growing.told(round_), **shown(request.user, pool, [round_])}
    file = file_of(request, context, f"{round_.collection.slug} {round_} discovery")
    return file or render(request, "pooling/round_discovery.html", context)


def file_of(request: HttpRequest, context: dict[str, Any], name: str) -> Any:
    """The picture or a table as a file, if the address asks for one that the reader may see."""
    if "found" not in context:
        return None
    if request.GET.get("picture") == "found":
        return picture(context["found_chart"], name)
    return tables.file_of(request, context["found_tables"], context)


def shown(user: Any, pool: Pool | None, rounds: Sequence[Round]) -> dict[str, Any]:
    """What `_discovery.html` needs: the curve with its tables, or that it is withheld from this reader."""
    if not rounds:
        return {}
    if verbs.withheld(user, rounds):
        return {"found_withheld": True}
    found = verbs.found_in(pool, rounds)
    depths = tables.small("depths", ("depth", "depths"), DEPTHS, found.depths)
    return {
        "found": found,
        "found_same": found.same_work(),
        "found_from": verbs.relevant_from(pool) if pool else 1.0,
        "found_chart": found_curve(found, _title(pool)),
        "found_on_phone": found_curve(found, _title(pool), PHONE),
        "found_curve": _points(found, SHOWN),
        "found_depths": depths,
        "found_tables": (_points(found, found.judged), depths),
    }


def _points(found: Found, most: int) -> Page:
    """The curve as rows, at most so many, evenly spread."""
    step = max(1, -(-found.judged // max(most, 1)))
    places = sorted({*range(step, found.judged + 1, step), *([found.judged] if found.judged else [])})
    rows = [(at, found.relevant[at - 1]) for at in places]
    return tables.small("curve", ("pair", "pairs"), CURVE, rows)


def _title(pool: Pool | None) -> str:
    if pool is None:
        return "These pairs"
    return STRATEGIES[pool.strategy].title if pool.strategy in STRATEGIES else pool.strategy


@login_required
@require_POST
def round_refill(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    row = Refill.objects.filter(round=round_).first()
    act = refill.ACTS.get(request.POST.get("act", ""))
    try:
        if row is None or act is None:
            raise NotFound(f"The pairs of {round_} are fixed: nothing is chosen while it is open.")
        act(row, actor=request.user)
        said = "Choosing goes on." if act is refill.resume else "No more pairs will be chosen."
        messages.success(request, said)
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("round_progress", round_.uuid)
