"""Pages to create a round from a pool, or to start without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from assay.coefficients.rater_pairs import ENOUGH_QUERIES, ENOUGH_UNITS
from assay.core.errors import NotValid
from judgments.guidelines import guidelines
from judgments.jobs.limited_process import read_at_once
from judgments.models import Collection, Round
from judgments.rounds import rounds
from judgments.rounds.forms import USUAL_EXTRA
from judgments.rounds.settings import PRESETS, RoundSettings
from judgments.web import access
from judgments.web.middleware import takes_files
from judgments.web.pages import finish, form_page
from judgments.web.posted_values import uuid_of
from pooling.models import Pool
from pooling.pools import pools, refill
from pooling.pools.effort import Pace, pace
from pooling.rounds import quick_start
from pooling.rounds.forms import MOST_START_BYTES, QueriesForm, ResultsForm, RoundForm, grade_rows, written_grades

# Half-width of alpha's 95% interval times the square root of the doubly rated pairs, measured on real 0-3 grades with
# moderate agreement: 0.24 at 50 pairs, 0.12 at 200, 0.06 at 800.
WIDTH = 1.7
# The proposed overlap, if it is enough for a verdict.
SHARE = 0.2


@dataclass(frozen=True)
class Cost:
    """The effort of a round."""

    pairs: int
    overlapping: int
    ratings_per_pair: int
    raters: int
    pace: Pace
    per_query: Sequence[int] = ()
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
    def queries_twice(self) -> int:
        """Return the expected number of queries with a doubly rated pair."""
        share = self.rated_twice / self.pairs if self.pairs else 0.0
        return round(sum(1 - (1 - share) ** number for number in self.per_query))

    @property
    def enough_overlap(self) -> bool:
        return self.rated_twice >= ENOUGH_UNITS and self.queries_twice >= ENOUGH_QUERIES

    @property
    def half_width(self) -> float | None:
        """Return the approximate half-width of the interval of the agreement; None if it cannot be estimated."""
        return min(1.0, WIDTH / sqrt(self.rated_twice)) if self.rated_twice > 1 else None

    @property
    def lacking(self) -> str:
        """Return what is missing for a verdict on agreement, as text; empty if nothing is missing."""
        if not self.rated_twice:
            return "without overlap, agreement cannot be measured"
        lacks = []
        if self.rated_twice < ENOUGH_UNITS:
            lacks.append(f"{ENOUGH_UNITS} pairs")
        if self.queries_twice < ENOUGH_QUERIES:
            lacks.append(f"{ENOUGH_QUERIES} queries")
        return f"a verdict needs at least {' in '.join(lacks)}" if lacks else ""


@dataclass(frozen=True)
class Offer:
    """One way to distribute ratings over the pairs."""

    title: str
    ratings_per_pair: int
    overlap: float
    cost: Cost

    @property
    def key(self) -> str:
        return f"{self.ratings_per_pair}x{self.overlap}"


def offers(cost: Cost) -> list[Offer]:
    """Return the usual plans with the cost of each."""
    ways = (("Every pair twice", 2, 1.0), ("Every fifth pair twice", 2, SHARE), ("Every pair once", 1, 1.0))
    return [
        Offer(title, ratings, share, replace(cost, ratings_per_pair=ratings, overlapping=round(cost.pairs * share)))
        for title, ratings, share in ways
    ]


def usual_overlap(pairs: int, per_query: Sequence[int], pace: Pace) -> float:
    """Return the share of doubly rated pairs: 20% if that is enough for a verdict, otherwise all pairs."""
    fifth = Cost(pairs, round(pairs * SHARE), 2, 0, pace, per_query)
    return SHARE if fifth.enough_overlap else 1.0


# A growing round starts with ten pairs per query; fifty usually include most of the relevant documents.
USUAL_GROWTH = 5
ACTS = ("create", "open")


@form_page.of_collection(access.LEADS)
def round_new(request: HttpRequest, collection: Collection) -> HttpResponse:
    chosen = request.GET.get("pool") or request.POST.get("pool")
    context: dict[str, Any] = {"collection": collection, "step": "round", "pools": collection.pools.active()}
    if not chosen:
        carried = {name: request.GET[name] for name in ("guidelines", "after") if request.GET.get(name)}
        return render(request, "pooling/rounds/round_pool.html", context | {"query": urlencode(carried)})
    pool = access.reach(Pool.objects.filter(collection=collection), request.user, access.LEADS, uuid=chosen)
    after = _after(collection, request.GET.get("after", ""))
    act = request.POST.get("act", "")
    form, rows = _forms(request, pool, after, act)
    if act in ACTS and form.is_valid() and rows.is_valid():
        with form.telling():
            return _made(request, pool, form, written_grades(rows), act == "open")
    # Buttons for more rows, a standard scale or the cost do not submit the form, so its errors do not matter.
    status = form.status if act in ACTS else 200
    if act in ACTS and not rows.is_valid():
        status = 422
    cost = _cost(pool, form)
    context |= {"pool": pool, "form": form, "rows": rows, "cost": cost, "offers": offers(cost), "after": after}
    context["here"] = f"{request.path}?pool={pool.uuid}"
    context |= {"asking": status != 200, "presets": PRESETS, "opened": form.opened}
    return render(request, "pooling/rounds/round_new.html", context, status=status)


def _after(collection: Collection, uuid: str) -> Round | None:
    """Return the round whose settings are copied; None for an unknown id."""
    number = uuid_of(uuid)
    return collection.rounds.filter(uuid=number).select_related("scale").first() if number else None


def _forms(request: HttpRequest, pool: Pool, after: Round | None, act: str) -> tuple[RoundForm, Any]:
    """Return the form and the rows of its scale, as submitted or as changed by a button."""
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
    """Fill in a standard scale, and limit the conflict threshold to its range."""
    preset = PRESETS[name]
    widest = preset.grades[-1][0] - preset.grades[0][0]
    data["relevant_from"] = str(preset.relevant_from)
    if data.get("extra_at", "").strip():
        data["extra_at"] = str(min(USUAL_EXTRA, widest))


def _take_share(data: QueryDict, name: str) -> None:
    ratings, _, share = name.partition("x")
    data["ratings_per_pair"], data["overlap"] = ratings, share


def _initial(pool: Pool, after: Round | None, wanted: str) -> dict[str, Any]:
    """Return the defaults, or the settings of the other round, with the requested or newest guidelines."""
    collection = pool.collection
    names = set(collection.rounds.values_list("name", flat=True))
    number = next(number for number in range(len(names) + 1, 2 * len(names) + 2) if f"Round {number}" not in names)
    named = uuid_of(wanted)
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
    members = round_.raters.filter(left_at__isnull=True).values_list("user__uuid", flat=True)
    settings = RoundSettings.of(round_).as_dict()
    return {**settings, "relevant_from": round_.scale.relevant_from, "raters": [str(uuid) for uuid in members]}


def _plan(pool: Pool) -> dict[str, Any]:
    """Return the default plan: five times the usual first number of pairs per query."""
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
    """Create the round, and open it if requested, in one transaction."""
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
            raters=form.selected_raters,
            name=form.cleaned_data["name"],
            seed=form.cleaned_data["seed"],
        )
        if at_once:
            made = rounds.open_round(made, actor=request.user)
    return finish(request, _message(made, len(form.selected_raters)), "round_progress", made.uuid)


def _message(made: Round, raters: int) -> str:
    if made.state == Round.State.OPEN:
        return f"{made.name} is open for {raters} rater{'' if raters == 1 else 's'}."
    return f"{made.name} is a draft. Raters see it after you open it."


def _per_query(pool: Pool) -> list[int]:
    counted = pool.entries.order_by().values("query").annotate(number=Count("pk"))
    return list(counted.values_list("number", flat=True))


def _cost(pool: Pool, form: RoundForm) -> Cost:
    """Return the cost for the form's values, or for its defaults if they are not valid."""
    values = {name: form.get_initial_for_field(form.fields[name], name) for name in form.fields}
    if form.is_bound:
        form.is_valid()
        values |= form.cleaned_data
    settings = values["ratings_per_pair"], len(values["raters"]), pace(pool.collection)
    per_query = _per_query(pool)

    def cost(pairs: int, per_query: list[int], most: Cost | None = None) -> Cost:
        return Cost(pairs, round(pairs * values["overlap"]), *settings, per_query, most)

    grows = values.get("goes_on") and values.get("most_pairs")
    now = sum(per_query)
    more = [number * values["most_pairs"] / now for number in per_query] if grows and now else []
    return cost(now, per_query, cost(values["most_pairs"], more) if grows else None)


