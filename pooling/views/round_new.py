"""Who shall judge a pool's pairs, how often, on which scale, and what will it cost?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from judgments import access, guidelines, rounds
from judgments.models import Collection, Round
from pooling import pools, refill
from pooling.effort import Pace, pace
from pooling.models import Pool
from pooling.round_forms import RoundForm, grade_rows, written_grades

# Below this many pairs rated twice, agreement gives no verdict.
ENOUGH_OVERLAP = 200
# A pool that goes on choosing begins with ten pairs a query; fifty find most of what there is.
USUAL_GROWTH = 5


@dataclass(frozen=True)
class Cost:
    """What a round asks of its raters."""

    pairs: int
    overlapping: int
    ratings_per_pair: int
    raters: int
    pace: Pace
    # What the round may grow to, where pairs are chosen while it is open.
    most: Cost | None = None

    @property
    def ratings(self) -> int:
        return self.overlapping * self.ratings_per_pair + self.pairs - self.overlapping

    @property
    def hours(self) -> str:
        return self.pace.cost(self.ratings)

    @property
    def hours_each(self) -> str:
        return self.pace.cost(self.ratings / self.raters) if self.raters else ""

    @property
    def too_few_raters(self) -> bool:
        return 0 < self.raters < self.ratings_per_pair and self.overlapping > 0

    @property
    def rated_twice(self) -> int:
        return self.overlapping if self.ratings_per_pair > 1 else 0

    @property
    def enough_overlap(self) -> bool:
        return self.rated_twice >= ENOUGH_OVERLAP


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def round_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    chosen = request.GET.get("pool") or request.POST.get("pool")
    context: dict[str, Any] = {"collection": collection, "step": "round", "pools": collection.pools.all()}
    if not chosen:
        return render(request, "pooling/round_pool.html", context)
    pool = access.reach(Pool.objects.filter(collection=collection), request.user, access.LEADS, uuid=chosen)
    act = request.POST.get("act", "")
    initial = _initial(collection) | _plan(pool)
    form = RoundForm(request.POST or None, initial=initial, collection=collection, grows=refill.can_grow(pool))
    rows = grade_rows(request.POST or None, more=3 if act == "rows" else 0)
    if act in ("create", "open") and form.is_valid() and rows.is_valid():
        with form.telling():
            return _made(request, pool, form, written_grades(rows), act == "open")
    # Asking for more rows or for the cost is no mistake, whatever the form holds by then.
    status = form.status if act in ("create", "open") else 200
    if act in ("create", "open") and not rows.is_valid():
        status = 422
    context |= {"pool": pool, "form": form, "rows": rows, "cost": _cost(pool, form), "asking": status != 200}
    return render(request, "pooling/round_new.html", context, status=status)


def _initial(collection: Collection) -> dict[str, Any]:
    names = set(collection.rounds.values_list("name", flat=True))
    number = next(number for number in range(len(names) + 1, 2 * len(names) + 2) if f"Round {number}" not in names)
    latest = guidelines.latest(collection)
    raters = collection.memberships.filter(role="rater").values_list("user__uuid", flat=True)
    return {
        "name": f"Round {number}",
        "guidelines": latest.uuid if latest else "",
        "ratings_per_pair": 2,
        "overlap": 1.0,
        "raters": [str(uuid) for uuid in raters],
        "seed": 1,
    }


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
    names = ("name", "ratings_per_pair", "overlap", "seed")
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
            raters=form.asked,
            **{name: form.cleaned_data[name] for name in names},
        )
        if at_once:
            made = rounds.open_round(made, actor=request.user)
    messages.success(request, _said(made, len(form.asked)))
    return redirect("round_progress", made.uuid)


def _said(made: Round, raters: int) -> str:
    if made.state == Round.State.OPEN:
        return f"{made.name} is open for {raters} rater{'' if raters == 1 else 's'}."
    return f"{made.name} is a draft. Nobody sees it until it is opened."


def _cost(pool: Pool, form: RoundForm) -> Cost:
    """What the form's values would cost; its first values where they do not hold."""
    values = {name: form.get_initial_for_field(form.fields[name], name) for name in form.fields}
    if form.is_bound:
        form.is_valid()
        values |= form.cleaned_data
    asked = values["ratings_per_pair"], len(values["raters"]), pace(pool.collection)

    def cost(pairs: int, most: Cost | None = None) -> Cost:
        return Cost(pairs, round(pairs * values["overlap"]), *asked, most)

    grows = values.get("goes_on") and values.get("most_pairs")
    return cost(pool.entries.count(), cost(values["most_pairs"]) if grows else None)
