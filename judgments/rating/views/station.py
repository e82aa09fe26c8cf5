"""Rater station: show the next document and record the rater's answer.

The station shows one document per page, or the documents of a query as a list. Both are plain forms, which work
without JavaScript: an answer is recorded before the next document is shown. The station's script
(static/js/station.js) takes over the same form, shows prefetched documents, and sends its answers to the
API. Nothing here knows rank, system, score, or other raters' grades.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from assay.core.errors import AssayError, CalibrationFirst, Conflict, NotValid, Paused
from assay.core.text_rules import amount
from judgments import hooks
from judgments.guidelines import guidelines
from judgments.members.round_raters import is_rater
from judgments.models import Judgment, Pair, Probe, ProbeAnswer, Round, User
from judgments.rating import assignment, inserted_checks, slot_search, start_requirements, submission
from judgments.rating.recent_answers import LastAnswer, last_answer_for
from judgments.rating.submission import Answer
from judgments.rating.views.answer_form import UNABLE, in_words, read_answer, read_list, reasons, result_message
from judgments.rating.views.station_data import Card, card_again, cards, outbox_data, station_context
from judgments.web import access
from judgments.web.pages import form_page, get_page
from judgments.web.posted_values import uuid_of

# Seconds until the page reloads while pairs are being chosen: short at first, then longer.
SOON, SELDOM = 4, 60


def nothing(request: HttpRequest, round_: Round, status: int = 200) -> HttpResponse:
    """Show why there is no document, and the next steps."""
    own = inserted_checks.own(round_, request.user)
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


LONGEST_QUERY = 50
UNSAID = "Choose a reason in the marked rows. The other rows are saved."


@dataclass(frozen=True)
class Row:
    """One document of the list and the rater's answer: a grade, ``unable``, or none."""

    card: Card
    given: str = ""
    reason: str = ""
    note: str = ""
    client_id: UUID = field(default_factory=uuid_module.uuid4)
    # Whether the row is marked "cannot judge" and still needs a reason.
    unsaid: bool = False

    @property
    def was(self) -> str:
        """The recorded answer with its reason as the form sends it; an unchanged answer is not recorded again."""
        return f"{self.given}: {self.reason}" if self.given == UNABLE and self.reason else self.given


def page(
    request: HttpRequest, round_: Round, status: int = 200, unsaid: Collection[UUID] = (), **more: Any
) -> HttpResponse | None:
    """Return the list of the current query, or None without one; rows in ``unsaid`` ask for a reason."""
    rows = [replace(row, unsaid=row.card.pair.uuid in unsaid) for row in _rows(request, round_)]
    if not rows:
        return None
    graded = sum(row.given != "" for row in rows)
    context = {
        **station_context(request, round_),
        "rows": rows,
        "card": next((row.card for row in rows if row.given == ""), rows[0].card),
        "graded": graded,
        "open": len(rows) - graded,
        "reasons": reasons(round_),
        "undoable": submission.last_answer(round_, request.user) is not None,
        "news": guidelines.news(round_, request.user),
        **more,
    }
    return render(request, "judgments/rating/station_list.html", context, status=status)


def taken(
    request: HttpRequest, round_: Round, answers: Sequence[Answer], without_reason: Collection[UUID]
) -> HttpResponse:
    """Record the answered rows; with ``later`` defer the others, so that the next query follows."""
    if request.POST.get("list") == "later" and not without_reason:
        answers = [*answers, *_put_off(request, answers)]
    results = submission.submit_all(round_, answers, rater=request.user)
    saved = [one for one in results if not isinstance(one, AssayError)]
    refused = list(dict.fromkeys(str(one) for one in results if isinstance(one, AssayError)))
    if (
        without_reason
        and (response := page(request, round_, 422, without_reason, error=" ".join([UNSAID, *refused]))) is not None
    ):
        return response
    for error in refused:
        messages.error(request, error, extra_tags="nothing")
    if saved:
        messages.success(request, f"Saved {amount(len(saved), 'answer')}.", extra_tags="answered")
    elif not results:
        messages.info(request, "Nothing was selected.", extra_tags="nothing")
    return redirect("rate", round_.uuid)


