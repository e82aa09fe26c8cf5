"""Pages to resolve one pair, with its ratings and the next conflict, and of the resolutions of a rater's pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from assay.core.errors import NotAllowed, NotFound
from judgments.agreement import conflicts, resolutions
from judgments.agreement import conflicts as conflict_effects
from judgments.agreement.resolutions import resolved_pairs_for
from judgments.agreement.views.conflicts import by_effect, effects_for
from judgments.documents.passages import shown
from judgments.guidelines import examples
from judgments.labels import grade_visibility
from judgments.labels.grade_visibility import means_visible
from judgments.models import Adjudication, Example, Judgment, Pair, Round
from judgments.rating.views.station_data import facts
from judgments.web import access
from judgments.web.columns import QUERY_COLUMN, Column
from judgments.web.figures import grade
from judgments.web.forms import AssayForm
from judgments.web.lists import Listing, answer
from judgments.web.pages import errors_as_messages, finish, form_page, get_page, post_action


def _listing(top: int) -> Listing:
    """Return the list; ``top`` is the highest grade of the scale."""

    def mine(pair: Any) -> int | None:
        return pair.mine[0].grade if pair.mine else None

    def given(pair: Any) -> SafeString:
        value = mine(pair)
        return SafeString('<span class="badge">cannot judge</span>') if value is None else grade(value, top)

    return Listing(
        name="settled",
        noun=("pair", "pairs"),
        columns=(
            QUERY_COLUMN,
            Column("mine", "Your grade", value=mine, show=given),
            Column(
                "settled",
                "Resolved grade",
                value=lambda pair: pair.resolutions[0].grade,
                show=lambda pair: grade(pair.resolutions[0].grade, top),
            ),
            # The reason comes before the document, because a phone shows only the first columns.
            Column("why", "Reason", value=lambda pair: pair.resolutions[0].reason),
            Column(
                "document", "Document", order="document__title", value=lambda pair: str(pair.document), style="clip"
            ),
        ),
        search=("query__text", "document__title"),
        order="position",
    )


@get_page.of_round(access.RATERS)
def settled(request: HttpRequest, round_: Round) -> HttpResponse:
    rows = resolved_pairs_for(request.user, round_)  # type: ignore[arg-type]
    context = {
        "round": round_,
        "collection": round_.collection,
        "closed": round_.state == Round.State.CLOSED,
    }
    return answer(
        request,
        _listing(max(round_.scale.values())).worded_for(round_),
        rows,
        "judgments/agreement/settled.html",
        context,
    )


# Number of other pairs of the query to show for each grade.
BESIDE = 3
READ = {"excerpt": "excerpt read", "whole": "full text read", "short": "short text read in full"}


class SettleForm(AssayForm):
    """Form for the grade and the reason of a resolution."""

    grade = forms.TypedChoiceField(coerce=int, widget=forms.RadioSelect, error_messages={"required": "Choose a grade."})
    cause = forms.ChoiceField(
        label="Cause (optional)",
        required=False,
        choices=[("", "not given"), *Adjudication.Cause.choices],
        help_text="The cause suggests what to change.",
    )
    reason = forms.CharField(
        label="Reason shown to raters",
        required=False,
        max_length=resolutions.LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One or two sentences that help with similar pairs. "
        "Raters who graded this pair can read the reason after the round closes. It is shown without names.",
    )
    example = forms.BooleanField(label="Propose as an example for the next guidelines version", required=False)

    def __init__(self, round_: Round, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        grades = list(round_.scale.grades.all())
        label = '{} <b>{}</b> <span class="muted">{}</span>'
        self.fields["grade"].choices = [
            (one.value, format_html(label, grade(one.value, grades[-1].value), one.label, one.cue)) for one in grades
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("cause") and not cleaned.get("reason", "").strip() and "reason" not in self.errors:
            self.add_error("reason", "Enter the reason in one sentence. Raters learn from it.")
        return cleaned


@form_page.of_round(access.LEADS)
def conflict(request: HttpRequest, round_: Round, pair: str) -> HttpResponse:
    row: Any = pair_to_resolve(request, round_, pair)
    settled = conflicts.settled_as(row)
    form = SettleForm(round_, request.POST if request.method == "POST" else None, initial=_initial(settled))
    form.worded_for(round_, choices=["cause"])
    if request.method == "POST" and form.is_valid():
        with form.telling():
            _settle(row, form.cleaned_data, request.user)
            return _on(request, round_, row, form.cleaned_data["grade"])
    context = _context(request, round_, row) | {"form": form, "settled": settled}
    return render(request, "judgments/agreement/conflict.html", context, status=form.status)


def pair_to_resolve(request: HttpRequest, round_: Round, uuid: str) -> Pair:
    """Return the pair if it needs a resolution and the lead may see its grades."""
    pair = access.pair_for(request.user, round_, uuid)
    if not grade_visibility.grades_visible(request.user, pair):
        raise NotAllowed("You may still grade this pair. You can see the other grades after you have graded it.")
    row = conflicts.with_details(round_.pairs.filter(pk=pair.pk)).get()
    row.round = round_
    unable = [one for one in row.answers if one.state == Judgment.State.UNRATEABLE]
    if not (row.spread or row.resolved or len(unable) >= min(2, row.ratings_wanted)):
        raise NotFound("This pair needs no resolution: its raters agree, or it has fewer than two grades.")
    return row


def _initial(settled: Adjudication | None) -> dict[str, Any]:
    if settled is None:
        return {}
    cause, reason = settled.reason_parts
    return {"grade": settled.grade, "cause": cause, "reason": reason}


@transaction.atomic
def _settle(pair: Pair, resolution: dict[str, Any], actor: Any) -> None:
    """Resolve the pair and propose it as an example if requested, in one transaction."""
    made = resolutions.resolve(
        pair, grade=resolution["grade"], reason=resolution["reason"], cause=resolution["cause"], actor=actor
    )
    if resolution["example"]:
        examples.propose(made, actor=actor)


def _context(request: HttpRequest, round_: Round, row: Any) -> dict[str, Any]:
    waiting = conflicts.in_conflict(round_, viewer=request.user)
    wider = Q(spread__gt=row.spread) | Q(spread=row.spread, position__lt=row.position)
    settled = conflicts.settled_as(row)
    values = [grade.value for grade in round_.scale.grades.all()]
    return {
        "collection": round_.collection,
        "round": round_,
        "step": "agreement",
        "pair": row,
        "shown": shown(row.document, row.query.text),
        "facts": facts(row.document.fields),
        "place": waiting.filter(wider).count() + 1,
        "count": waiting.count(),
        "by": "effect" if request.GET.get("by") == "effect" else "",
        "next": _next(request, round_, row),
        "answers": answers_of(round_, row),
        "top": max(values),
        "same_query": _same_query(request, row),
        **_at_stake(request.user, row, values),
        "example": Example.objects.filter(adjudication=settled).select_related("version").first() if settled else None,
    }


def _next(request: HttpRequest, round_: Round, here: Pair) -> Pair | None:
    """Return the next open conflict, in the order of the list that the lead came from."""
    waiting = conflicts.in_conflict(round_, viewer=request.user)
    effects = effects_for(request.user, round_) if request.GET.get("by") == "effect" else None
    return conflicts.following(waiting, here, by_effect(waiting, effects) if effects else None)


def _on(request: HttpRequest, round_: Round, row: Pair, value: int) -> HttpResponse:
    following = _next(request, round_, row)
    if following is None:
        return finish(request, f"Resolved as {value}. No conflicts are left.", "conflicts", round_.uuid)
    messages.success(request, f"Resolved as {value}. This is the next conflict.")
    on = "?by=effect" if request.GET.get("by") == "effect" else ""
    return redirect(reverse("conflict", args=[round_.uuid, following.uuid]) + on)


def answers_of(round_: Round, pair: Any) -> list[dict[str, Any]]:
    """Return each counted answer with its label and how it was read; raters appear by pseudonym only."""
    labels = {one.value: one.label for one in round_.scale.grades.all()}
    return [
        {
            "rater": one.pseudonym,
            "judgment": one,
            "label": labels.get(one.grade, ""),
            "read": READ.get(str(one.how.get("text")), ""),
        }
        for one in pair.answers
    ]


def _at_stake(reader: Any, pair: Any, values: list[int]) -> dict[str, Any]:
    """Return each run's mean under the lowest and the highest grade given; empty if unknown or hidden."""
    given = list(conflicts.grades_of(pair).values())
    low, high = (min(given), max(given)) if pair.spread else (min(values), max(values))
    effects = effects_for(reader, pair.round)
    rows = conflict_effects.detail(pair, [low, high]) if means_visible(reader, pair.round) else []
    at_stake = [{**row, "low": row["values"][low], "high": row["values"][high]} for row in rows]
    at_stake = [{**row, "moves": row["high"] - row["low"]} for row in at_stake]
    effect = {"moves": effects.moves.get(pair.pk), "newer": effects.newer, "metric": effects.metric} if effects else {}
    return {"at_stake": at_stake, "labels": [f"Label {low}", f"Label {high}"], "metric": "", "moves": None, **effect}


