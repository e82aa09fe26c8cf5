"""Which document does a rater see next, and what do they say about it?

One document a page, and a plain form: it works without JavaScript, and an answer is on record before the next document
is shown. Nothing here knows rank, system, score, or what anybody else said.
"""

from __future__ import annotations

import math
import uuid as uuid_module
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from judgments import access, assignment, growing, submission
from judgments.core.errors import AssayError, Conflict, NotValid
from judgments.highlight import highlight, highlight_text
from judgments.models import Judgment, Pair, Round, Slot
from judgments.richtext import LONGEST, document_html
from judgments.rounds import is_rater
from judgments.submission import Answer
from judgments.views.sent import uuid_of

# What keeps a pair from being judged; the number is its key.
REASONS = ("query unclear", "document broken", "language", "other")
LONGEST_TIME = 24 * 3600.0
MOST_SEGMENTS = 60
# Seconds until a page without a document looks again, while pairs are chosen: soon at first, then less often.
SOON, SELDOM = 4, 60


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rate(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.RATERS)
    if request.method == "POST":
        return _answered(request, round_)
    if round_.state != Round.State.OPEN:
        return _nothing(request, round_)
    pair = _next(request, round_, request.GET.get("pair", ""))
    return _page(request, round_, pair) if pair else _nothing(request, round_)


def _next(request: HttpRequest, round_: Round, wanted: str) -> Pair | None:
    pairs = assignment.claim_batch(round_, rater=request.user, size=1)
    named = uuid_of(wanted)
    asked = assignment.in_hand(round_, request.user, named) if named else None
    return asked or (pairs[0] if pairs else None)


def _answered(request: HttpRequest, round_: Round) -> HttpResponse:
    """Record what was sent, then show the next document by a GET, so that a reload sends nothing twice."""
    try:
        if "undo" in request.POST:
            return _undo(request, round_)
        answer = read_answer(request.POST)
        receipt = submission.submit(round_, answer, rater=request.user)
    except (NotValid, Conflict) as error:
        return _refused(request, round_, error)
    messages.success(request, _said(round_, receipt.judgment), extra_tags="answered")
    return redirect("rate", round_.uuid)


def _undo(request: HttpRequest, round_: Round) -> HttpResponse:
    last = submission.last_answer(round_, request.user)
    if last is None:
        messages.info(request, "There is nothing to take back.", extra_tags="nothing")
        return redirect("rate", round_.uuid)
    submission.undo(round_, last.client_id, rater=request.user)
    messages.success(request, "Taken back. Here it is again.", extra_tags="undone")
    return redirect(f"{reverse('rate', args=[round_.uuid])}?pair={last.pair.uuid}")


def read_answer(post: QueryDict) -> Answer:
    """The answer that the form sent.

    Raises
    ------
    NotValid
        The page's hidden fields are not what the page was made with, or no grade was chosen.
    """
    pair, client_id = uuid_of(post.get("pair", "")), uuid_of(post.get("client_id", ""))
    # PostgreSQL keeps no NUL; for one in a note no answer is lost.
    reason, note = (post.get(name, "").replace("\0", "") for name in ("reason", "note"))
    if pair is None or client_id is None:
        raise NotValid("This page is out of date. The document stands here again: grade it once more.")
    state = post.get("state", "")
    grade = post.get("grade", "")
    if not state and not (grade.isascii() and grade.isdigit() and len(grade) < 4):
        raise NotValid("Choose a grade, or say that you cannot judge.", {"grade": "Choose one."})
    return Answer(
        client_id=client_id,
        pair=pair,
        grade=None if state else int(grade),
        state=state or Judgment.State.GRADED,
        reason=reason[:500] if state == Judgment.State.UNRATEABLE else "",
        note=note.strip(),
        seconds_active=_seconds(post.get("seconds_active", "")),
        seconds_away=_seconds(post.get("seconds_away", "")),
    )


def _seconds(text: str) -> float | None:
    """A measured time; what is no sensible time is unknown, since times plan the work and decide nothing."""
    try:
        value = float(text)
    except ValueError:
        return None
    return min(value, LONGEST_TIME) if math.isfinite(value) and value >= 0 else None


