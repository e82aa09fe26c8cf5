"""Views for a rater to join a round and to release their leased pairs."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from judgments import access, assignment, inviting
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotAllowed


@login_required
@require_POST
def join(request: HttpRequest, uuid: str) -> HttpResponse:
    """Join, and begin; who may not is told why on their own page."""
    round_ = access.round_for(request.user, uuid, access.RATERS)
    try:
        inviting.join(round_, rater=request.user)
    except (Conflict, NotAllowed) as refusal:
        messages.error(request, str(refusal))
        return redirect("home")
    return redirect("rate", round_.uuid)


@login_required
@require_POST
def release(request: HttpRequest, uuid: str) -> HttpResponse:
    """Give back what is in hand: others get it at once."""
    round_ = access.round_for(request.user, uuid, access.RATERS)
    given = assignment.release(round_, request.user)
    said = f"Others can take the {amount(given, 'document')} that you held." if given else "You held nothing."
    messages.success(request, f"{said} What you answered is saved.")
    return redirect("home")
