"""Page to create a round from a pool: raters, ratings per pair, scale and cost."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from judgments import access, guidelines, rounds
from judgments.models import Collection, Round
from judgments.round_settings import RoundSettings
from judgments.round_settings_form import USUAL_EXTRA
from judgments.scales import PRESETS
from judgments.views.sent import uuid_of
from pooling import pools, refill
from pooling.effort import pace
from pooling.models import Pool
from pooling.round_cost import Cost, offers, usual_overlap
from pooling.round_forms import RoundForm, grade_rows, written_grades

# A pool that goes on choosing begins with ten pairs a query; fifty find most of what there is.
USUAL_GROWTH = 5
ACTS = ("create", "open")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def round_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    chosen = request.GET.get("pool") or request.POST.get("pool")
    context: dict[str, Any] = {"collection": collection, "step": "round", "pools": collection.pools.active()}
    if not chosen:
        kept = {name: request.GET[name] for name in ("guidelines", "after") if request.GET.get(name)}
        return render(request, "pooling/round_pool.html", context | {"kept": urlencode(kept)})
    pool = access.reach(Pool.objects.filter(collection=collection), request.user, access.LEADS, uuid=chosen)
    after = _after(collection, request.GET.get("after", ""))
    act = request.POST.get("act", "")
    form, rows = _forms(request, pool, after, act)
    if act in ACTS and form.is_valid() and rows.is_valid():
        with form.telling():
            return _made(request, pool, form, written_grades(rows), act == "open")
    # Asking for more rows, for a usual scale or for the cost is no mistake, whatever the form holds by then.
    status = form.status if act in ACTS else 200
    if act in ACTS and not rows.is_valid():
        status = 422
    cost = _cost(pool, form)
    context |= {"pool": pool, "form": form, "rows": rows, "cost": cost, "offers": offers(cost), "after": after}
    context |= {"asking": status != 200, "presets": PRESETS, "opened": form.opened}
    return render(request, "pooling/round_new.html", context, status=status)


def _after(collection: Collection, uuid: str) -> Round | None:
    """The round whose settings are taken over; none for an address that names none of the collection's."""
    found = uuid_of(uuid)
    return collection.rounds.filter(uuid=found).select_related("scale").first() if found else None


def _forms(request: HttpRequest, pool: Pool, after: Round | None, act: str) -> tuple[RoundForm, Any]:
    """The form and the rows of its scale, as they were sent or with what a button put into them."""
    data = request.POST.copy() if request.method == "POST" else None
    usual = after.scale.grades.values_list("value", "label", "cue") if after else PRESETS["graded-4"].grades
    rows = grade_rows(data, more=3 if act == "rows" else 0, grades=list(usual))
    kind, _, name = act.partition(":")
    if data is not None and kind == "scale" and name in PRESETS:
        rows = grade_rows(grades=PRESETS[name].grades)
        _take_scale(data, name)
    if data is not None and kind == "share":
        _take_share(data, name)
    initial = _initial(pool, after, request.GET.get("guidelines", "")) | _plan(pool)
    return RoundForm(data, initial=initial, collection=pool.collection, grows=refill.can_grow(pool)), rows


def _take_scale(data: QueryDict, name: str) -> None:
    """What belongs to a usual scale; grades cannot lie further apart than its ends."""
    preset = PRESETS[name]
    widest = preset.grades[-1][0] - preset.grades[0][0]
    data["relevant_from"] = str(preset.relevant_from)
    if data.get("extra_at", "").strip():
        data["extra_at"] = str(min(USUAL_EXTRA, widest))


def _take_share(data: QueryDict, name: str) -> None:
    ratings, _, share = name.partition("x")
    data["ratings_per_pair"], data["overlap"] = ratings, share