def _same_query(request: HttpRequest, pair: Any) -> list[tuple[Any, list[int]]]:
    """Return other pairs of the query with their visible grades, for comparison."""
    others = pair.round.pairs.filter(query=pair.query).exclude(pk=pair.pk)
    rows: Iterable[Any] = conflicts.with_details(
        others.exclude(pk__in=grade_visibility.pairs_with_hidden_grades(request.user, pair.round))
    )
    graded_documents = []
    for one in rows:
        settled = conflicts.settled_as(one)
        grades = [settled.grade] if settled else sorted(conflicts.grades_of(one).values())
        if grades:
            graded_documents.append((one.document, grades))
    return _of_each_grade(sorted(graded_documents, key=lambda row: -row[1][0]))


def _of_each_grade(rows: list[tuple[Any, list[int]]]) -> list[tuple[Any, list[int]]]:
    """Return a few pairs of each grade instead of many pairs of one grade."""
    by_grade: dict[int, list[tuple[Any, list[int]]]] = {}
    for row in rows:
        by_grade.setdefault(row[1][0], []).append(row)
    return [row for same in by_grade.values() for row in same[:BESIDE]]


@post_action.of_round(access.LEADS)
def example(request: HttpRequest, round_: Round, pair: str) -> HttpResponse:
    """Use a resolved pair as an example for the next guidelines version, or withdraw the example."""
    row = pair_to_resolve(request, round_, pair)
    settled = conflicts.settled_as(row)
    with errors_as_messages(request):
        if settled is None:
            raise NotFound("Resolve the pair first. An example shows the grade of the resolution.")
        waiting = examples.pending_examples(round_.collection).filter(adjudication=settled).first()
        if request.POST.get("act") == "remove":
            if waiting:
                examples.remove(waiting, actor=request.user)
            messages.success(
                request, "Example withdrawn. The draft of the next guidelines version no longer includes it."
            )
        else:
            examples.propose(settled, actor=request.user)
            messages.success(request, "Example proposed. The draft of the next guidelines version includes it.")
    return redirect("conflict", round_.uuid, row.uuid)
