"""Page for a lead to change how pairs are assigned while raters work."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from judgments.models import Round
from judgments.rounds import settings as round_settings
from judgments.rounds.forms import HandingOutForm
from judgments.rounds.views.rounds import frame
from judgments.web import access


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    form = HandingOutForm(round_, request.POST if request.method == "POST" else None).worded_for(round_)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            round_settings.change(round_, form.changes, actor=request.user)
            messages.success(request, "Settings saved. Pairs that raters have open don’t change.")
            return redirect("round_progress", round_.uuid)
    context = {**frame(request, round_), "form": form, "closed": round_.state == Round.State.CLOSED}
    return render(request, "judgments/rounds/round_settings.html", context, status=form.status)
