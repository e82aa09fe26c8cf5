"""Small pages of a rater: join a round, recent answers, and keyboard shortcuts."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from assay.core.errors import CalibrationFirst, Conflict, NotAllowed, NotValid, Paused
from assay.core.text_rules import amount
from judgments.members import round_raters
from judgments.models import Round
from judgments.rating import assignment, start_requirements
from judgments.rating.keyboard_shortcuts import GRADES, keys_of, set_keys
from judgments.rating.recent_answers import MOST, last_answers
from judgments.rating.views.answer_form import in_words
from judgments.rating.views.station_data import outbox_data
from judgments.web import access
from judgments.web.pages import finish, form_page, get_page, post_action


@post_action.of_round(access.RATERS)
def join(request: HttpRequest, round_: Round) -> HttpResponse:
    """Join the round and start rating; a user who may not join sees the reason on the home page."""
    try:
        round_raters.join(round_, rater=request.user)
    except (Conflict, NotAllowed) as refusal:
        messages.error(request, str(refusal))
        return redirect("home")
    return redirect("rate", round_.uuid)


@post_action.of_round(access.RATERS)
def release(request: HttpRequest, round_: Round) -> HttpResponse:
    """Release the rater's leased pairs, so that others can get them at once."""
    given = assignment.release(round_, request.user)
    message = f"Released {amount(given, 'document')}." if given else "You had no leased documents."
    return finish(request, f"{message} Your judgments are saved.", "home")


@get_page.of_round(access.RATERS)
@never_cache
def last(request: HttpRequest, round_: Round) -> HttpResponse:
    """Show the rater's own answers while they can be changed; otherwise the station shows why they cannot."""
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


@form_page
def keys(request: HttpRequest) -> HttpResponse:
    """Show every action with its key; an empty form restores the defaults."""
    if request.method != "POST":
        return _page(request, {})
    wanted = {} if "reset" in request.POST else request.POST.dict()
    try:
        set_keys(request.user, {act: text.replace("\0", "") for act, text in wanted.items()})
    except NotValid as error:
        return _page(request, error.fields, wanted, 422)
    messages.success(request, "Default shortcuts restored." if "reset" in request.POST else "Shortcuts saved.")
    return redirect("station_keys")


def _page(
    request: HttpRequest, faults: dict[str, str], bindings: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    own = bindings if bindings is not None else request.user.station_keys
    acts = [(key, own.get(key.act, ""), faults.get(key.act, "")) for key in keys_of(request.user)]
    digits = [(act, act[-1], own.get(act, ""), faults.get(act, "")) for act in GRADES]
    context = {
        "acts": acts,
        "digits": digits,
        "faults": faults,
        "changed": bool(request.user.station_keys),
        "work": Round.objects.open_to(request.user).select_related("collection").first(),
    }
    return render(request, "judgments/rating/station_keys.html", context, status=status)