@takes_files
@form_page.of_collection(access.LEADS)
def start(request: HttpRequest, collection: Collection) -> HttpResponse:
    step = _file_step if "csv" in request.POST else _results_step if "texts" in request.POST else _queries_step
    return step(request, collection)


def _queries_step(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Show the first step: ten queries, or a file with queries and results."""
    form = QueriesForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            if form.cleaned_data.get("file"):
                text = form.text_of_file()
                return _check_page(request, collection, text, _read(text))
            queries = quick_start.read_queries(form.cleaned_data["queries"])
            return _results_page(request, collection, ResultsForm(queries=queries))
    context = {"collection": collection, "step": "queries", "form": form}
    return render(request, "pooling/rounds/start.html", context, status=form.status)


def _results_step(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Show the second step: a box for the current results of each query."""
    try:
        queries = quick_start.read_queries(request.POST["texts"])
    except NotValid:
        return redirect("start", collection.slug)
    form = ResultsForm(request.POST, queries=queries)
    if form.is_valid() and request.POST.get("act") != "count":
        with form.telling():
            return _rate(request, collection, form.starts)
    return _results_page(request, collection, form)


def _file_step(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Show the second step with the content of a file for confirmation."""
    form = QueriesForm({"queries": "from a file"})
    with form.telling():
        return _rate(request, collection, _read(request.POST["csv"]))
    context = {"collection": collection, "step": "queries", "form": form}
    return render(request, "pooling/rounds/start.html", context, status=form.status)


def _read(text: str) -> list[quick_start.Start]:
    return read_at_once(quick_start.read_csv, text, most=MOST_START_BYTES)


def _rate(request: HttpRequest, collection: Collection, starts: list[quick_start.Start]) -> HttpResponse:
    pairs = quick_start.store_lists(collection, starts, actor=request.user)
    # The app above continues with people and effort.
    address = reverse("decision_plan", args=[collection.slug])
    return redirect(f"{address}?baseline={quick_start.run_of(collection, pairs).uuid}")


def _results_page(request: HttpRequest, collection: Collection, form: ResultsForm) -> HttpResponse:
    counting = request.POST.get("act") == "count"
    context: dict[str, Any] = {
        "collection": collection,
        "step": "queries",
        "form": form,
        "texts": "\n".join(form.queries),
        **_size(collection, form.starts),
    }
    return render(request, "pooling/rounds/start_results.html", context, status=200 if counting else form.status)


def _check_page(
    request: HttpRequest, collection: Collection, text: str, starts: list[quick_start.Start]
) -> HttpResponse:
    context = {
        "collection": collection,
        "step": "queries",
        "csv": text,
        "starts": starts,
        **_size(collection, starts),
    }
    return render(request, "pooling/rounds/start_check.html", context)


def _size(collection: Collection, starts: list[quick_start.Start]) -> dict[str, Any]:
    results = sum(len(one.results) for one in starts)
    return {"results": results, "cost": pace(collection).cost(results)}