def _put_off(request: HttpRequest, answers: Sequence[Answer]) -> Iterable[Answer]:
    """Return a "later" answer for each row without an answer, except rows answered elsewhere in the meantime."""
    named = {name: uuid_of(name.removeprefix("client-")) for name in request.POST if name.startswith("client-")}
    given = _given(request.user, [pair for pair in named.values() if pair])
    answered = {answer.pair for answer in answers} | given.keys()
    for name, pair in named.items():
        client_id = uuid_of(request.POST[name])
        if pair and client_id and pair not in answered:
            later = Judgment.State.LATER
            yield Answer(client_id=client_id, pair=pair, state=later, how={"view": "list"}, if_open=True)


def _rows(request: HttpRequest, round_: Round) -> list[Row]:
    """Return the rows that this browser shows while one of them is open, and newer pairs of their query."""
    rater: User = request.user
    claimed = assignment.claim_batch(round_, rater=rater, size=LONGEST_QUERY)
    if not claimed:
        return []
    open_ = [pair for pair in claimed if pair.query.pk == claimed[0].query.pk]
    key = f"list-{round_.uuid}"
    shown = [shown_uuid for one in request.session.get(key, []) if (shown_uuid := uuid_of(one))]
    before = {pair.uuid: pair for pair in _known(round_, rater, shown) if pair.query.pk == open_[0].query.pk}
    given = _given(rater, before.keys())
    here = {pair.uuid: pair for pair in open_}
    stay = [uuid for uuid in shown if uuid in here or (uuid in before and uuid in given)]
    order = [*stay, *(uuid for uuid in here if uuid not in stay)]
    request.session[key] = [str(uuid) for uuid in order]
    pairs = [here.get(uuid) or before[uuid] for uuid in order]
    return [Row(card, *given.get(card.pair.uuid, ())) for card in cards(round_, rater, pairs)]


def _known(round_: Round, rater: User, uuids: list[UUID]) -> list[Pair]:
    """Return the pairs that the browser showed; a probe keeps its position like any pair."""
    pairs = round_.pairs.filter(uuid__in=uuids).select_related("query", "document")
    probes = Probe.objects.filter(round=round_, rater=rater, uuid__in=uuids)
    rows: list[Any] = [*pairs, *probes]
    return rows


def _given(rater: User, uuids: Iterable[UUID]) -> dict[UUID, tuple[str, str, str]]:
    """Return the rater's current answers to these pairs: a grade or ``unable``, the reason, the note."""
    columns = ("state", "grade", "reason", "note")
    answers = Judgment.objects.current().filter(rater=rater, pair__uuid__in=list(uuids))
    probes = ProbeAnswer.objects.current().filter(rater=rater, probe__uuid__in=list(uuids))
    rows = [
        *answers.values_list("pair__uuid", *columns),
        *probes.values_list("probe__uuid", *columns),
    ]
    return {
        uuid: (UNABLE if state == Judgment.State.UNRATEABLE else str(grade), reason, note)
        for uuid, state, grade, reason, note in rows
        if state != Judgment.State.LATER
    }


MODES = ("one", "list")


@form_page.of_round(access.RATERS)
@never_cache
def rate(request: HttpRequest, round_: Round) -> HttpResponse:
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
        return page(request, round_) or nothing(request, round_)
    pair = _next(request, round_, request.GET.get("pair", ""))
    return _page(request, round_, pair) if pair else nothing(request, round_)


@get_page
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
        guidelines.mark_read(round_, request.user)
        return redirect("rate", round_.uuid)
    try:
        if "undo" in request.POST:
            return _undo(request, round_)
        if "list" in request.POST:
            return taken(request, round_, *read_list(request.POST))
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
        again = page(request, round_, status, error=str(error))
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
        "news": guidelines.news(round_, request.user),
        "again": again,
        **more,
    }
    # A rater in list mode returns to the list; otherwise the next documents follow the one opened again.
    alone = again is not None and _mode(request, round_) == "list"
    context["data"] |= {"card": {**card.script_data, "again": again is not None}, "alone": alone}
    return render(request, "judgments/rating/station.html", context, status=status)
