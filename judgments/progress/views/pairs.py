"""List of a round's pairs: how many ratings each has, and the grades so far."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Exists, OuterRef, Prefetch, QuerySet, Subquery, Value, When
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Judgment, Pair, Round, RoundRater, Slot
from judgments.web.figures import grade
from judgments.web.lists import Choice, Column, Listing, how_many

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
        Column(
            "query",
            "Query",
            order="query__text",
            value=lambda pair: pair.query.text,
            url=lambda pair: reverse("query", args=[pair.round.collection.slug, pair.query.uuid]),
            head=True,
            style="clip",
        ),
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
            url=lambda pair: reverse("document", args=[pair.round.collection.slug, pair.document.uuid]),
            style="clip",
        ),
        Column("query_id", "Query id", order="query__query_id", value=lambda pair: pair.query.query_id, style="id"),
        Column("doc_id", "Document id", order="document__doc_id", value=lambda pair: pair.document.doc_id, style="id"),
    ),
    search=("query__text", "query__query_id", "document__title", "document__doc_id"),
    choices=(Choice("ratings", "Ratings", _by_fullness, [("none", "none yet"), ("some", "some"), ("all", "all")]),),
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
