"""Data for the station's script: its settings, and the next documents as fragments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from assay.core.errors import AssayError
from judgments.documents.passages import Shown, shown
from judgments.models import Pair, Probe, Round, Slot, User
from judgments.rating import assignment, inserted_checks
from judgments.rating.keyboard_shortcuts import GRADES, keys_of, labels, table
from judgments.rating.rater_progress import RaterPosition, own_part, rater_position
from judgments.web import access
from judgments.web.error_responses import shape, status_and_body
from judgments.web.posted_values import uuid_of

MOST_SEGMENTS = 60


@dataclass(frozen=True)
class PairCard:
    """One pair as shown on the screen."""

    pair: Any

    @cached_property
    def shown(self) -> Shown:
        return shown(self.pair.document, self.pair.query.text)

    @cached_property
    def facts(self) -> list[tuple[str, str]]:
        return facts(self.pair.document.fields)


@dataclass(frozen=True)
class Card(PairCard):
    """One pair with the rater's position."""

    where: RaterPosition

    @cached_property
    def line(self) -> list[tuple[str, float, float]]:
        return line(self.where)

    @property
    def text_kind(self) -> str:
        return "short" if self.shown.excerpt is None else "excerpt"

    @property
    def script_data(self) -> dict[str, Any]:
        """The data of the card for the script."""
        document = self.pair.document
        return {
            "pair": str(self.pair.uuid),
            "query": str(self.pair.query.uuid),
            "text": self.pair.query.text,
            "need": self.pair.query.narrative,
            "title": document.title or document.doc_id,
            "place": f"{self.where.document} of {self.where.documents}",
            "kind": self.text_kind,
        }


def cards(round_: Round, rater: User, pairs: Sequence[Pair], *, after: Sequence[Pair] = ()) -> list[Card]:
    """Return the pairs as cards, each with the rater's position after all pairs before it are answered."""
    here: dict[int, RaterPosition] = {}
    before = Counter(pair.query.pk for pair in after)
    order = list(dict.fromkeys(pair.query.pk for pair in (*after, *pairs)))
    made: list[Card] = []
    part = own_part(round_, rater) if pairs else None
    for place, pair in enumerate(pairs, len(after)):
        query = pair.query.pk
        if query not in here:
            here[query] = rater_position(round_, rater, pair, part=part)
        where = here[query]
        where = replace(
            where,
            document=min(where.document + before[query], where.documents),
            query=min(where.query + order.index(query), where.queries),
            answered=where.answered + place,
            left=max(where.left - place, 0),
        )
        before[query] += 1
        made.append(Card(pair, where))
    return made


def card_again(round_: Round, rater: User, pair: Pair, *, answered: bool) -> Card:
    """Return the card of one of the rater's own answers, opened again."""
    return Card(pair, rater_position(round_, rater, pair, answered=answered))


def fragments(request: HttpRequest, round_: Round, card: Card) -> dict[str, Any]:
    """Return a card for the script: the two parts of the page that change, and the script's data."""
    # The full text of a long document is inserted only when the rater opens it, which is rare.
    long = card.shown.excerpt is not None
    context = {"card": card, "round": round_, "later": long, "label": labels(request.user)}
    return {
        **card.script_data,
        "whole": card.shown.whole if long else "",
        "ask": render_to_string("judgments/rating/_station_ask.html", context, request),
        "document": render_to_string("judgments/rating/_station_document.html", context, request),
    }


def facts(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the fields of a document as name and text; lists in one line, without nested and empty ones."""
    rows = []
    for name, value in fields.items():
        values = value if isinstance(value, list) else [value]
        words = [str(one) for one in values if isinstance(one, str | int | float) and str(one).strip()]
        if words and len(words) == len(values):
            rows.append((name, ", ".join(words)))
    return rows


def line(where: RaterPosition) -> list[tuple[str, float, float]]:
    """Return the progress line as (class, start, width) on a line of 1,000: a segment per query, or one bar for
    many."""
    share = (where.document - 1) / where.documents
    if where.queries > MOST_SEGMENTS or not where.queries:
        all_ = where.answered + where.left
        return [("open", 0.0, 1000.0), ("done", 0.0, round(1000 * where.answered / max(all_, 1), 1))]
    step = 1000 / max(where.queries, 1)
    width = round(step - 4, 1)
    segments = [
        ("done" if place < where.query - 1 else "open", round(place * step, 1), width) for place in range(where.queries)
    ]
    return [*segments, ("here", round((where.query - 1) * step, 1), round(width * share, 1))]


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
    if not is_theirs(request):
        return JsonResponse(shape(401, NOBODY), status=401)
    try:
        round_ = access.round_for(request.user, uuid, access.RATERS)
        return JsonResponse(_batch(request, round_))
    except AssayError as error:
        status, body = status_and_body(error)
        return JsonResponse(body, status=status)


def is_theirs(request: HttpRequest) -> bool:
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
