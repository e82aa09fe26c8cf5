"""Pages for the progress of a round and of its pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db.models import Case, Exists, OuterRef, Prefetch, QuerySet, Subquery, Value, When, prefetch_related_objects
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from assay.core.csv_cells import csv_row, escape
from judgments import hooks
from judgments.agreement import round_report
from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Judgment, Pair, Query, Round, RoundRater, Slot
from judgments.progress.api import ProgressBody
from judgments.progress.progress import progress as progress_of
from judgments.rounds.views import frame, to_invite
from judgments.web import access
from judgments.web.columns import QUERY_COLUMN, Column
from judgments.web.downloads import attachment
from judgments.web.figures import grade
from judgments.web.lists import ChoiceFilter, Listing, answer, how_many
from judgments.web.pages import get_page

FILLED = Slot.objects.filter(pair=OuterRef("pk"), filled_by__isnull=False)
OPEN = Slot.objects.filter(pair=OuterRef("pk"), filled_by__isnull=True)


def _grades(pair: Any) -> SafeString:
    """Return the grades so far by pseudonym; those of a pair that the reader may still grade are hidden."""
    if pair.hidden:
        return format_html('<span class="muted">{}</span>', "hidden: you may still grade it")
    top = max(pair.round.scale.values())
    return format_html_join(
        " ",
        '<span class="nowrap">{} <span class="mono muted">{}</span></span>',
        ((_chip(one.grade, top), one.pseudonym) for one in pair.answers),
    )


def _chip(value: int | None, top: int) -> SafeString:
    return format_html('<span class="badge">{}</span>', "cannot judge") if value is None else grade(value, top)


def _grades_in_file(pair: Any) -> str:
    if pair.hidden:
        return "hidden"
    given = ((row.pseudonym, "cannot-judge" if row.grade is None else row.grade) for row in pair.answers)
    return " ".join(f"{rater}:{what}" for rater, what in given)


def _by_fullness(rows: QuerySet[Pair], value: str) -> QuerySet[Pair]:
    """Filter only pairs whose number of ratings is visible; otherwise the filter would reveal hidden numbers."""
    rows = rows.filter(hidden=False)
    if value == "none":
        return rows.filter(~Exists(FILLED))
    return rows.filter(Exists(OPEN), Exists(FILLED)) if value == "some" else rows.filter(~Exists(OPEN))


PAIRS = Listing(
    name="pairs",
    noun=("pair", "pairs"),
    columns=(
        Column("position", "Position", order="position", numeric=True, value=lambda pair: pair.position + 1),
        replace(QUERY_COLUMN, url=("query", "round.collection.slug", "query.uuid")),
        Column("grades", "Grades", value=_grades_in_file, show=_grades),
        Column(
            "filled",
            "Ratings",
            order="filled",
            numeric=True,
            # An extra rating reveals that grades differ.
            show=lambda pair: "hidden" if pair.hidden else f"{pair.filled} of {pair.wanted}",
        ),
        Column(
            "document",
            "Document",
            order="document__title",
            value=lambda pair: str(pair.document),
            url=("document", "round.collection.slug", "document.uuid"),
            style="clip",
        ),
        Column("query_id", "Query id", order="query__query_id", value="query.query_id", style="id"),
        Column("doc_id", "Document id", order="document__doc_id", value="document.doc_id", style="id"),
    ),
    search=("query__text", "query__query_id", "document__title", "document__doc_id"),
    choices=(
        ChoiceFilter("ratings", "Ratings", _by_fullness, [("none", "none yet"), ("some", "some"), ("all", "all")]),
    ),
    order="position",
)


def pairs_of(round_: Round, viewer: Any) -> QuerySet[Pair]:
    """Return the round's pairs with their answers, and which of them are hidden from the viewer."""
    pseudonym = RoundRater.objects.filter(round=OuterRef("pair__round"), user=OuterRef("rater")).values("pseudonym")
    answers = Judgment.objects.current().filter(surplus=False).exclude(state=Judgment.State.LATER)
    answers = answers.annotate(pseudonym=Subquery(pseudonym[:1])).order_by("pseudonym")
    untold = pairs_with_hidden_grades(viewer, round_).filter(pk=OuterRef("pk"))
    rows = round_.pairs.select_related("query", "document").prefetch_related(
        Prefetch("judgments", answers, to_attr="answers")
    )
    return rows.annotate(
        filled=Case(
            When(Exists(untold), then=Value(None)),
            default=how_many(Slot.objects.filter(filled_by__isnull=False), "pair"),
        ),
        wanted=how_many(Slot.objects.all(), "pair"),
        hidden=Exists(untold),
    )


