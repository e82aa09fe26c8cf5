"""Qualification page for raters: grade one gold pair after another, with feedback after each.

The page is the station without its script: a form with the same keys. After each answer it shows the same document
with the gold grade next to the rater's grade.
"""

from __future__ import annotations

import uuid as uuid_module
from collections import Counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from assay.core.errors import AssayError, NotValid
from judgments.models import Probe, Round
from judgments.quality import qualification
from judgments.quality.qualification import Answered, Sitting
from judgments.rating import start_requirements
from judgments.rating.keyboard_shortcuts import table
from judgments.rating.rater_progress import RaterPosition
from judgments.rating.views.answer_form import read_answer, reasons
from judgments.rating.views.station_data import Card, keys_context
from judgments.web import access
from judgments.web.pages import form_page
from judgments.web.posted_values import uuid_of

# The keys of this page: no later, undo or note, because each answer gets feedback at once.
ACTS = ("unable", "guide", "marks", "whole", "keys")


@form_page.of_round(access.RATERS)
@never_cache
def calibrate(request: HttpRequest, round_: Round) -> HttpResponse:
    if not start_requirements.requires_qualification(round_):
        return redirect("rate", round_.uuid)
    if request.method == "POST":
        return _answered(request, round_)
    probe_uuid = uuid_of(request.GET.get("told", ""))
    probe = qualification.next_probe(round_, request.user)
    now = qualification.sitting(round_, request.user)
    done = next((one for one in now.done if one.probe.uuid == probe_uuid), None)
    if done is not None:
        return _feedback(request, round_, now, done)
    round_rater = round_.raters.get(user=request.user)
    if probe is None or round_rater.calibrated_at is not None:
        return _end(request, round_, now)
    return _page(request, round_, now, probe)


def _answered(request: HttpRequest, round_: Round) -> HttpResponse:
    page = reverse("calibrate", args=[round_.uuid])
    if "again" in request.POST:
        qualification.start_new_attempt(round_, rater=request.user)
        return redirect(page)
    try:
        one = qualification.answer(round_, read_answer(request.POST), rater=request.user)
    except NotValid as error:
        return _refused(request, round_, error)
    return redirect(f"{page}?told={one.probe.uuid}")


def _refused(request: HttpRequest, round_: Round, error: AssayError) -> HttpResponse:
    probe = qualification.next_probe(round_, request.user)
    now = qualification.sitting(round_, request.user)
    if probe is None:
        return _end(request, round_, now)
    return _page(request, round_, now, probe, 422, error=str(error))


def _card(now: Sitting, probe: Probe, place: int) -> Card:
    """Return the pair as the station shows it, with its position in the sitting."""
    pair: Any = probe
    return Card(pair, RaterPosition(place, now.total, 1, 1, place - 1, now.total - place + 1))


def _common(request: HttpRequest, round_: Round, now: Sitting) -> dict[str, Any]:
    shared = keys_context(round_, request.user)
    shared["keys"] = [key for key in shared["keys"] if key.act in ACTS]
    return {
        "round": round_,
        "collection": round_.collection,
        **shared,
        "table": table(request.user),
        "sitting": now,
        "reasons": reasons(round_),
    }


def _page(
    request: HttpRequest, round_: Round, now: Sitting, probe: Probe, status: int = 200, **more: Any
) -> HttpResponse:
    card = _card(now, probe, len(now.done) + 1)
    context = _common(request, round_, now) | {"card": card, "client_id": uuid_module.uuid4(), **more}
    return render(request, "judgments/quality/calibrate.html", context, status=status)


def _feedback(request: HttpRequest, round_: Round, now: Sitting, done: Answered) -> HttpResponse:
    context = _common(request, round_, now)
    labels = {one.value: one for one in context["grades"]}
    context |= {
        "card": _card(now, done.probe, now.done.index(done) + 1),
        "done": done,
        "known": labels[done.probe.expected],
        "given": labels.get(done.answer.grade),
        "explanation": done.probe.gold.explanation if done.probe.gold else "",
        "last": now.over,
    }
    return render(request, "judgments/quality/calibrate.html", context)


def _end(request: HttpRequest, round_: Round, now: Sitting) -> HttpResponse:
    """Return the result of the sitting: the share of correct grades, the pass mark, and the result for each grade."""
    right, totals = Counter[int](), Counter[int]()
    for one in now.done:
        totals[one.probe.expected] += 1
        right[one.probe.expected] += one.right
    context = _common(request, round_, now) | {
        "round_rater": round_.raters.get(user=request.user),
        "by_grade": [(one, right[one.value], totals[one.value]) for one in round_.scale.grades.all()],
        "wrong": [one for one in now.done if not one.right],
        "high": sum((one.steps or 0) > round_.pass_within for one in now.done),
        "low": sum((one.steps or 0) < -round_.pass_within for one in now.done),
    }
    return render(request, "judgments/quality/calibrate_end.html", context)
