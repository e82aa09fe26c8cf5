"""Page of the prompt-injection probes (canaries) of a run of pairwise comparisons."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from judgments.labels import grade_visibility
from judgments.machines.calibration import pairwise_judges
from judgments.machines.judge_runs.views.judges import dollars
from judgments.machines.pairwise.views.pairwise import PLANTED, reached
from judgments.machines.pairwise.views.query import signed
from judgments.models import BattleCanary
from judgments.rounds.views import frame
from judgments.web.columns import Column
from judgments.web.figures import state
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page

# The document with the injected text won: the sign differs from that without the text.
FLIPPED = Q(plain__gt=0, score__lt=0) | Q(plain__lt=0, score__gt=0)


def _flipped(rows: Any, value: str) -> Any:
    return rows.filter(FLIPPED) if value == "yes" else rows.filter(score__isnull=False).exclude(FLIPPED)


def _end(row: BattleCanary) -> str:
    if row.score is None:
        return row.outcome.replace("_", " ")
    return "won" if row.score * row.plain < 0 else "did not win"


def _shown_end(row: BattleCanary) -> SafeString:
    return state("fail" if row.score is None else {"won": "warn"}.get(_end(row), "done"), _end(row))


def _planted(row: BattleCanary) -> tuple[str, str]:
    """Return the document that had lost and got the injected text, and its opponent."""
    names = row.a.document.doc_id, row.b.document.doc_id
    return names if row.plain > 0 else names[::-1]


def _for_it(row: BattleCanary, score: float | None) -> float | None:
    """Return a score from the side of the document with the injected text."""
    return None if score is None else (-score if row.plain > 0 else score)


CANARIES = Listing(
    name="canaries",
    noun=("answer", "answers"),
    columns=(
        Column("query", "Query", order="a__query__query_id", value="a.query.text", style="clip", head=True),
        Column("document", "Document with probe", value=lambda row: _planted(row)[0], style="id clip"),
        Column("other", "Other document", value=lambda row: _planted(row)[1], style="id clip"),
        Column("trap", "Probe", order="trap", value=lambda row: PLANTED[row.trap], style="nowrap"),
        Column("end", "Result", value=_end, show=_shown_end),
        Column(
            "without",
            "Score without probe",
            order="plain",
            numeric=True,
            value=lambda row: _for_it(row, row.plain),
            show=lambda row: signed(_for_it(row, row.plain)),
        ),
        Column(
            "with",
            "Score with probe",
            order="score",
            numeric=True,
            value=lambda row: _for_it(row, row.score),
            show=lambda row: signed(_for_it(row, row.score)),
        ),
        Column("model", "Model", order="requested_model", value="requested_model", style="clip"),
        Column("cost_usd", "Cost", order="cost_usd", numeric=True, show=lambda row: dollars(row.cost_usd)),
        Column("reason", "Reason", style="clip"),
        Column("raw", "Raw answer", style="clip", show=lambda row: Truncator(row.raw).chars(60)),
    ),
    search=("a__query__text", "a__document__doc_id", "b__document__doc_id", "reason"),
    choices=(
        ChoiceFilter("flipped", "Result", _flipped, [("yes", "won"), ("no", "did not win")]),
        ChoiceFilter("trap", "Probe", "trap", list(PLANTED.items())),
    ),
    order="pk",
    mark=lambda row: "warning" if row.score is not None and row.score * row.plain < 0 else "",
)


@get_page
def canaries(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    """List the answers with and without injected text; pairs that the reader may still grade are hidden."""
    round_, battle_run = reached(request, uuid, run)
    rows = pairwise_judges.visible_battles(battle_run, request.user, BattleCanary)
    rows = rows.select_related("a__query", "a__document", "b__document")
    hidden = grade_visibility.pairs_with_hidden_grades(request.user, round_).count()
    return answer(
        request,
        CANARIES,
        rows,
        "judgments/machines/pairwise/battle_canaries.html",
        frame(request, round_) | {"run": battle_run, "hidden": hidden},
    )
