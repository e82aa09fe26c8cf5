"""Round list, and the actions to open, close and reopen a round and to invite raters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.db.models import F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString

from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Collection, Pair, Role, Round, RoundRater, Tally, User
from judgments.rounds import rounds
from judgments.rounds import settings as round_settings
from judgments.rounds.forms import HandingOutForm
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import percent, state
from judgments.web.lists import ChoiceFilter, Listing, answer, how_many
from judgments.web.pages import errors_as_messages, form_page, get_page, post_action


@form_page.of_round(access.LEADS)
def settings(request: HttpRequest, round_: Round) -> HttpResponse:
    form = HandingOutForm(round_, request.POST if request.method == "POST" else None).worded_for(round_)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            round_settings.change(round_, form.changes, actor=request.user)
            messages.success(request, "Settings saved. They don’t affect pairs that raters have already opened.")
            return redirect("round_progress", round_.uuid)
    context = {**frame(request, round_), "form": form, "closed": round_.state == Round.State.CLOSED}
    return render(request, "judgments/rounds/round_settings.html", context, status=form.status)


SHAPES = {"draft": "todo", "open": "doing", "closed": "done"}


def round_state(round_: Round) -> SafeString:
    """The state of a round as a shape and a word."""
    return state(SHAPES[round_.state], round_.get_state_display())


ROUNDS = Listing(
    name="rounds",
    noun=("round", "rounds"),
    columns=(
        Column("name", "Round", order="name", head=True, url=("round_progress", "uuid")),
        Column("state", "State", order="state", show=round_state),
        Column(
            "filled",
            "Ratings",
            order="filled",
            numeric=True,
            show=lambda row: (
                f"{row.filled:,} of {row.wanted:,} ({percent(row.filled / row.wanted if row.wanted else 0)})"
            ),
        ),
        Column(
            "pair_count",
            "Pairs",
            order="pair_count",
            numeric=True,
            show=lambda row: f"{row.pair_count:,}{f' of at most {row.most_pairs:,}' if row.growing else ''}",
        ),
        Column("rater_count", "Raters", order="rater_count", numeric=True),
        Column("ratings_per_pair", "Ratings per pair", order="ratings_per_pair", numeric=True),
        Column("guidelines", "Guidelines", value=lambda row: str(row.guidelines)),
        Column("created_at", "Created", order="created_at", style="nowrap"),
        Column("closed_at", "Closed", order="closed_at", style="nowrap"),
        # Last, so that the order of the other columns in downloads does not change.
        Column(
            "dimension",
            "Graded content",
            order="dimension",
            value=lambda row: f"answers: {row.dimension}" if row.of_answers else "documents",
        ),
    ),
    search=("name",),
    choices=(
        ChoiceFilter("state", "State", "state", Round.State.choices),
        ChoiceFilter("dimension", "Dimension", "dimension", Round.Dimension.choices),
    ),
    order="-created_at",
)


@get_page.of_collection(access.STAFF)
def round_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    tallies = Tally.objects.filter(round=OuterRef("pk")).order_by().values("round")
    filled = tallies.annotate(number=Sum("filled"))
    rows = (
        collection.rounds.active()
        .select_related("guidelines")
        .annotate(
            pair_count=F("pairs_made"),
            rater_count=how_many(RoundRater.objects.all(), "round"),
            wanted=F("slots_made"),
            filled=Coalesce(Subquery(filled.values("number")), 0),
        )
    )
    return answer(request, ROUNDS, rows, "judgments/rounds/rounds.html", {"collection": collection, "step": "round"})


@get_page.of_round(access.EVERYBODY)
def round_page(request: HttpRequest, round_: Round) -> HttpResponse:
    """Redirect to the page of the round: progress for staff, the station for raters."""
    staff = access.role_in(request.user, round_.collection) in access.STAFF
    return redirect("round_progress" if staff else "rate", round_.uuid)


def frame(request: HttpRequest, round_: Round, step: str = "round") -> dict[str, Any]:
    """Return the context for the head of every page of a round."""
    lead, open_conflicts = access.role_in(request.user, round_.collection) == Role.LEAD, 0
    if lead:
        hidden = pairs_with_hidden_grades(request.user, round_)
        open_conflicts = Pair.objects.in_conflict(round_, hidden=hidden).unresolved().count()
    return {
        "round": round_,
        "collection": round_.collection,
        "step": step,
        "lead": lead,
        "state": round_state(round_),
        "rates": rounds.is_rater(request.user, round_) and round_.state == Round.State.OPEN,
        "pair_count": round_.pairs_made,
        "query_count": _query_count(round_),
        "open_conflicts": open_conflicts,
    }


def _query_count(round_: Round) -> int:
    """Return the number of queries of the round's pairs, cached until a pair is added."""

    def count() -> int:
        return round_.pairs.order_by().values("query").distinct().count()

    number: int = cache.get_or_set(f"queries-of-round:{round_.uuid}:{round_.pairs_made}", count, None)
    return number


def to_invite(round_: Round) -> QuerySet[User]:
    """Return members who may rate but are not raters of the round yet."""
    may = User.objects.filter(
        memberships__collection=round_.collection, memberships__role__in=[Role.RATER, Role.LEAD], is_active=True
    )
    return may.exclude(pk__in=round_.raters.values("user")).order_by("username")


@post_action
def open_round(request: HttpRequest, uuid: str) -> HttpResponse:
    return _turned(request, uuid, rounds.open_round, "is open. Raters find it on their home page.")


@post_action
def close_round(request: HttpRequest, uuid: str) -> HttpResponse:
    return _turned(request, uuid, rounds.close_round, "is closed. It accepts no more judgments.")


@post_action
def reopen_round(request: HttpRequest, uuid: str) -> HttpResponse:
    verb = partial(rounds.reopen_round, reason=request.POST.get("reason", ""))
    return _turned(request, uuid, verb, "is open again.")


def _turned(request: HttpRequest, uuid: str, verb: Callable[..., Round], outcome: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    with errors_as_messages(request):
        verb(round_, actor=request.user)
        messages.success(request, f"{round_} {outcome}")
    return redirect("round_progress", round_.uuid)


@post_action.of_round(access.LEADS)
def invite(request: HttpRequest, round_: Round) -> HttpResponse:
    named = set(request.POST.getlist("raters"))
    raters = [user for user in to_invite(round_) if user.username in named]
    if not raters:
        messages.error(request, "No raters were added. Choose at least one member.")
    else:
        rounds.invite(round_, raters, actor=request.user)
        messages.success(request, f"Added {', '.join(user.username for user in raters)}.")
    return redirect("round_progress", round_.uuid)
