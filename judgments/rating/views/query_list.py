"""Station list: grade the short documents of a query on one page.

The rows are in the rater's own order, which stays the same while the query is open: a graded document stays in its
position and can be changed until the rater leaves the query.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.counted_nouns import amount
from assay.core.errors import AssayError
from judgments.guidelines import unread_changes
from judgments.models import Judgment, Pair, Probe, ProbeAnswer, Round, User
from judgments.rating import assignment, submission
from judgments.rating.answers import Answer
from judgments.rating.views.answer_form import UNABLE, reasons
from judgments.rating.views.cards import Card, cards
from judgments.rating.views.station_data import station_context
from judgments.web.posted_values import uuid_of

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
        "news": unread_changes.news(round_, request.user),
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
