"""Conflicts one at a time by keyboard, as in the rater station: page, next conflicts for its script, plain form."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from assay.core.errors import AssayError, NotValid
from judgments.agreement import conflicts, resolutions
from judgments.agreement.views.conflict import answers_of, pair_to_resolve
from judgments.agreement.views.conflicts import by_effect, effects_for
from judgments.models import Adjudication, Pair, Round
from judgments.models.pair import PairQuerySet
from judgments.rating.keyboard_shortcuts import table
from judgments.rating.views.station_data import NOBODY, PairCard, is_theirs
from judgments.web import access
from judgments.web.answer_words import worded
from judgments.web.error_responses import shape, status_and_body
from judgments.web.pages import form_page
from judgments.web.posted_values import uuid_of

# Number of conflicts sent to the browser at a time, and the most that it may hold or have skipped.
BATCH, MOST_HELD = 12, 2_000
# Action and description of each key beside the digits.
KEYS = {
    "r": ("reason", "choose or write the reason; it stays until you change it"),
    "n": ("next", "skip: show this conflict again at the end"),
    "u": ("undo", "undo the last resolution"),
    "p": ("raters", "show or hide the raters’ pseudonyms"),
    "f": ("whole", "full text, then larger image, then back"),
    "h": ("marks", "show or hide highlights"),
    "g": ("guide", "show the guidelines"),
    "?": ("keys", "show this list"),
}

CAUSES = {str(cause.label) for cause in Adjudication.Cause}


@dataclass(frozen=True)
class Card(PairCard):
    """One conflict on the screen, with its place among all conflicts."""

    place: int
    total: int

    @property
    def done(self) -> float:
        """The width of the progress line."""
        return round(1000 * (self.place - 1) / max(self.total, 1), 1)

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The answers by grade, so that their order says nothing about the raters."""
        rows = answers_of(self.pair.round, self.pair)
        return sorted(rows, key=lambda row: (row["judgment"].grade is None, row["judgment"].grade or 0))

    @property
    def script_data(self) -> dict[str, Any]:
        """The data of the card for the script."""
        pair = self.pair
        return {
            "pair": str(pair.uuid),
            "query": str(pair.query.uuid),
            "text": pair.query.text,
            "title": pair.document.title or pair.document.doc_id,
            "place": f"{self.place:,} of {self.total:,}",
            "grades": ", ".join(
                "cannot judge" if row["judgment"].grade is None else str(row["judgment"].grade) for row in self.answers
            ),
        }


@form_page.of_round(access.LEADS)
@never_cache
def keyboard(request: HttpRequest, round_: Round) -> HttpResponse:
    if request.method == "POST":
        return _posted(request, round_)
    first = uuid_of(request.GET.get("pair", ""))
    cards = (first and _cards(request, round_, [], only=first)) or _cards(request, round_, [], most=1)
    if not cards:
        messages.info(request, "No open conflicts are left.")
        return redirect("conflicts", round_.uuid)
    (card,) = cards
    grades = list(round_.scale.grades.all())
    template, text = request.session.get(_session_key(round_), ("", ""))
    offered = resolutions.offered_reasons(request.user, round_)
    context = {
        "round": round_,
        "collection": round_.collection,
        "card": card,
        "pair": card.pair,
        "client_id": uuid_module.uuid4(),
        "undoable": resolutions.last_of(request.user, round_) is not None,
        "grades": grades,
        "top": max(grade.value for grade in grades),
        "long_scale": any(grade.value >= 10 for grade in grades),
        "keys": [(key, words) for key, (_, words) in KEYS.items()],
        "label": {act: key for key, (act, _) in KEYS.items()},
        "templates": [(one, worded(one, round_) if one in CAUSES else one) for one in offered],
        "template": template,
        "text": text,
        "data": {**_script_settings(request, round_), "card": card.script_data},
    }
    return render(request, "judgments/agreement/keyboard.html", context)


def _script_settings(request: HttpRequest, round_: Round) -> dict[str, Any]:
    here = reverse("conflicts_keyboard", args=[round_.uuid]) + _choice(request)
    own = {key: act for key, act in table(request.user).items() if act.startswith("grade-")}  # type: ignore[arg-type]
    return {
        "user": str(request.user.uuid),  # type: ignore[union-attr]
        "name": request.user.get_username(),
        "round": str(round_.uuid),
        "queue": "resolutions",
        "page": here,
        "list": reverse("conflicts", args=[round_.uuid]),
        "login": f"{reverse('login')}?{urlencode({'next': here})}",
        "judgments": "/api/v1/rounds/ROUND/resolutions/",
        "next": reverse("conflicts_keyboard_next", args=[round_.uuid]) + _choice(request),
        "grades": {grade.value: grade.label for grade in round_.scale.grades.all()},
        "keys": own | {key: act for key, (act, _) in KEYS.items()} | {"backspace": "undo"},
        "noun": "conflict",
    }


