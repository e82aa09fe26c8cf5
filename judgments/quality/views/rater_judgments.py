"""Pages about one rater of a round: judgments as evidence for an alert, and actions to pause, resume and exclude."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from assay.core.errors import AssayError
from assay.core.text_rules import amount
from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Job, Judgment, Probe, Round, RoundRater
from judgments.quality import pausing, qualification, rater_judgments
from judgments.quality.rater_judgments import grades_of_others, round_rater_of
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import grade
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import errors_as_messages, finish, form_page, get_page, post_action

APART = [
    ("0", "same as all others"),
    ("1", "1 step or more from another rater"),
    ("2", "2 steps or more from another rater"),
]
QUICKER = [("1", "in less than 1 s"), ("2", "in less than 2 s"), ("5", "in less than 5 s")]
UNABLE = "cannot judge"


LATE = SafeString(
    ' <span class="badge" title="Stored but not counted, because the pair already had all its ratings">surplus</span>'
)


def _listing(round_rater: RoundRater) -> Listing:
    """Return the list; its cells and filters use the grades of the round's scale."""
    round_ = round_rater.round
    scale, slug = list(round_.scale.grades.all()), round_.collection.slug
    top = max(one.value for one in scale)
    requeue = reverse("rater_requeue", args=[round_.uuid, round_rater.pseudonym])

    def chip(value: int | None) -> SafeString:
        return format_html('<span class="badge">{}</span>', UNABLE) if value is None else grade(value, top)

    def others(row: Any) -> SafeString:
        shown = ((chip(value), name) for name, value in grades_of_others(row).items())
        chips = format_html_join(" ", '<span class="nowrap">{} <span class="mono muted">{}</span></span>', shown)
        if not row.pair.spread:
            return chips
        return format_html('<a href="{}">{}</a>', reverse("conflict", args=[round_.uuid, row.pair.uuid]), chips)

    def exclude(row: Any) -> SafeString:
        query = urlencode({"since": "", "queries": row.pair.query.query_id})
        since = urlencode({"since": f"{row.created_at:%Y-%m-%dT%H:%M:%S}"})
        links = '<a href="{0}?{1}">this {2}</a> · <a href="{0}?{3}">from here on</a>'
        return format_html(links, requeue, query, round_.query_kind, since)

    again = Column(
        "again", "Repeat", value="again", show=lambda row: SafeString("") if row.again is None else chip(row.again)
    )
    repeats = round_.probes.filter(rater=round_rater.user_id, kind=Probe.Kind.REPEAT).exists()
    return Listing(
        name="judgments",
        noun=("judgment", "judgments"),
        columns=(
            Column("at", "Time", order="pk", value="created_at", style="nowrap"),
            Column(
                "query",
                "Query",
                order="pair__query__text",
                value="pair.query.text",
                url=lambda row: reverse("query", args=[slug, row.pair.query.uuid]),
                head=True,
                style="clip",
            ),
            Column(
                "document",
                "Document",
                order="pair__document__title",
                value=lambda row: str(row.pair.document),
                url=lambda row: reverse("document", args=[slug, row.pair.document.uuid]),
                style="clip",
            ),
            Column(
                "grade",
                "Grade",
                order="grade",
                value=lambda row: UNABLE if row.grade is None else row.grade,
                show=lambda row: chip(row.grade) + (LATE if row.surplus else SafeString("")),
                style="nowrap",
            ),
            Column("others", "Other raters", value=_others_in_file, show=others),
            *([again] if repeats else []),
            Column("seconds", "Seconds", "seconds_active", True, digits=1, value="seconds_active"),
            Column("characters", "Document characters", numeric=True),
            Column(
                "said", "Note", value=lambda row: " ".join(filter(None, [row.reason, row.note])), style="clip muted"
            ),
            Column("aside", "Exclude", value=lambda row: "", show=exclude, style="nowrap small"),
            Column("query_id", "Query id", "pair__query__query_id", value="pair.query.query_id", style="id"),
            Column("doc_id", "Document id", "pair__document__doc_id", value="pair.document.doc_id", style="id"),
        ),
        search=("pair__query__text", "pair__query__query_id", "pair__document__title", "pair__document__doc_id"),
        choices=(
            ChoiceFilter(
                "given", "Grade", _given, [*((str(one.value), str(one)) for one in scale), ("unrateable", UNABLE)]
            ),
            ChoiceFilter(
                "apart",
                "Compared with others",
                lambda rows, value: rater_judgments.apart(rows, round_rater, int(value)),
                APART,
            ),
            ChoiceFilter("quicker", "Time", lambda rows, value: rows.filter(seconds_active__lt=int(value)), QUICKER),
        ),
        order="-at",
    )