# Number of unfinished queries on the page; the file has all.
SHOWN = 8


@get_page.of_round(access.STAFF)
def progress(request: HttpRequest, round_: Round) -> HttpResponse:
    round_progress = progress_of(round_)
    file_format = request.GET.get("format")
    if file_format == "json":
        return JsonResponse({"round": round_.name, "state": round_.state, **ProgressBody(round_progress).data})
    if file_format == "raters":
        heads = ["graded", "unrateable", "later", "median_seconds", "left", "hours_left"]
        lines = ([one.pseudonym, *(getattr(one, name) for name in heads)] for one in round_progress.raters)
        return _file(round_, "raters", ["rater", *heads], lines)
    reasons, queries = round_report.counts(round_)
    queries, hidden = _visible_queries(round_, queries, request.user)
    if file_format == "queries":
        lines = ([text, wanted, filled] for _, text, wanted, filled in queries)
        return _file(round_, "progress-by-query", ["query", "ratings_wanted", "ratings"], lines)
    prefetch_related_objects([round_], "scale__grades")
    context = {
        **frame(request, round_),
        "progress": round_progress,
        "raters": round_progress.raters,
        "most": max((rater.answered for rater in round_progress.raters), default=0),
        "reasons": reasons,
        "unrateable": sum(rater.unrateable for rater in round_progress.raters),
        "queries": {**_queries(queries), "hidden": hidden},
        "top": max(round_.scale.values()),
        "to_invite": to_invite(round_),
        "by_link": settings.INVITE_LINKS,
        "choosing": hooks.status(round_),
    }
    rows = pairs_of(round_, request.user)
    return answer(
        request,
        PAIRS.worded_for(round_),
        rows,
        "judgments/progress/round_progress.html",
        context,
        many=round_.pairs_made,
    )


def _visible_queries(round_: Round, rows: list[Any], reader: Any) -> tuple[list[Any], int]:
    """Return the queries without a pair that the reader may still grade, and how many are left out."""
    untold = pairs_with_hidden_grades(reader, round_)
    if not rows or not untold.exists():
        return rows, 0
    if max(round_report.events(round_), round_.slots_made) > round_report.AT_ONCE:
        return [], len(rows)
    names = Query.of_any_kind.filter(pk__in=untold.values("query")).values_list("uuid", flat=True)
    hidden = {str(uuid) for uuid in names}
    visible_rows = [row for row in rows if row[0] not in hidden]
    return visible_rows, len(rows) - len(visible_rows)


def _queries(rows: list[Any]) -> dict[str, Any]:
    """Return the numbers of complete, started and untouched queries, and the least complete ones."""
    begun = [row for row in rows if 0 < row[3] < row[2]]
    done = sum(row[3] >= row[2] for row in rows)
    shown = [
        {"uuid": uuid, "text": text, "wanted": wanted, "filled": filled} for uuid, text, wanted, filled in begun[:SHOWN]
    ]
    untouched = len(rows) - done - len(begun)
    return {"all": len(rows), "done": done, "begun": len(begun), "untouched": untouched, "rows": shown}


def _file(round_: Round, name: str, heads: list[str], rows: Iterable[list[Any]]) -> HttpResponse:
    lines = [csv_row(heads), *(csv_row(["" if cell is None else escape(str(cell)) for cell in row]) for row in rows)]
    return attachment(f"{round_.collection.slug}-{name}.csv", "".join(lines))
