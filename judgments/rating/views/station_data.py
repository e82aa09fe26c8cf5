"""Data for the station's script: its settings, and the next documents as fragments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from assay.core.errors import AssayError
from judgments.models import Pair, Probe, Round, Slot, User
from judgments.rating import assignment, inserted_checks
from judgments.rating.keyboard_shortcuts import GRADES, keys_of, labels, table
from judgments.rating.views.cards import Card, cards, fragments
from judgments.web import access
from judgments.web.api_errors import shape, status_and_body
from judgments.web.posted_values import uuid_of

# Number of documents sent to the browser at a time, and the most that it may hold.
BATCH, MOST_HELD = 12, 36
NOBODY = "Your session has ended. Log in again; your judgments are stored in this browser until then."


def station_context(request: HttpRequest, round_: Round) -> dict[str, Any]:
    """Return the context of both modes: the scale, the keys, and the data for the script."""
    shared = keys_context(round_, request.user)
    return {
        "round": round_,
        **shared,
        "data": {
            **outbox_data(request, round_),
            "next": reverse("rate_next", args=[round_.uuid]),
            "grades": {grade.value: grade.label for grade in shared["grades"]},
            "keys": table(request.user),
            "growing": round_.growing,
            "noun": round_.kind,
            "query_noun": round_.query_kind,
        },
    }


def keys_context(round_: Round, user: Any) -> dict[str, Any]:
    """Return the grades of the round and the user's keys."""
    grades = list(round_.scale.grades.all())
    return {
        "grades": grades,
        "top": max(grade.value for grade in grades),
        "keys": keys_of(user),
        "label": labels(user),
        "long_scale": any(grade.value >= 10 for grade in grades),
        "own_grades": {act: key for act, key in user.station_keys.items() if act in GRADES},
    }


def outbox_data(request: HttpRequest, round_: Round | None = None) -> dict[str, Any]:
    """Return the user whose answers the browser stores, the addresses to send them to, and the open round, if any."""
    page = reverse("rate", args=[round_.uuid]) if round_ else reverse("home")
    return {
        "user": str(request.user.uuid),
        "name": request.user.get_username(),
        "round": str(round_.uuid) if round_ else "",
        "page": page,
        "login": f"{reverse('login')}?next={page}",
        # The outbox also sends stored answers of other rounds: the script inserts the id of the round.
        "judgments": "/api/v1/rounds/ROUND/judgments/",
    }


@never_cache
@require_POST
def next_cards(request: HttpRequest, uuid: str) -> HttpResponse:
    """Lease the next pairs and return them as fragments; errors use the API's format, because a script reads them."""
    if not _is_theirs(request):
        return JsonResponse(shape(401, NOBODY), status=401)
    try:
        round_ = access.round_for(request.user, uuid, access.RATERS)
        return JsonResponse(_batch(request, round_))
    except AssayError as error:
        status, body = status_and_body(error)
        return JsonResponse(body, status=status)


def _is_theirs(request: HttpRequest) -> bool:
    """Return whether the page belongs to the logged-in user: another user's open page gets no documents."""
    if not request.user.is_authenticated:
        return False
    user = str(request.user.uuid)
    return request.headers.get("X-Assay-Rater", user) == user


def _batch(request: HttpRequest, round_: Round) -> dict[str, Any]:
    """Return the pairs that the browser does not have, and those that are no longer the rater's."""
    rater, looks = request.user, "looks" in request.POST
    most = assignment.LARGEST_BATCH if looks else MOST_HELD
    have = [pair_uuid for one in request.POST.getlist("have")[:most] if (pair_uuid := uuid_of(one))]
    size = min(len(have) + (0 if looks else BATCH), assignment.LARGEST_BATCH)
    claimed = assignment.claim_batch(round_, rater=rater, size=size)
    if looks:
        return {"cards": [], "gone": [str(uuid) for uuid in _gone(round_, rater, have)], "growing": round_.growing}
    held = [pair for pair in claimed if pair.uuid in have]
    new = inserted_checks.fitted(held, [pair for pair in claimed if pair.uuid not in have])
    made, gone = _placed(round_, rater, new, held, have)
    return {
        "cards": [fragments(request, round_, card) for card in made],
        "gone": [str(uuid) for uuid in gone],
        "growing": round_.growing,
    }


def _placed(
    round_: Round, rater: User, new: Sequence[Pair | Probe], held: Sequence[Pair | Probe], have: list[UUID]
) -> tuple[list[Card], list[UUID]]:
    """Return the new pairs as cards, and the browser's pairs that are gone."""
    while True:
        made = cards(round_, rater, new, after=held)
        gone = _gone(round_, rater, have)
        still = [pair for pair in held if pair.uuid not in gone]
        if len(still) == len(held):
            return made, gone
        held = still


def _gone(round_: Round, rater: User, have: list[UUID]) -> list[UUID]:
    """Return the browser's pairs that were answered or reassigned in the meantime."""
    slots = Slot.objects.filter(round=round_, rater=rater, filled_by__isnull=True, pair__uuid__in=have)
    probes = Probe.objects.filter(round=round_, rater=rater, answered=False, uuid__in=have)
    mine = {*slots.values_list("pair__uuid", flat=True), *probes.values_list("uuid", flat=True)}
    return [uuid for uuid in have if uuid not in mine]