def _given(rows: Any, value: str) -> Any:
    if value == Judgment.State.UNRATEABLE:
        return rows.filter(state=value)
    return rows.filter(state=Judgment.State.GRADED, grade=int(value))


def _others_in_file(row: Any) -> str:
    given = grades_of_others(row).items()
    return " ".join(f"{name}:{'cannot-judge' if value is None else value}" for name, value in given)


@get_page.of_round(access.LEADS)
def answers(request: HttpRequest, round_: Round, rater: str) -> HttpResponse:
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


class RequeueForm(AssayForm):
    since = forms.DateTimeField(
        label="Judged since (optional)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"],
        help_text="UTC. Leave it empty for no limit.",
    )
    queries = forms.CharField(
        label="Only these queries (optional)",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Query ids, one per line. Leave it empty for all queries.",
    )

    quicker_than = forms.FloatField(
        label="Judged in less than (seconds, optional)",
        required=False,
        min_value=0.1,
        max_value=3600,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Judgments without a recorded time are not excluded.",
    )

    @property
    def choice(self) -> pausing.JudgmentFilter:
        """Return the chosen conditions of a valid form."""
        since: datetime | None = self.cleaned_data["since"]
        lines = self.cleaned_data["queries"].splitlines()
        queries = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
        return pausing.JudgmentFilter(since, queries, self.cleaned_data["quicker_than"])


def _rater(request: HttpRequest, uuid: str, pseudonym: str) -> RoundRater:
    return round_rater_of(access.round_for(request.user, uuid, access.LEADS), pseudonym)


@post_action
def pause(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    round_rater = _rater(request, uuid, rater)
    with errors_as_messages(request):
        pausing.pause(round_rater, reason=request.POST.get("reason", "").replace("\0", ""), actor=request.user)
        messages.success(
            request, f"{round_rater.user} is paused and can read the reason. Their leased pairs were released."
        )
    return redirect("round_rater", round_rater.round.uuid, round_rater.pseudonym)


@post_action
def resume(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    round_rater = _rater(request, uuid, rater)
    with errors_as_messages(request):
        pausing.resume(round_rater, actor=request.user)
        messages.success(request, f"{round_rater.user} was resumed.")
    return redirect("round_rater", round_rater.round.uuid, round_rater.pseudonym)


@post_action
def let_pass(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    round_rater = _rater(request, uuid, rater)
    with errors_as_messages(request):
        qualification.waive(round_rater, actor=request.user)
        messages.success(request, f"{round_rater.user} can start rating.")
    return redirect("calibration", round_rater.round.uuid)


@form_page
def requeue(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    """Show the number of judgments first, then exclude them with a reason; this cannot be undone."""
    round_rater = _rater(request, uuid, rater)
    data = request.POST if request.method == "POST" else request.GET
    form = RequeueForm(data if request.method == "POST" or RequeueForm.base_fields.keys() & data.keys() else None)
    form.worded_for(round_rater.round)
    context: dict[str, Any] = {**frame(request, round_rater.round), "round_rater": round_rater, "form": form}
    status = 200
    if form.is_bound and form.is_valid():
        if request.method == "POST":
            try:
                reason = request.POST.get("reason", "").replace("\0", "")
                done = pausing.start(round_rater, form.choice, reason=reason, actor=request.user)
                if isinstance(done, Job):
                    return finish(request, "A job is excluding the judgments.", "job", done.uuid)
                messages.success(request, f"{amount(done, 'judgment')} excluded. Other raters will grade the pairs.")
                return redirect("round_rater", round_rater.round.uuid, round_rater.pseudonym)
            except AssayError as error:
                context |= {"error": str(error), "reason": reason}
                status = 422
        with form.telling():
            context["preview"] = pausing.preview(round_rater, form.choice)
        status = max(status, form.status)
    elif form.is_bound:
        status = 422
    return render(request, "judgments/quality/round_requeue.html", context, status=status)
