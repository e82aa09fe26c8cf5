"""Which rounds are there, how far is each, and who takes part?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, Subquery, prefetch_related_objects
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from judgments import access, conflicts, growing, reliability, rounds
from judgments.core.cells import csv_row, escape
from judgments.core.errors import AssayError
from judgments.models import Judgment, Pair, Role, Round, RoundRater, Slot, User
from judgments.templatetags.figures import grade, percent, state
from judgments.untold import untold_pairs
from judgments.views.downloads import attachment
from judgments.views.lists import Choice, Column, Listing, answer, how_many

SHAPES = {"draft": "todo", "open": "doing", "closed": "done"}


def round_state(round_: Round) -> SafeString:
    """The state of a round as a shape and a word."""
    return state(SHAPES[round_.state], round_.get_state_display())


def _share(round_: Any) -> str:
    return f"{round_.filled:,} of {round_.wanted:,} ({percent(round_.filled / round_.wanted if round_.wanted else 0)})"


def _pair_count(round_: Any) -> str:
    most = f" of at most {round_.most_pairs:,}" if round_.growing else ""
    return f"{round_.pair_count:,}{most}"


ROUNDS = Listing(
    name="rounds",
    noun=("round", "rounds"),
    columns=(
        Column("name", "Round", order="name", head=True, url=lambda row: reverse("round_progress", args=[row.uuid])),
        Column("state", "State", order="state", show=round_state),
        Column("filled", "Ratings", order="filled", numeric=True, show=_share),
        Column("pair_count", "Pairs", order="pair_count", numeric=True, show=_pair_count),
        Column("rater_count", "Raters", order="rater_count", numeric=True),
        Column("ratings_per_pair", "Ratings a pair", order="ratings_per_pair", numeric=True),
        Column("guidelines", "Guidelines", value=lambda row: str(row.guidelines)),
        Column("created_at", "Made", order="created_at", style="nowrap"),
        Column("closed_at", "Closed", order="closed_at", style="nowrap"),
    ),
    search=("name",),
    choices=(Choice("state", "State", "state", Round.State.choices),),
    order="-created_at",
)


@login_required
@require_safe
def round_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.rounds.select_related("guidelines").annotate(
        pair_count=how_many(Pair.objects.all(), "round"),
        rater_count=how_many(RoundRater.objects.all(), "round"),
        wanted=how_many(Slot.objects.all(), "round"),
        filled=how_many(Slot.objects.filter(filled_by__isnull=False), "round"),
    )
    return answer(request, ROUNDS, rows, "judgments/rounds.html", {"collection": collection, "step": "round"})


@login_required
@require_safe
def round_page(request: HttpRequest, uuid: str) -> HttpResponse:
    """A round has no page of its own: staff see its progress, raters rate."""
    round_ = access.round_for(request.user, uuid, access.EVERYBODY)
    staff = access.role_in(request.user, round_.collection) in access.STAFF
    return redirect("round_progress" if staff else "rate", round_.uuid)


def _grades(pair: Any) -> SafeString:
    """The grades so far by pseudonym; of a pair that the reader may still grade only that they are hidden."""
    if pair.hidden:
        return format_html('<span class="muted">{}</span>', "hidden: you may still grade it")
    top = max(pair.round.scale.values())
    return format_html_join(
        " ",
        '<span class="nowrap">{} <span class="mono muted">{}</span></span>',
        ((_chip(judgment, top), judgment.pseudonym) for judgment in pair.answers),
    )


def _chip(judgment: Judgment, top: int) -> SafeString:
    return (
        format_html('<span class="badge">{}</span>', "cannot judge")
        if judgment.grade is None
        else grade(judgment.grade, top)
    )


def _grades_in_file(pair: Any) -> str:
    if pair.hidden:
        return "hidden"
    given = ((row.pseudonym, "cannot-judge" if row.grade is None else row.grade) for row in pair.answers)
    return " ".join(f"{rater}:{what}" for rater, what in given)


def _by_fullness(rows: QuerySet[Pair], value: str) -> QuerySet[Pair]:
    if value == "none":
        return rows.filter(filled=0)
    full = Exists(Slot.objects.filter(pair=OuterRef("pk"), filled_by__isnull=True))
    return rows.filter(full, filled__gt=0) if value == "some" else rows.filter(~full)


PAIRS = Listing(
    name="pairs",
    noun=("pair", "pairs"),
    columns=(
        Column("position", "Place", order="position", numeric=True, value=lambda pair: pair.position + 1),
        Column(
            "query",
            "Query",
            order="query__text",
            value=lambda pair: pair.query.text,
            url=lambda pair: reverse("query", args=[pair.round.collection.slug, pair.query.uuid]),
            head=True,
            style="clip",
        ),
        Column("grades", "Grades so far", value=_grades_in_file, show=_grades),
        Column(
            "filled",
            "Ratings",
            order="filled",
            numeric=True,
            show=lambda pair: f"{pair.filled} of {pair.ratings_wanted}",
        ),
        Column(
            "document",
            "Document",
            order="document__title",
            value=lambda pair: str(pair.document),
            url=lambda pair: reverse("document", args=[pair.round.collection.slug, pair.document.uuid]),
            style="clip",
        ),
        Column("query_id", "Query id", order="query__query_id", value=lambda pair: pair.query.query_id, style="id"),
        Column("doc_id", "Document id", order="document__doc_id", value=lambda pair: pair.document.doc_id, style="id"),
    ),
    search=("query__text", "query__query_id", "document__title", "document__doc_id"),
    choices=(
        Choice("ratings", "Ratings", _by_fullness, [("none", "none yet"), ("some", "some"), ("all", "all there")]),
    ),
    order="position",
)


def _pairs(round_: Round, viewer: Any) -> QuerySet[Pair]:
    """The round's pairs with the answers that fill them, and which of them the viewer must not see."""
    pseudonym = RoundRater.objects.filter(round=OuterRef("pair__round"), user=OuterRef("rater")).values("pseudonym")
    answers = Judgment.objects.current().filter(surplus=False).exclude(state=Judgment.State.LATER)
    answers = answers.annotate(pseudonym=Subquery(pseudonym[:1])).order_by("pseudonym")
    hidden = untold_pairs(viewer, round_).filter(pk=OuterRef("pk"))
    rows = round_.pairs.select_related("query", "document").prefetch_related(
        Prefetch("judgments", answers, to_attr="answers")
    )
    full = Count("slots", filter=Q(slots__filled_by__isnull=False))
    return rows.annotate(filled=full, hidden=Exists(hidden))


