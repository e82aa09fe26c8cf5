"""Discovery page of a round, with controls for choosing additional pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.errors import NotFound
from assay.core.text_rules import amount
from assay.strategies import STRATEGIES
from assay.strategies.discovery_curve import DiscoveryCurve
from judgments import hooks
from judgments.charts.charts import PHONE, Bar, Chart, Words, picture, whole_ticks
from judgments.charts.intervals import levels, line_of
from judgments.charts.plots import Axis, Layer, Plot
from judgments.models import Round
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.lists import Page, requested_table, small_table
from judgments.web.pages import errors_as_messages, get_page, post_action
from pooling.models import Pool, Refill
from pooling.pools import discovery, refill

if TYPE_CHECKING:
    from assay.strategies.discovery_curve import Depth, DiscoveryCurve

WIDE, HIGH = 900.0, 320.0
LEFT, BOTTOM = 56.0, 44.0
# The approximate width of a letter.
LETTER = 6.2
BESIDE = "depth k of the same runs, lower bound"
# More points than pixels would only increase the file size.
MOST_POINTS = 300


def discovery_curve(curve: DiscoveryCurve, strategy: str, width: float = WIDE) -> Chart:
    """Draw relevant documents over judged pairs, with a lower bound for depth-k pooling of the same runs."""
    depths = [one for one in curve.depths if one.pairs <= max(curve.judged, 1)]
    beyond = next((one for one in curve.depths if one.pairs > curve.judged), None)
    judged, narrow = max(curve.judged, 1), width <= PHONE
    right, above = width - (16.0 if narrow else 150.0), 62.0 if narrow else 30.0
    ticks = whole_ticks(max(curve.total, 1))
    x = Axis(0, judged, LEFT, right, "pairs judged, in judging order")
    y = Axis(0, max(curve.total, ticks[-1], 1), HIGH - BOTTOM, above, "relevant documents")
    rows = [{"judged": 0, "relevant": 0}]
    rows += [{"judged": at, "relevant": curve.relevant[at - 1]} for at in _thinned(curve.judged)]
    layers = [Layer("line", {"x": "judged", "y": "relevant"}, strategy, "here-line", rows)]
    strokes, words = levels(y, LEFT, right, ticks)
    if depths:
        steps = [{"pairs": 0, "relevant": 0}, *(vars(one) for one in depths)]
        # If the next depth is beyond the edge, the line continues to the edge in its direction.
        if beyond is not None and depths[-1].pairs < judged:
            share = (judged - depths[-1].pairs) / (beyond.pairs - depths[-1].pairs)
            edge = depths[-1].relevant + share * (beyond.relevant - depths[-1].relevant)
            steps.append({"pairs": judged, "relevant": edge})
        layers.append(Layer("line", {"x": "pairs", "y": "relevant"}, BESIDE, "line", steps))
    strokes += [line_of(x, y, layer) for layer in reversed(layers)]
    words += [Words(x.at(at), HIGH - BOTTOM + 18, f"{at:,}", "middle", "mute") for at in whole_ticks(judged)[1:]]
    words.append(Words(LEFT, HIGH - 6, x.title, kind="mute"))
    words.append(_end(right, y.at(curve.total), f"{curve.total:,} relevant", narrow))
    last = depths[-1] if depths else None
    if last and not narrow:
        # Below the corner of its own line, because the next line belongs to the next depth.
        at = (x.at(last.pairs) + 10, y.at(last.relevant) + 20)
        words.append(Words(*at, f"depth {last.depth}: {last.relevant:,}+", kind="mute"))
    bars, legend = _legend(strategy, last, narrow)
    label = f"{curve.total:,} relevant among {amount(curve.judged, 'judged pair')}, in judging order"
    if depths:
        label += f"; depth {depths[-1].depth} has at least {depths[-1].relevant:,} among {depths[-1].pairs:,}"
    return Chart(HIGH, label, tuple(strokes), bars, (*words, *legend), width, Plot(x, y, layers=layers))


def _thinned(judged: int) -> list[int]:
    """Return the positions at which the curve is drawn, including the first and the last."""
    if judged <= MOST_POINTS:
        return list(range(1, judged + 1))
    return sorted({round(1 + at * (judged - 1) / (MOST_POINTS - 1)) for at in range(MOST_POINTS)})


def _end(right: float, y: float, text: str, narrow: bool) -> Words:
    """Place the total next to the end of the curve, or above it if a rising curve leaves room there."""
    return Words(right, y - 8, text, "end") if narrow else Words(right + 10, y + 4, text)


def _legend(strategy: str, last: Depth | None, narrow: bool) -> tuple[tuple[Bar, ...], Sequence[Words]]:
    """Return the legend; on a phone its entries are stacked and include the labeled depth."""
    begin = 0.0 if narrow else LEFT
    bars = [Bar(begin, 6, 14, 3, "here")]
    words = [Words(begin + 20, 12, strategy, kind="mute")]
    if last:
        at = begin if narrow else begin + 20 + LETTER * len(strategy) + 24
        down = 18 if narrow else 0
        bars.append(Bar(round(at, 1), 6 + down, 14, 3, "mark"))
        beside = f"depth k of the same runs; depth {last.depth}: {last.relevant:,}+" if narrow else BESIDE
        words.append(Words(round(at + 20, 1), 12 + down, beside, kind="mute"))
    return tuple(bars), words


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
        return picture(context["discovery_chart"], name, request.GET.get("format", ""))
    return requested_table(request, context["discovery_tables"], context)


def shown(user: Any, pool: Pool | None, rounds: Sequence[Round]) -> dict[str, Any]:
    """Return the context of `_discovery.html`: the curve with its tables, or a note that it is hidden from the
    reader."""
    if not rounds:
        return {}
    if discovery.is_hidden_from(user, rounds):
        return {"discovery_withheld": True}
    curve = discovery.discovery_of(pool, rounds)
    depths = small_table("depths", ("depth", "depths"), DEPTHS, curve.depths)
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
    return small_table("curve", ("pair", "pairs"), CURVE, rows)


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