@never_cache
@require_POST
def next_conflicts(request: HttpRequest, uuid: str) -> HttpResponse:
    """Return the next conflicts as fragments; errors use the API's format, because a script reads them."""
    if not is_theirs(request):
        return JsonResponse(shape(401, NOBODY), status=401)
    try:
        round_ = access.round_for(request.user, uuid, access.LEADS)
        have = [one for text in request.POST.getlist("have")[:MOST_HELD] if (one := uuid_of(text))]
        cards = _cards(request, round_, have)
        still = set(_all(request, round_).unresolved().filter(uuid__in=have).values_list("uuid", flat=True))
    except AssayError as error:
        status, body = status_and_body(error)
        return JsonResponse(body, status=status)
    return JsonResponse(
        {
            "cards": [_fragments(request, round_, card) for card in cards],
            "gone": [str(one) for one in have if one not in still],
        }
    )


def _fragments(request: HttpRequest, round_: Round, card: Card) -> dict[str, Any]:
    # The full text of a long document is inserted only when the lead opens it.
    long = card.shown.excerpt is not None
    top = max(round_.scale.values())
    context = {"card": card, "round": round_, "label": {"whole": "f"}, "top": top, "later": long}
    return {
        **card.script_data,
        "whole": card.shown.whole if long else "",
        "ask": render_to_string("judgments/agreement/_keyboard_ask.html", context, request),
        "document": render_to_string("judgments/agreement/_keyboard_conflict.html", context, request),
    }


def _all(request: HttpRequest, round_: Round) -> PairQuerySet:
    """Return the conflicts of the list that the lead came from, open or not."""
    steps = request.GET.get("steps", "")
    wide = int(steps) if steps.isascii() and steps.isdigit() and 0 < len(steps) < 3 else 1
    return conflicts.in_conflict(round_, viewer=request.user, steps=wide)


def _cards(
    request: HttpRequest, round_: Round, have: Collection[UUID], *, only: UUID | None = None, most: int = BATCH
) -> list[Card]:
    """Return the next open conflicts that the browser does not have, in the order of the list."""
    all_ = _all(request, round_)
    open_ = all_.unresolved()
    new: Any = open_.filter(uuid=only) if only else open_.exclude(uuid__in=have)
    effects = effects_for(request.user, round_) if request.GET.get("by") == "effect" else None
    if effects is not None:
        order = by_effect(new, effects)[:most]
        by_id = {pair.pk: pair for pair in conflicts.with_details(open_.filter(pk__in=order))}
        pairs: Sequence[Pair] = [by_id[pk] for pk in order if pk in by_id]
    else:
        pairs = list(conflicts.with_details(new)[:most])
    for pair in pairs:
        pair.round = round_
    total = all_.count()
    before = total - open_.count() + (open_.filter(uuid__in=have).count() if have else 0)
    return [Card(pair, before + place, total) for place, pair in enumerate(pairs, 1)]


def _choice(request: HttpRequest) -> str:
    """Return the part of the address that chooses and sorts the conflicts."""
    chosen = {name: request.GET[name] for name in ("steps", "by") if request.GET.get(name)}
    return f"?{urlencode(chosen)}" if chosen else ""


def _posted(request: HttpRequest, round_: Round) -> HttpResponse:
    """Resolve or undo by the plain form, then redirect to the next conflict."""
    on = _choice(request)
    try:
        if "undo" in request.POST:
            pair = _undo(request, round_)
        else:
            _resolve(request, round_)
            pair = None
    except AssayError as error:
        messages.error(request, str(error), extra_tags="nothing")
        pair = uuid_of(request.POST.get("pair", ""))
    back = f"{on}{'&' if on else '?'}pair={pair}" if pair else on
    return redirect(reverse("conflicts_keyboard", args=[round_.uuid]) + back)


def _undo(request: HttpRequest, round_: Round) -> UUID | None:
    last = resolutions.last_of(request.user, round_)
    if last is None:
        messages.info(request, "There is nothing to undo.", extra_tags="nothing")
        return None
    resolutions.undo(round_, last.uuid, actor=request.user)  # type: ignore[arg-type]
    messages.success(request, "Undone. Resolve the conflict again.", extra_tags="undone")
    return last.pair.uuid


def _resolve(request: HttpRequest, round_: Round) -> None:
    template, text = request.POST.get("template", ""), request.POST.get("reason", "").strip()
    request.session[_session_key(round_)] = (template, text)
    value = request.POST.get("grade", "")
    if value not in map(str, round_.scale.values()):
        raise NotValid("Choose a grade.", "grade")
    resolutions.resolve(
        pair_to_resolve(request, round_, request.POST.get("pair", "")),
        grade=int(value),
        reason=joined(template, text),
        actor=request.user,  # type: ignore[arg-type]
        client_id=uuid_of(request.POST.get("client_id", "")),
        replace=False,
    )
    messages.success(request, f"Resolved as {value}.", extra_tags="answered")


def joined(template: str, text: str) -> str:
    """Return a chosen reason and a written one as one text."""
    if template and text:
        return f"{template}{' ' if template.endswith(('.', '!', '?')) else '. '}{text}"
    return template or text


def _session_key(round_: Round) -> str:
    return f"reason-{round_.uuid}"
