"""List of one rater's judgments: grades, times, and other raters' grades, as evidence for an alert."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Judgment, Probe, RoundRater
from judgments.quality import rater_judgments
from judgments.quality.rater_judgments import grades_of_others, round_rater_of
from judgments.rounds.views.rounds import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import grade
from judgments.web.lists import Choice, Listing, answer
from judgments.web.pages import get_page

APART = [
    ("0", "same as all others"),
    ("1", "1 step or more from another rater"),
    ("2", "2 steps or more from another rater"),
]
QUICKER = [("1", "in less than 1 s"), ("2", "in less than 2 s"), ("5", "in less than 5 s")]
UNABLE = "cannot judge"


class _Cells:
    """Cells of one rater's list: grades on the round's scale, and links."""

    def __init__(self, round_rater: RoundRater, top: int) -> None:
        self._round, self._top = round_rater.round, top
        self._slug = round_rater.round.collection.slug
        self._back = reverse("rater_requeue", args=[round_rater.round.uuid, round_rater.pseudonym])

    def chip(self, value: int | None) -> SafeString:
        return format_html('<span class="badge">{}</span>', UNABLE) if value is None else grade(value, self._top)

    def given(self, row: Any) -> SafeString:
        late = SafeString(
            ' <span class="badge" title="The pair already had all its ratings: stored, not counted">surplus</span>'
        )
        return self.chip(row.grade) + (late if row.surplus else SafeString(""))

    def again(self, row: Any) -> SafeString:
        return SafeString("") if row.again is None else self.chip(row.again)

    def others(self, row: Any) -> SafeString:
        shown = ((self.chip(value), name) for name, value in grades_of_others(row).items())
        chips = format_html_join(" ", '<span class="nowrap">{} <span class="mono muted">{}</span></span>', shown)
        if not row.pair.spread:
            return chips
        return format_html('<a href="{}">{}</a>', reverse("conflict", args=[self._round.uuid, row.pair.uuid]), chips)

    def set_aside(self, row: Any) -> SafeString:
        query = urlencode({"since": "", "queries": row.pair.query.query_id})
        since = urlencode({"since": f"{row.created_at:%Y-%m-%dT%H:%M:%S}"})
        return format_html(
            '<a href="{}?{}">this {}</a> · <a href="{}?{}">from here on</a>',
            self._back,
            query,
            self._round.query_kind,
            self._back,
            since,
        )

    def query(self, row: Any) -> str:
        return reverse("query", args=[self._slug, row.pair.query.uuid])

    def document(self, row: Any) -> str:
        return reverse("document", args=[self._slug, row.pair.document.uuid])


def _listing(round_rater: RoundRater) -> Listing:
    """Return the list; its filters use the grades of the round's scale."""
    scale = list(round_rater.round.scale.grades.all())
    return Listing(
        name="judgments",
        noun=("judgment", "judgments"),
        columns=_columns(round_rater, _Cells(round_rater, max(one.value for one in scale))),
        search=("pair__query__text", "pair__query__query_id", "pair__document__title", "pair__document__doc_id"),
        choices=(
            Choice("given", "Grade", _given, [*((str(one.value), str(one)) for one in scale), ("unrateable", UNABLE)]),
            Choice(
                "apart",
                "Compared with others",
                lambda rows, value: rater_judgments.apart(rows, round_rater, int(value)),
                APART,
            ),
            Choice("quicker", "Time", lambda rows, value: rows.filter(seconds_active__lt=int(value)), QUICKER),
        ),
        order="-at",
    )


def _columns(round_rater: RoundRater, cells: _Cells) -> tuple[Column, ...]:
    again = Column("again", "Repeat", value=lambda row: row.again, show=cells.again)
    return (
        Column("at", "Time", order="pk", value=lambda row: row.created_at, style="nowrap"),
        Column("query", "Query", order="pair__query__text", value=_query, url=cells.query, head=True, style="clip"),
        Column(
            "document", "Document", order="pair__document__title", value=_document, url=cells.document, style="clip"
        ),
        Column("grade", "Grade", order="grade", value=_grade_in_file, show=cells.given, style="nowrap"),
        Column("others", "Others", value=_others_in_file, show=cells.others),
        *(
            [again]
            if round_rater.round.probes.filter(rater=round_rater.user_id, kind=Probe.Kind.REPEAT).exists()
            else []
        ),
        Column(
            "seconds", "Seconds", order="seconds_active", numeric=True, digits=1, value=lambda row: row.seconds_active
        ),
        Column("characters", "Characters", numeric=True),
        Column("said", "Note", value=_note_text, style="clip muted"),
        Column("aside", "Exclude", value=lambda row: "", show=cells.set_aside, style="nowrap small"),
        Column("query_id", "Query id", order="pair__query__query_id", value=_query_id, style="id"),
        Column("doc_id", "Document id", order="pair__document__doc_id", value=_doc_id, style="id"),
    )


def _given(rows: Any, value: str) -> Any:
    if value == Judgment.State.UNRATEABLE:
        return rows.filter(state=value)
    return rows.filter(state=Judgment.State.GRADED, grade=int(value))


def _others_in_file(row: Any) -> str:
    return " ".join(
        f"{name}:{'cannot-judge' if value is None else value}" for name, value in grades_of_others(row).items()
    )


def _grade_in_file(row: Any) -> Any:
    return UNABLE if row.grade is None else row.grade


def _seconds(row: Any) -> Any:
    return row.seconds_active


def _note_text(row: Any) -> str:
    return " ".join(filter(None, [row.reason, row.note]))


def _query(row: Any) -> str:
    return str(row.pair.query.text)


def _document(row: Any) -> str:
    return str(row.pair.document)


def _query_id(row: Any) -> str:
    return str(row.pair.query.query_id)


def _doc_id(row: Any) -> str:
    return str(row.pair.document.doc_id)


@get_page
def answers(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    round_rater = round_rater_of(round_, rater)
    rows = rater_judgments.beside_others(rater_judgments.answers_of(round_rater, reader=request.user), round_rater)
    quicker = request.GET.get("quicker", "")
    context = {
        **frame(request, round_),
        "round_rater": round_rater,
        "hides": pairs_with_hidden_grades(request.user, round_).exists(),
        "quicker": quicker if quicker in dict(QUICKER) else "",
    }
    return answer(
        request, _listing(round_rater).worded_for(round_), rows, "judgments/quality/rater_answers.html", context
    )