def _said(round_: Round, judgment: Judgment) -> str:
    """What was recorded, in words."""
    if judgment.state == Judgment.State.LATER:
        return "Kept for later."
    if judgment.state == Judgment.State.UNRATEABLE:
        return f"Saved: cannot judge{f', {judgment.reason}' if judgment.reason else ''}."
    label = next(grade.label for grade in round_.scale.grades.all() if grade.value == judgment.grade)
    return f"Saved {judgment.grade}, {label}.{' The pair was full already.' if judgment.surplus else ''}"


def _refused(request: HttpRequest, round_: Round, error: AssayError) -> HttpResponse:
    """The same document again, with what was wrong and what had been written."""
    status = 409 if isinstance(error, Conflict) else 422
    pair = _next(request, round_, request.POST.get("pair", ""))
    if pair is None:
        messages.error(request, str(error))
        return _nothing(request, round_, status)
    return _page(request, round_, pair, status, error=str(error), note=request.POST.get("note", ""))


def _page(request: HttpRequest, round_: Round, pair: Pair, status: int = 200, **more: Any) -> HttpResponse:
    document, query = pair.document, pair.query.text
    where = assignment.standing(round_, request.user, pair)
    context = {
        "round": round_,
        "pair": pair,
        "client_id": uuid_module.uuid4(),
        "grades": round_.scale.grades.all(),
        "top": max(round_.scale.values()),
        "where": where,
        "line": line(where),
        "title": highlight_text(document.title, query),
        "text": highlight(document_html(document.text), query),
        "cut": len(document.text) > LONGEST,
        "facts": facts(document.fields),
        "reasons": REASONS,
        "undoable": submission.last_answer(round_, request.user) is not None,
        **more,
    }
    return render(request, "judgments/station.html", context, status=status)


def facts(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """The fields of a document as name and words; lists in one line, nested things and empty ones left out."""
    found = []
    for name, value in fields.items():
        values = value if isinstance(value, list) else [value]
        words = [str(one) for one in values if isinstance(one, str | int | float) and str(one).strip()]
        if words and len(words) == len(values):
            found.append((name, ", ".join(words)))
    return found


def line(where: assignment.Standing) -> list[tuple[str, float, float]]:
    """The progress line as (class, start, width) on a line of 1,000: a segment a query, or one bar where they are many.

    Examples
    --------
    >>> from judgments.assignment import Standing
    >>> line(Standing(document=2, documents=4, query=2, queries=2, answered=5, left=3))
    [('done', 0.0, 496.0), ('open', 500.0, 496.0), ('here', 500.0, 124.0)]
    """
    share = (where.document - 1) / where.documents
    if where.queries > MOST_SEGMENTS:
        all_ = where.answered + where.left
        return [("open", 0.0, 1000.0), ("done", 0.0, round(1000 * where.answered / max(all_, 1), 1))]
    step = 1000 / max(where.queries, 1)
    width = round(step - 4, 1)
    segments = [
        ("done" if place < where.query - 1 else "open", round(place * step, 1), width) for place in range(where.queries)
    ]
    return [*segments, ("here", round((where.query - 1) * step, 1), round(width * share, 1))]


def _nothing(request: HttpRequest, round_: Round, status: int = 200) -> HttpResponse:
    """Why there is no document, and what comes next."""
    answers = Judgment.objects.current().of_round(round_).filter(rater=request.user)
    places = Slot.objects.filter(round=round_, filled_by__isnull=True)
    context = {
        "round": round_,
        "collection": round_.collection,
        "asked": is_rater(request.user, round_),
        "answered": answers.exclude(state=Judgment.State.LATER).count(),
        # Places that others hold or that wait for others: not for this rater, who had each of their pairs.
        "waiting": places.count() if round_.state == Round.State.OPEN else 0,
        "look_again": _look_again(request) if round_.growing else 0,
        # What exactly is wrong is the lead's; a rater learns that waiting alone will not help.
        "held_up": (growing.told(round_) or {}).get("state") == "stopped",
        "undoable": round_.state == Round.State.OPEN and submission.last_answer(round_, request.user) is not None,
        "others": Round.objects.open_to(request.user).exclude(pk=round_.pk).select_related("collection"),
    }
    return render(request, "judgments/station_empty.html", context, status=status)


def _look_again(request: HttpRequest) -> int:
    """In how many seconds the page looks for more pairs: twice as long as the time before."""
    waited = request.GET.get("waited", "")
    before = int(waited) if waited.isascii() and waited.isdigit() and len(waited) < 4 else 0
    return min(max(SOON, 2 * before), SELDOM)
