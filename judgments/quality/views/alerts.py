"""View for a lead to mark an alert as reviewed or to turn it on again."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from assay.core.errors import AssayError
from judgments.quality import alerts, checks
from judgments.quality.views.quality import round_rater_of
from judgments.web import access


@login_required
@require_POST
def alarm(request: HttpRequest, uuid: str, rater: str, check: str) -> HttpResponse:
    round_rater = round_rater_of(access.round_for(request.user, uuid, access.LEADS), rater)
    try:
        if "again" in request.POST:
            alerts.undo_acknowledgment(round_rater, check, actor=request.user)
            messages.success(request, "Alert turned on.")
        else:
            report, finding = checks.finding_of(round_rater, check, viewer=request.user)
            note = request.POST.get("note", "").replace("\0", "")
            alerts.acknowledge(round_rater, finding, graded=report.graded, note=note, actor=request.user)
            messages.success(request, "Alert turned off. It turns on again if the numbers become clearly worse.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("round_rater", round_rater.round.uuid, round_rater.pseudonym)
