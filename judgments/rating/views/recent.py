"""Page of the rater's recent answers, each of which can be changed."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from assay.core.errors import CalibrationFirst, Paused
from judgments.models import Round
from judgments.rating import assignment, start_requirements
from judgments.rating.recent_answers import MOST, last_answers
from judgments.rating.views.answer_form import in_words
from judgments.rating.views.station_data import outbox_data
from judgments.web import access


@login_required
@never_cache
@require_safe
def last(request: HttpRequest, uuid: str) -> HttpResponse:
    """Show the rater's own answers while they can be changed; otherwise the station shows why they cannot."""
    round_ = access.round_for(request.user, uuid, access.RATERS)
    if round_.state != Round.State.OPEN:
        return redirect("rate", round_.uuid)
    assignment.check_open(round_, request.user)  # type: ignore[arg-type]
    try:
        start_requirements.check_ready(round_, request.user)  # type: ignore[arg-type]
    except (CalibrationFirst, Paused):
        return redirect("rate", round_.uuid)
    answers = last_answers(round_, request.user)  # type: ignore[arg-type]
    context = {
        "round": round_,
        "collection": round_.collection,
        "rows": [(one, in_words(round_, one.answer)) for one in answers],
        "most": MOST,
        "top": max(round_.scale.values()),
        "data": outbox_data(request, round_),
    }
    return render(request, "judgments/rating/station_last.html", context)
