"""Views for a lead to pause or resume a rater, or to return their judgments to the queue."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from judgments import access, calibration, pausing
from judgments.core.amounts import amount
from judgments.core.errors import AssayError
from judgments.forms import AssayForm
from judgments.models import Job, RoundRater
from judgments.pausing import Choice
from judgments.views.quality import asked_for
from judgments.views.rounds import frame


class RequeueForm(AssayForm):
    """Which judgments, and why."""

    since = forms.DateTimeField(
        label="Given since (optional)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"],
        help_text="UTC. Empty means from the beginning.",
    )
    queries = forms.CharField(
        label="Of these queries only (optional)",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Query ids, one a line. Empty means all queries.",
    )

    quicker_than = forms.FloatField(
        label="Given in less than so many seconds (optional)",
        required=False,
        min_value=0.1,
        max_value=3600,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="What was not timed stays.",
    )

    @property
    def choice(self) -> Choice:
        """What was chosen, once the form is valid."""
        since: datetime | None = self.cleaned_data["since"]
        lines = self.cleaned_data["queries"].splitlines()
        queries = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
        return Choice(since, queries, self.cleaned_data["quicker_than"])


def _rater(request: HttpRequest, uuid: str, pseudonym: str) -> RoundRater:
    return asked_for(access.round_for(request.user, uuid, access.LEADS), pseudonym)


@login_required
@require_POST
def pause(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    asked = _rater(request, uuid, rater)
    try:
        pausing.pause(asked, reason=request.POST.get("reason", "").replace("\0", ""), actor=request.user)
        messages.success(request, f"{asked.user} is paused, and reads why. What they had in hand went back.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("round_rater", asked.round.uuid, asked.pseudonym)


@login_required
@require_POST
def resume(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    asked = _rater(request, uuid, rater)
    try:
        pausing.resume(asked, actor=request.user)
        messages.success(request, f"{asked.user} may go on.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("round_rater", asked.round.uuid, asked.pseudonym)


@login_required
@require_POST
def let_pass(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    asked = _rater(request, uuid, rater)
    try:
        calibration.let_pass(asked, actor=request.user)
        messages.success(request, f"{asked.user} may begin.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("calibration", asked.round.uuid)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def requeue(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    """First how many it would be, then, with a reason, the act; it cannot be taken back, and the page says so."""
    asked = _rater(request, uuid, rater)
    sent = request.POST if request.method == "POST" else request.GET
    form = RequeueForm(sent if request.method == "POST" or RequeueForm.base_fields.keys() & sent.keys() else None)
    context: dict[str, Any] = {**frame(request, asked.round), "asked": asked, "form": form}
    status = 200
    if form.is_bound and form.is_valid():
        if request.method == "POST":
            try:
                reason = request.POST.get("reason", "").replace("\0", "")
                done = pausing.start(asked, form.choice, reason=reason, actor=request.user)
                if isinstance(done, Job):
                    messages.success(request, "They are being set aside, part by part.")
                    return redirect("job", done.uuid)
                messages.success(request, f"{amount(done, 'judgment')} set aside. Their places are free for others.")
                return redirect("round_rater", asked.round.uuid, asked.pseudonym)
            except AssayError as error:
                context |= {"error": str(error), "reason": reason}
                status = 422
        with form.telling():
            context["preview"] = pausing.preview(asked, form.choice)
        status = max(status, form.status)
    elif form.is_bound:
        status = 422
    return render(request, "judgments/round_requeue.html", context, status=status)
