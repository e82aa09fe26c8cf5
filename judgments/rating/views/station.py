"""Rater station: show the next document and record the rater's answer.

The station shows one document per page, or the documents of a query as a list. Both are plain forms, which work
without JavaScript: an answer is recorded before the next document is shown. The station's script
(static/js/station.js) takes over the same form, shows prefetched documents, and sends its answers to the
API. Nothing here knows rank, system, score, or other raters' grades.
"""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from assay.core.errors import AssayError, CalibrationFirst, Conflict, NotValid, Paused
from judgments.guidelines import unread_changes
from judgments.models import Judgment, Pair, Round
from judgments.rating import assignment, start_requirements, submission
from judgments.rating.recent_answers import LastAnswer, last_answer_for
from judgments.rating.views import query_list
from judgments.rating.views.answer_form import in_words, read_answer, read_list, reasons, result_message
from judgments.rating.views.cards import card_again, cards
from judgments.rating.views.empty import nothing
from judgments.rating.views.station_data import station_context
from judgments.web import access
from judgments.web.posted_values import uuid_of

MODES = ("one", "list")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rate(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.RATERS)
    try:
        return _answered(request, round_) if request.method == "POST" else _shown(request, round_)
    except CalibrationFirst:
        return redirect("calibrate", round_.uuid)
    except Paused:
        return nothing(request, round_, 403 if request.method == "POST" else 200)


def _shown(request: HttpRequest, round_: Round) -> HttpResponse:
    if round_.state != Round.State.OPEN:
        return nothing(request, round_)
    start_requirements.check_ready(round_, request.user)
    mode = _mode(request, round_)
    if "again" in request.GET:
        if (last := _again(request, round_, request.GET["again"])) is not None:
            return _page(request, round_, last.pair, again=last, note=last.answer.note)
        messages.info(request, "That answer is no longer among your recent ones.", extra_tags="nothing")
    if mode == "list":
        return query_list.page(request, round_) or nothing(request, round_)
    pair = _next(request, round_, request.GET.get("pair", ""))
    return _page(request, round_, pair) if pair else nothing(request, round_)


@login_required
@require_safe
def judge(request: HttpRequest, uuid: str) -> HttpResponse:
    """Redirect from the station's other address."""
    return redirect("rate", access.round_for(request.user, uuid, access.EVERYBODY).uuid)


def _mode(request: HttpRequest, round_: Round) -> str:
    """Return the mode that the rater chose last in this browser, or the round's initial mode."""
    mode, key = request.GET.get("mode", ""), f"station-{round_.uuid}"
    if mode in MODES and request.session.get(key) != mode:
        request.session[key] = mode
    return str(request.session.get(key) or ("list" if round_.as_list else "one"))


def _next(request: HttpRequest, round_: Round, wanted: str) -> Pair | None:
    pairs = assignment.claim_batch(round_, rater=request.user, size=1)
    named = uuid_of(wanted)
    pair = assignment.in_hand(round_, request.user, named) if named else None
    return pair or (pairs[0] if pairs else None)


def _again(request: HttpRequest, round_: Round, wanted: str) -> LastAnswer | None:
    """Return one of the rater's last answers, to change it."""
    named = uuid_of(wanted)
    assignment.check_open(round_, request.user)
    return last_answer_for(round_, request.user, named) if named else None


def _answered(request: HttpRequest, round_: Round) -> HttpResponse:
    """Record the answer, then redirect to the next document, so that a reload sends nothing twice."""
    if "read" in request.POST:
        unread_changes.mark_read(round_, request.user)
        return redirect("rate", round_.uuid)
    try:
        if "undo" in request.POST:
            return _undo(request, round_)
        if "list" in request.POST:
            return query_list.taken(request, round_, *read_list(request.POST))
        if "again" in request.POST and request.POST.get("state") == Judgment.State.LATER:
            return redirect("rate", round_.uuid)  # an answered document cannot be deferred
        receipt = submission.submit(round_, read_answer(request.POST), rater=request.user)
    except (NotValid, Conflict) as error:
        return _refused(request, round_, error)
    messages.success(request, result_message(round_, receipt.judgment), extra_tags="answered")
    return redirect("rate", round_.uuid)


def _undo(request: HttpRequest, round_: Round) -> HttpResponse:
    last = submission.last_answer(round_, request.user)
    if last is None:
        messages.info(request, "There is nothing to undo.", extra_tags="nothing")
        return redirect("rate", round_.uuid)
    submission.undo(round_, last.client_id, rater=request.user)
    messages.success(request, "Undone. Grade the pair again.", extra_tags="undone")
    return redirect(f"{reverse('rate', args=[round_.uuid])}?pair={last.pair.uuid}")


def _refused(request: HttpRequest, round_: Round, error: AssayError) -> HttpResponse:
    """Show the same document again, with the error and the rater's input."""
    status = 409 if isinstance(error, Conflict) else 422
    if "list" in request.POST:
        again = query_list.page(request, round_, status, error=str(error))
    else:
        wanted = request.POST.get("pair", "")
        before = _again(request, round_, wanted) if "again" in request.POST else None
        pair = before.pair if before else _next(request, round_, wanted)
        more = {"error": str(error), "note": request.POST.get("note", ""), "again": before}
        again = _page(request, round_, pair, status, **more) if pair else None
    if again is None:
        messages.error(request, str(error))
        return nothing(request, round_, status)
    return again


def _page(
    request: HttpRequest, round_: Round, pair: Pair, status: int = 200, again: LastAnswer | None = None, **more: Any
) -> HttpResponse:
    if again is None:
        (card,) = cards(round_, request.user, [pair])
    else:
        card = card_again(round_, request.user, pair, answered=again.answered)
        more["before"] = in_words(round_, again.answer)
    context = {
        **station_context(request, round_),
        "card": card,
        "pair": pair,
        "client_id": uuid_module.uuid4(),
        "reasons": reasons(round_),
        "facts": card.facts,
        "undoable": submission.last_answer(round_, request.user) is not None,
        "news": unread_changes.news(round_, request.user),
        "again": again,
        **more,
    }
    # A rater in list mode returns to the list; otherwise the next documents follow the one opened again.
    alone = again is not None and _mode(request, round_) == "list"
    context["data"] |= {"card": {**card.script_data, "again": again is not None}, "alone": alone}
    return render(request, "judgments/rating/station.html", context, status=status)
