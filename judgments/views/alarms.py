"""View for a lead to acknowledge an alert or to reactivate it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from judgments import access, alarms, quality_checks
from judgments.core.errors import AssayError
from judgments.views.quality import asked_for


@login_required
@require_POST
def alarm(request: HttpRequest, uuid: str, rater: str, check: str) -> HttpResponse:
    asked = asked_for(access.round_for(request.user, uuid, access.LEADS), rater)
    try:
        if "again" in request.POST:
            alarms.ring_again(asked, check, actor=request.user)
            messages.success(request, "It rings again.")
        else:
            report, finding = quality_checks.finding_of(asked, check, viewer=request.user)
            note = request.POST.get("note", "").replace("\0", "")
            alarms.look_at(asked, finding, graded=report.graded, note=note, actor=request.user)
            messages.success(request, "Noted. It rings again when its numbers grow markedly.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("round_rater", asked.round.uuid, asked.pseudonym)
