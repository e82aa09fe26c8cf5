"""Lists of conflicts and of unrateable pairs that wait for a lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, overload
from urllib.parse import urlencode

from django.db.models import QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from judgments.agreement import conflicts
from judgments.agreement import conflicts as conflict_effects
from judgments.agreement.conflicts import Effects
from judgments.labels.grade_visibility import means_visible, pairs_with_hidden_grades
from judgments.models import Pair, Round
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import QUERY_COLUMN, Column
from judgments.web.figures import grade, state
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page

STEPS = [("2", "2 steps or more"), ("3", "3 steps or more")]
# Orders of the list by effect; the pages of single conflicts keep the order.
BY_EFFECT = "effect"
CHUNK = 500


def given(pair: Any) -> SafeString:
    """Return the answers to a pair as chips, each with its pseudonym."""
    top = max(pair.round.scale.values())
    unable = SafeString('<span class="badge">cannot judge</span>')
    shown = ((unable if one.grade is None else grade(one.grade, top), one.pseudonym) for one in pair.answers)
    return format_html_join(" ", '<span class="nowrap">{} <span class="mono muted">{}</span></span>', shown)


def _settled(pair: Any) -> SafeString:
    settled = conflicts.settled_as(pair)
    if settled is None:
        return state("todo", "open")
    top = max(pair.round.scale.values())
    return format_html('<span class="nowrap">{} {}</span>', state("done", "resolved as"), grade(settled.grade, top))


def _value(pair: Any) -> int | None:
    settled = conflicts.settled_as(pair)
    return None if settled is None else settled.grade


def _named(by_rater: Mapping[str, Any]) -> str:
    return " ".join(f"{rater}:{what}" for rater, what in by_rater.items())


def _wide(rows: QuerySet[Pair], value: str) -> QuerySet[Pair]:
    return rows.filter(spread__gte=int(value))


def _open(rows: QuerySet[Pair], value: str) -> QuerySet[Pair]:
    return rows.filter(resolved=value == "settled")


QUERY = ("query__text", "query__query_id", "document__title", "document__doc_id")
IDS = (
    Column("query_id", "Query id", value="query.query_id", style="id"),
    Column("doc_id", "Document id", value="document.doc_id", style="id"),
)
DOCUMENT = Column("document", "Document", order="document__title", value=lambda pair: str(pair.document), style="clip")
STATE = ChoiceFilter("settled", "State", _open, [("open", "open"), ("settled", "resolved")])


@dataclass(frozen=True)
class ByEffect:
    """Pairs in the order of their effect: keys are sorted, and only the page's rows are read."""

    rows: QuerySet[Pair]
    keys: list[int]

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> list[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | list[Pair]:
        wanted = self.keys[place] if isinstance(place, slice) else [self.keys[place]]
        by_key = {pair.pk: pair for pair in self.rows.filter(pk__in=wanted)}
        pairs = [by_key[pk] for pk in wanted if pk in by_key]
        return pairs if isinstance(place, slice) else pairs[0]

    def __iter__(self) -> Iterator[Pair]:
        for start in range(0, len(self.keys), CHUNK):
            yield from self[start : start + CHUNK]


@dataclass(frozen=True)
class ConflictListing(Listing):
    """The list of conflicts, which can also be sorted by effects that are not in the database."""

    effects: Effects | None = field(default=None)

    def _sorted(self, rows: Any, sort: str) -> Any:
        if sort.removeprefix("-") == BY_EFFECT and self.effects is not None:
            return ByEffect(rows, by_effect(rows, self.effects, up=not sort.startswith("-")))
        # One step of the index; the key is not needed as a tie-breaker, because positions differ.
        return rows.order_by(sort, "position") if sort == "-spread" else super()._sorted(rows, sort)


def by_effect(rows: QuerySet[Pair], effects: Effects, *, up: bool = False) -> list[int]:
    """Return the keys of the pairs, largest effect on the metric first; pairs without a known effect come last."""
    keys = list(rows.order_by("-spread", "position").values_list("pk", flat=True))
    known = sorted((pk for pk in keys if pk in effects.moves), key=lambda pk: effects.moves[pk], reverse=not up)
    return known + [pk for pk in keys if pk not in effects.moves]


def listing(round_: Round, effects: Effects | None, sort: str) -> ConflictListing:
    """Return the list, with a column of effects if they are known."""
    on = "?by=effect" if sort.removeprefix("-") == BY_EFFECT and effects is not None else ""
    moves = Column(
        BY_EFFECT,
        f"Largest change in {effects.metric}" if effects else "",
        order=BY_EFFECT,
        numeric=True,
        digits=4,
        value=lambda pair: effects.moves.get(pair.pk) if effects else None,
    )
    return ConflictListing(
        name="conflicts",
        noun=("conflict", "conflicts"),
        columns=(
            replace(QUERY_COLUMN, url=lambda pair: reverse("conflict", args=[round_.uuid, pair.uuid]) + on),
            Column("grades", "Grades", value=lambda pair: _named(conflicts.grades_of(pair)), show=given),
            Column("spread", "Difference", order="spread", numeric=True),
            *([moves] if effects else []),
            DOCUMENT,
            Column("notes", "Notes", value=lambda pair: ", ".join(conflicts.notes_of(pair)), style="muted nowrap"),
            Column("settled", "Resolved", value=_value, show=_settled),
            *IDS,
        ),
        search=QUERY,
        choices=(ChoiceFilter("steps", "Minimum difference", _wide, STEPS), STATE),
        order="-spread",
        effects=effects,
    )


def effects_for(reader: Any, round_: Round) -> Effects | None:
    """Return the effects of the conflicts if the reader may see means over all labels of the round."""
    return conflict_effects.effects(round_) if means_visible(reader, round_) else None


@get_page.of_round(access.LEADS)
def conflict_list(request: HttpRequest, round_: Round) -> HttpResponse:
    rows = _known(round_, conflicts.in_conflict(round_, viewer=request.user))
    effects = effects_for(request.user, round_)
    context = {
        **frame(request, round_, "agreement"),
        "hidden": pairs_with_hidden_grades(request.user, round_).count(),
        "overlapping": round_.pairs.filter(ratings_wanted__gt=1).exists(),
        "effects": effects,
        "why_not": "" if effects else (conflict_effects.why_not(round_) if means_visible(request.user, round_) else ""),
        "unrateable": _count_unrateable(round_),
        "keyboard": _by_keyboard(request, effects),
    }
    declared = listing(round_, effects, request.GET.get("sort", "")).worded_for(round_)
    return answer(request, declared, rows, "judgments/agreement/conflicts.html", context)


def _by_keyboard(request: HttpRequest, effects: Effects | None) -> str:
    """Return the choice and the order of the list for the page that shows its conflicts one at a time."""
    by = {"by": "effect"} if effects and request.GET.get("sort", "").removeprefix("-") == BY_EFFECT else {}
    steps = {"steps": request.GET["steps"]} if request.GET.get("steps") else {}
    return f"?{urlencode({**steps, **by})}" if steps or by else ""


UNRATEABLE = Listing(
    name="unrateable",
    noun=("pair", "pairs"),
    columns=(
        replace(QUERY_COLUMN, url=("conflict", "round.uuid", "uuid")),
        Column(
            "reasons",
            "Reasons given",
            value=lambda pair: "; ".join(dict.fromkeys(one.reason or "no reason given" for one in _unable(pair))),
            style="clip",
        ),
        Column("unrateable", "Raters", order="unrateable", numeric=True),
        DOCUMENT,
        Column("settled", "Resolved", value=_value, show=_settled),
        *IDS,
    ),
    search=QUERY,
    choices=(STATE,),
    order="-unrateable",
)


def _unable(pair: Any) -> list[Any]:
    return [one for one in pair.answers if one.grade is None]


@get_page.of_round(access.LEADS)
def unrateable_list(request: HttpRequest, round_: Round) -> HttpResponse:
    rows = _known(round_, conflicts.unrateable_pairs(round_, viewer=request.user))
    context = {
        **frame(request, round_, "agreement"),
        "hidden": pairs_with_hidden_grades(request.user, round_).count(),
        "unrateable": _count_unrateable(round_),
    }
    return answer(request, UNRATEABLE.worded_for(round_), rows, "judgments/agreement/unrateable.html", context)


def _known(round_: Round, rows: QuerySet[Pair]) -> QuerySet[Pair]:
    """Add the details of the list to the rows; the scale, which all rows share, is read once."""
    prefetch_related_objects([round_], "scale__grades")
    return (
        conflicts.with_details(rows)
        .select_related("query", "document", "round__scale")
        .prefetch_related("round__scale__grades")
    )


def _count_unrateable(round_: Round) -> int:
    """Return the number of current answers that say a pair cannot be judged, without reading them."""
    return sum(round_.tallies.values_list("unrateable", flat=True))