def _initial(pool: Pool, after: Round | None, asked: str) -> dict[str, Any]:
    """What is usual, or what the other round had; the newest guidelines, unless others are asked for."""
    collection = pool.collection
    names = set(collection.rounds.values_list("name", flat=True))
    number = next(number for number in range(len(names) + 1, 2 * len(names) + 2) if f"Round {number}" not in names)
    named = uuid_of(asked)
    version = collection.guidelines.filter(uuid=named).first() if named else None
    version = version or guidelines.latest(collection)
    return {
        "name": f"Round {number}",
        "guidelines": version.uuid if version else "",
        "seed": 1,
        **(_of_another(after) if after else _usual(pool)),
    }


def _usual(pool: Pool) -> dict[str, Any]:
    per_query = _per_query(pool)
    usual = RoundSettings(overlap=usual_overlap(sum(per_query), per_query, pace(pool.collection)), extra_at=USUAL_EXTRA)
    raters = pool.collection.memberships.filter(role="rater").values_list("user__uuid", flat=True)
    return {**usual.as_dict(), "relevant_from": 1, "raters": [str(uuid) for uuid in raters]}


def _of_another(round_: Round) -> dict[str, Any]:
    asked = round_.raters.filter(left_at__isnull=True).values_list("user__uuid", flat=True)
    settings = RoundSettings.of(round_).as_dict()
    return {**settings, "relevant_from": round_.scale.relevant_from, "raters": [str(uuid) for uuid in asked]}


def _plan(pool: Pool) -> dict[str, Any]:
    """As many pairs a query as experience asks for, five times the usual first ones."""
    return {
        "goes_on": True,
        "most_pairs": USUAL_GROWTH * pool.entries.count(),
        "pairs_per_query": None,
        "batch": refill.BATCH,
        "residual": 0,
    }


def _made(
    request: HttpRequest, pool: Pool, form: RoundForm, grades: list[tuple[int, str, str]], at_once: bool
) -> HttpResponse:
    """Make the round, and open it where that was asked for: both or neither."""
    with transaction.atomic():
        version = form.cleaned_data["guidelines"] or guidelines.add_version(
            pool.collection, markdown=guidelines.DEFAULT_TEMPLATE, actor=request.user
        )
        make = partial(refill.begin, **form.plan) if form.plan else pools.make_round
        made = make(
            pool,
            actor=request.user,
            guidelines=version,
            grades=grades,
            relevant_from=form.cleaned_data["relevant_from"],
            settings=form.settings,
            raters=form.asked,
            name=form.cleaned_data["name"],
            seed=form.cleaned_data["seed"],
        )
        if at_once:
            made = rounds.open_round(made, actor=request.user)
    messages.success(request, _said(made, len(form.asked)))
    return redirect("round_progress", made.uuid)


def _said(made: Round, raters: int) -> str:
    if made.state == Round.State.OPEN:
        return f"{made.name} is open for {raters} rater{'' if raters == 1 else 's'}."
    return f"{made.name} is a draft. Nobody sees it until it is opened."


def _per_query(pool: Pool) -> list[int]:
    counted = pool.entries.order_by().values("query").annotate(number=Count("pk"))
    return list(counted.values_list("number", flat=True))


def _cost(pool: Pool, form: RoundForm) -> Cost:
    """What the form's values would cost; its first values where they do not hold."""
    values = {name: form.get_initial_for_field(form.fields[name], name) for name in form.fields}
    if form.is_bound:
        form.is_valid()
        values |= form.cleaned_data
    asked = values["ratings_per_pair"], len(values["raters"]), pace(pool.collection)
    per_query = _per_query(pool)

    def cost(pairs: int, per_query: list[int], most: Cost | None = None) -> Cost:
        return Cost(pairs, round(pairs * values["overlap"]), *asked, per_query, most)

    grows = values.get("goes_on") and values.get("most_pairs")
    now = sum(per_query)
    more = [number * values["most_pairs"] / now for number in per_query] if grows and now else []
    return cost(now, per_query, cost(values["most_pairs"], more) if grows else None)
