"""Views for a rater to join a round and to release their leased pairs."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from assay.core.counted_nouns import amount
from assay.core.errors import Conflict, NotAllowed
from judgments.members import round_raters
from judgments.rating import assignment
from judgments.web import access
from judgments.web.pages import post_action


@post_action
def join(request: HttpRequest, uuid: str) -> HttpResponse:
    """Join the round and start rating; a user who may not join sees the reason on the home page."""
    round_ = access.round_for(request.user, uuid, access.RATERS)
    try:
        round_raters.join(round_, rater=request.user)
    except (Conflict, NotAllowed) as refusal:
        messages.error(request, str(refusal))
        return redirect("home")
    return redirect("rate", round_.uuid)


@post_action
def release(request: HttpRequest, uuid: str) -> HttpResponse:
    """Release the rater's leased pairs, so that others can get them at once."""
    round_ = access.round_for(request.user, uuid, access.RATERS)
    given = assignment.release(round_, request.user)
    message = f"Released {amount(given, 'document')}." if given else "You had no leased documents."
    messages.success(request, f"{message} Your judgments are saved.")
    return redirect("home")