@login_required
@require_safe
def progress(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.STAFF)
    found = reliability.progress(round_)
    if request.GET.get("format") == "json":
        return JsonResponse({"round": round_.name, "state": round_.state, **found.as_json()})
    if request.GET.get("format") == "raters":
        return _raters_file(round_, found)
    prefetch_related_objects([round_], "scale__grades")
    reasons = _reasons(round_)
    context = {
        **frame(request, round_),
        "progress": found,
        "raters": _raters(found),
        "reasons": reasons,
        "unrateable": sum(number for _, number in reasons),
        "top": max(round_.scale.values()),
        "to_invite": _to_invite(round_),
        "choosing": growing.told(round_),
    }
    return answer(request, PAIRS, _pairs(round_, request.user), "judgments/round_progress.html", context)


def frame(request: HttpRequest, round_: Round, step: str = "round") -> dict[str, Any]:
    """What stands above every page of a round."""
    lead = access.role_in(request.user, round_.collection) == Role.LEAD
    return {
        "round": round_,
        "collection": round_.collection,
        "step": step,
        "lead": lead,
        "state": round_state(round_),
        "rates": rounds.is_rater(request.user, round_) and round_.state == Round.State.OPEN,
        "pair_count": round_.pairs.count(),
        "query_count": round_.pairs.order_by().values("query").distinct().count(),
        "open_conflicts": conflicts.open_conflicts(round_, viewer=request.user) if lead else 0,
    }


def _raters(found: reliability.Progress) -> list[dict[str, Any]]:
    """Each rater with their share of what could still be theirs."""
    most = max((rater.graded + rater.unrateable for rater in found.raters), default=0)
    return [{**asdict(rater), "answered": rater.graded + rater.unrateable, "most": most} for rater in found.raters]


def _reasons(round_: Round) -> list[tuple[str, int]]:
    rows = Judgment.objects.current().of_round(round_).filter(state=Judgment.State.UNRATEABLE)
    counted = rows.order_by().values_list("reason").annotate(number=Count("pk"))
    return sorted(((reason or "no reason given", number) for reason, number in counted), key=lambda row: -row[1])


def _to_invite(round_: Round) -> QuerySet[User]:
    """Members who may rate and were not asked yet."""
    may = User.objects.filter(
        memberships__collection=round_.collection, memberships__role__in=[Role.RATER, Role.LEAD], is_active=True
    )
    return may.exclude(pk__in=round_.raters.values("user")).order_by("username")


def _raters_file(round_: Round, found: reliability.Progress) -> HttpResponse:
    lines = [csv_row(["rater", "graded", "unrateable", "later", "median_seconds"])]
    for rater in found.raters:
        seconds = "" if rater.median_seconds is None else str(rater.median_seconds)
        cells = [rater.pseudonym, str(rater.graded), str(rater.unrateable), str(rater.later), seconds]
        lines.append(csv_row([escape(cell) for cell in cells]))
    return attachment(f"{round_.collection.slug}-raters.csv", "".join(lines))


@login_required
@require_POST
def open_round(request: HttpRequest, uuid: str) -> HttpResponse:
    return _turned(request, uuid, rounds.open_round, "is open. Its raters find it under their work.")


@login_required
@require_POST
def close_round(request: HttpRequest, uuid: str) -> HttpResponse:
    return _turned(request, uuid, rounds.close_round, "is closed. No more answers are taken.")


def _turned(request: HttpRequest, uuid: str, verb: Callable[..., Round], said: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    try:
        verb(round_, actor=request.user)
        messages.success(request, f"{round_} {said}")
    except AssayError as error:
        messages.error(request, _whole(error))
    return redirect("round_progress", round_.uuid)


@login_required
@require_POST
def invite(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    named = set(request.POST.getlist("raters"))
    asked = [user for user in _to_invite(round_) if user.username in named]
    if not asked:
        messages.error(request, "Nobody was asked: choose at least one member.")
    else:
        rounds.invite(round_, asked, actor=request.user)
        messages.success(request, f"Asked {', '.join(user.username for user in asked)}.")
    return redirect("round_progress", round_.uuid)


def _whole(error: AssayError) -> str:
    """The message with what its fields say, since a button has no field to say it at."""
    return " ".join([str(error), *getattr(error, "fields", {}).values()])
