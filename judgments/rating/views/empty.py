"""Station page without a document: the reason and the next steps."""

from __future__ import annotations

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from judgments import hooks
from judgments.models import Round
from judgments.rating import inserted_check_counts, slot_search, submission
from judgments.rating.views.station_data import outbox_data
from judgments.rounds.rounds import is_rater

# Seconds until the page reloads while pairs are being chosen: short at first, then longer.
SOON, SELDOM = 4, 60


def nothing(request: HttpRequest, round_: Round, status: int = 200) -> HttpResponse:
    """Show why there is no document, and the next steps."""
    own = inserted_check_counts.own(round_, request.user)
    leased = slot_search.leased(round_, timezone.now()).exclude(rater=request.user)
    leased = leased.filter(number__lte=F("pair__ratings_wanted"))
    is_open = round_.state == Round.State.OPEN
    context = {
        "round": round_,
        "collection": round_.collection,
        "is_rater": is_rater(request.user, round_),
        "paused": round_.raters.filter(user=request.user, paused_at__isnull=False).first() if is_open else None,
        "answered": own.graded + own.unrateable,
        # Slots left for other raters, since this rater has had each of their pairs. Extra ratings are not included:
        # one more after an answer was changed would reveal that the answer differs from another one.
        "waiting": slot_search.planned_unfilled(round_) if is_open else 0,
        # When the first lease ends, if its rater does not answer.
        "free_at": leased.order_by("lease_until").values_list("lease_until", flat=True).first() if is_open else None,
        "look_again": _look_again(request) if round_.growing else 0,
        # Leads see the details of the error; a rater only learns that waiting does not help.
        "held_up": (hooks.status(round_) or {}).get("state") == "stopped",
        "undoable": is_open and submission.last_answer(round_, request.user) is not None,
        "others": Round.objects.open_to(request.user).exclude(pk=round_.pk).select_related("collection"),
        "data": outbox_data(request, round_),
    }
    return render(request, "judgments/rating/station_empty.html", context, status=status)


def _look_again(request: HttpRequest) -> int:
    """Return the seconds until the page reloads: twice the previous interval."""
    waited = request.GET.get("waited", "")
    before = int(waited) if waited.isascii() and waited.isdigit() and len(waited) < 4 else 0
    return min(max(SOON, 2 * before), SELDOM)
