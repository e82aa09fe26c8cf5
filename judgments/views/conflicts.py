"""Where do raters differ, and how is it settled?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from judgments import access, adjudication, reliability
from judgments.core.errors import NotAllowed, NotFound
from judgments.forms import AssayForm
from judgments.models import Adjudication, Judgment, Pair, Round
from judgments.reliability import Conflict
from judgments.templatetags.figures import grade, state
from judgments.views.lists import Choice, Column, Listing, answer
from judgments.views.rounds import frame
from judgments.views.station import facts

STEPS = [("2", "2 steps or more"), ("3", "3 steps or more")]


def _given(conflict: Conflict) -> SafeString:
    top = max(conflict.pair.round.scale.values())
    shown = ((grade(value, top), rater) for rater, value in conflict.grades.items())
    return format_html_join(" ", '<span class="nowrap">{} <span class="mono muted">{}</span></span>', shown)


def _settled(conflict: Conflict) -> SafeString:
    if conflict.settled is None:
        return state("todo", "open")
    top = max(conflict.pair.round.scale.values())
    return format_html(
        '<span class="nowrap">{} {}</span>', state("done", "settled as"), grade(conflict.settled.grade, top)
    )


def _wide(rows: Sequence[Conflict], value: str) -> list[Conflict]:
    return [conflict for conflict in rows if conflict.spread >= int(value)]


def _open(rows: Sequence[Conflict], value: str) -> list[Conflict]:
    return [conflict for conflict in rows if (conflict.settled is None) == (value == "open")]


CONFLICTS = Listing(
    name="conflicts",
    noun=("conflict", "conflicts"),
    columns=(
        Column(
            "query",
            "Query",
            order="query",
            value=lambda conflict: conflict.pair.query.text,
            url=lambda conflict: reverse("conflict", args=[conflict.pair.round.uuid, conflict.pair.uuid]),
            head=True,
            style="clip",
        ),
        Column(
            "grades",
            "Grades",
            value=lambda conflict: " ".join(f"{rater}:{value}" for rater, value in conflict.grades.items()),
            show=_given,
        ),
        Column("spread", "Steps", order="spread", numeric=True),
        Column("document", "Document", order="document", value=lambda row: str(row.pair.document), style="clip"),
        Column("notes", "Notes", value=lambda conflict: ", ".join(conflict.notes), style="muted nowrap"),
        Column(
            "settled",
            "Settled",
            value=lambda conflict: None if conflict.settled is None else conflict.settled.grade,
            show=_settled,
        ),
        Column("query_id", "Query id", value=lambda conflict: conflict.pair.query.query_id, style="id"),
        Column("doc_id", "Document id", value=lambda conflict: conflict.pair.document.doc_id, style="id"),
    ),
    search=("pair.query.text", "pair.document.title", "pair.document.doc_id"),
    choices=(
        Choice("steps", "At least", _wide, STEPS),
        Choice("settled", "State", _open, [("open", "open"), ("settled", "settled")]),
    ),
    order="-spread",
)


class SettleForm(AssayForm):
    """The grade that a lead settles on, and why."""

    grade = forms.TypedChoiceField(coerce=int, widget=forms.RadioSelect, error_messages={"required": "Choose a grade."})
    reason = forms.CharField(
        label="Reason, for raters to read",
        max_length=adjudication.LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One or two sentences that help with the next pair like this one.",
        error_messages={"required": "Say in one sentence why; raters learn from it."},
    )

    def __init__(self, round_: Round, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["grade"].choices = [
            (one.value, f"{one.value} {one.label}{f': {one.cue}' if one.cue else ''}")
            for one in round_.scale.grades.all()
        ]


@login_required
@require_safe
def conflict_list(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    context = {
        **frame(request, round_, "agreement"),
        "hidden": access.hidden_pairs(request.user, round_).count(),
        "overlapping": round_.pairs.filter(ratings_wanted__gt=1).exists(),
    }
    return answer(request, CONFLICTS, _of(round_, request.user), "judgments/conflicts.html", context)


def _of(round_: Round, viewer: Any) -> list[Conflict]:
    """The round's conflicts, each one's pair knowing this round and its scale."""
    prefetch_related_objects([round_], "scale__grades")
    found = reliability.conflicts(round_, viewer=viewer)
    for conflict in found:
        conflict.pair.round = round_
    return found


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def conflict(request: HttpRequest, uuid: str, pair: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    row = access.pair_for(request.user, round_, pair)
    if not access.may_see_grades(request.user, row):
        raise NotAllowed("You may still be asked to grade this pair: what others gave is shown to you afterwards.")
    found = _of(round_, request.user)
    here = next((place for place, one in enumerate(found) if one.pair.pk == row.pk), None)
    if here is None:
        raise NotFound("The raters of this pair agree, or it has fewer than two grades.")
    settled = found[here].settled
    initial = {"grade": settled.grade, "reason": settled.reason} if settled else {}
    form = SettleForm(round_, request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            adjudication.settle(row, actor=request.user, **form.cleaned_data)
            return _on(request, round_, found, here, form.cleaned_data["grade"])
    context = {
        "collection": round_.collection,
        "round": round_,
        "step": "agreement",
        "conflict": found[here],
        "pair": row,
        "facts": facts(row.document.fields),
        "place": here + 1,
        "count": len(found),
        "next": _next_open(found, here),
        "answers": _answers(round_, row),
        "top": max(round_.scale.values()),
        "same_query": _same_query(request, row),
        "form": form,
    }
    return render(request, "judgments/conflict.html", context, status=form.status)


def _next_open(found: Sequence[Conflict], here: int) -> Conflict | None:
    """The next conflict that nobody settled, from here on and then from the start."""
    return next((one for one in [*found[here + 1 :], *found[:here]] if one.settled is None), None)


def _on(request: HttpRequest, round_: Round, found: Sequence[Conflict], here: int, value: int) -> HttpResponse:
    following = _next_open(found, here)
    if following is None:
        messages.success(request, f"Settled as {value}. No conflict is open any more.")
        return redirect("conflicts", round_.uuid)
    messages.success(request, f"Settled as {value}. This is the next one.")
    return redirect("conflict", round_.uuid, following.pair.uuid)


def _answers(round_: Round, pair: Pair) -> list[tuple[str, Judgment, str]]:
    """Pseudonym, counted judgment and the label of its grade."""
    names = reliability.pseudonyms(round_)
    labels = {one.value: one.label for one in round_.scale.grades.all()}
    rows = Judgment.objects.counted().filter(pair=pair)
    return sorted(((names[row.rater_id], row, labels[row.grade]) for row in rows), key=lambda row: row[0])


def _same_query(request: HttpRequest, pair: Pair) -> list[tuple[Any, list[int]]]:
    """Other pairs of the query with what they got, as far as the reader may see it: what a grade here stands beside."""
    others = pair.round.pairs.filter(query=pair.query).exclude(pk=pair.pk)
    others = others.exclude(pk__in=access.hidden_pairs(request.user, pair.round)).select_related("document")
    settled = dict(
        Adjudication.objects.filter(pair__in=others, superseded_by__isnull=True).values_list("pair_id", "grade")
    )
    given: dict[int, list[int]] = {}
    for pair_id, value in Judgment.objects.counted().filter(pair__in=others).values_list("pair_id", "grade"):
        given.setdefault(pair_id, []).append(value)
    rows = [(one.document, [settled[one.pk]] if one.pk in settled else sorted(given.get(one.pk, []))) for one in others]
    return sorted((row for row in rows if row[1]), key=lambda row: -row[1][0])[:12]
