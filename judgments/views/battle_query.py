"""Pairwise comparisons of one query: matrix, scores, single answers, and the export of the run."""

from __future__ import annotations

import io
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from judgments import battle_scores, untold
from judgments.battle_scores import Told
from judgments.core.errors import NotFound
from judgments.formats import battles_jsonl
from judgments.models import Battle, BattleRun, Pair, Query, Round
from judgments.preferences.matrix_svg import MOST_SQUARES
from judgments.templatetags.figures import percent, state
from judgments.views.battles import reached
from judgments.views.downloads import disposition
from judgments.views.lists import Choice, Column, Listing, answer, on_record
from judgments.views.rounds import frame

WORDS = {"won": "won", "lost": "lost", "drawn": "drawn", "none": "no answer"}
SHAPES = {"won": "done", "lost": "todo", "drawn": "doing", "none": "fail"}


def signed(value: float | None, digits: int = 2) -> str:
    """A number with its sign; a dash where there is none."""
    return "–" if value is None else f"{value + 0.0:+.{digits}f}".replace("-", "−")


def _battles(given: dict[str, str]) -> Listing:
    return Listing(
        name="document",
        noun=("answer", "answers"),
        columns=(
            Column("other", "Against", order="other", head=True, style="id clip"),
            Column("result", "It", order="result", show=lambda row: state(SHAPES[row["result"]], WORDS[row["result"]])),
            Column("score", "For it", order="score", numeric=True, show=lambda row: signed(row["score"])),
            Column("model", "Model", order="model", style="clip"),
            Column("place", "Shown", order="place", style="nowrap"),
            Column("reason", "Its reason"),
        ),
        search=("other", "model", "reason"),
        choices=(Choice("result", "It", "result", list(WORDS.items())),),
        order="",
        mark=lambda row: "warning" if row["result"] == "none" else "",
        given=given,
    )


@login_required
@require_safe
def query(request: HttpRequest, uuid: str, run: str, query: str) -> HttpResponse:
    """The matrix, the scores, and the battles of one document: the best one's until another is asked for."""
    round_, found = reached(request, uuid, run)
    asked = query_of(round_, query)
    told = battle_scores.told(found, asked, request.user)
    shown = _document(round_, told, asked, request)
    rows = _rows(found, shown, request.user) if shown is not None else []
    listing = _battles({"document": str(shown.uuid)} if shown is not None else {})
    context = frame(request, round_) | {
        "run": found,
        "query": asked,
        "told": told,
        "svg": mark_safe(told.svg),  # noqa: S308 (made by matrix_svg, which escapes every text)
        "matrix": _table(told),
        "scores": [(one, signed(one.score)) for one in told.documents],
        "square": len(told.documents) / MOST_SQUARES if len(told.documents) > MOST_SQUARES else None,
        "first_share": percent(told.place.share),
        "shown": shown,
        "hidden": untold.untold_pairs(request.user, round_).filter(query=asked).count(),
    }
    return answer(request, listing, rows, "judgments/battle_query.html", context)


@login_required
@require_safe
def export(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    """All answers as battles.jsonl, which ``assay zelo`` reads; without what the reader may not be told."""
    round_, found = reached(request, uuid, run)
    _, rows = battle_scores.fought_rows(found, request.user)
    stream = io.BytesIO()
    battles_jsonl.write(rows, stream)
    on_record(request, f"the battles {found} of {round_}", round_.collection)
    response = HttpResponse(stream.getvalue(), content_type="application/x-ndjson")
    response.headers["Content-Disposition"] = disposition(f"{slugify(f'{round_.name} {found}')}.jsonl")
    return response


def query_of(round_: Round, uuid: Any) -> Query:
    """A query of the round.

    Raises
    ------
    NotFound
        The round has no pair of it.
    """
    try:
        found = Query.of_any_kind.filter(uuid=uuid, pairs__round=round_).first()
    except (ValidationError, ValueError):
        found = None
    if found is None:
        raise NotFound("This round has no such query.")
    return found


def _document(round_: Round, told: Told, query: Query, request: HttpRequest) -> Pair | None:
    asked = request.GET.get("document", "")
    pairs = [one.pair for one in told.documents]
    found = next((pair for pair in pairs if str(pair.uuid) == asked), None)
    if found is None and asked:
        hidden = untold.untold_pairs(request.user, round_).values("pk")
        known = round_.pairs.filter(query=query).exclude(pk__in=hidden).select_related("document")
        found = next((pair for pair in known if str(pair.uuid) == asked), None)
    return found or (pairs[0] if pairs else None)


def _rows(run: BattleRun, pair: Pair, viewer: Any) -> list[dict[str, Any]]:
    """Its battles as it fared, whichever of the two it was."""
    seen = battle_scores.visible(run, viewer).select_related("a__document", "b__document")
    rows = [*seen.filter(a=pair), *seen.filter(b=pair)]
    return [_row(row, row.a_id == pair.pk) for row in sorted(rows, key=lambda row: row.pk)]


def _row(row: Battle, is_a: bool) -> dict[str, Any]:
    score = row.score if row.score is None or not is_a else -row.score + 0.0
    result = "none" if score is None else "won" if score > 0 else "lost" if score < 0 else "drawn"
    return {
        "other": (row.b if is_a else row.a).document.doc_id,
        "result": result,
        "score": score,
        "model": row.model_answered or row.model_asked,
        "place": "first" if is_a != row.swapped else "second",
        "reason": row.reason if score is not None else row.outcome.replace("_", " "),
    }


def _table(told: Told) -> list[tuple[str, list[tuple[str, int]]]]:
    """The matrix in words where it is small: what stands in each cell, and how dark it is."""
    return [(doc_id, [(_cell(value), _level(value)) for value in line]) for doc_id, line in told.table]


def _cell(value: float | None) -> SafeString | str:
    return "" if value is None else signed(value, 1)


def _level(value: float | None) -> int:
    return 0 if value is None or value <= 0 else min(4, max(1, round(value * 4)))
