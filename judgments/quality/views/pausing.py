"""Views for a lead to pause or resume a rater, or to return their judgments to the queue."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.counted_nouns import amount
from assay.core.errors import AssayError
from judgments.models import Job, RoundRater
from judgments.quality import pausing, qualification
from judgments.quality.pausing import Choice
from judgments.quality.rater_judgments import round_rater_of
from judgments.rounds.views.rounds import frame
from judgments.web import access
from judgments.web.forms import AssayForm
from judgments.web.pages import errors_as_messages, form_page, post_action


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
        label="Judged in fewer seconds than (optional)",
        required=False,
        min_value=0.1,
        max_value=3600,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Judgments without a time are not excluded.",
    )

    @property
    def choice(self) -> Choice:
        """Return the chosen conditions of a valid form."""
        since: datetime | None = self.cleaned_data["since"]
        lines = self.cleaned_data["queries"].splitlines()
        queries = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
        return Choice(since, queries, self.cleaned_data["quicker_than"])


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
                    messages.success(request, "A job is excluding the judgments.")
                    return redirect("job", done.uuid)
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
