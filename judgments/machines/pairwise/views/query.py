"""Pairwise comparisons of one query: matrix, scores, single answers, and the export of the run."""

from __future__ import annotations

import io
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from assay.formats import battles_jsonl
from assay.llm.pairwise.matrix_svg import MOST_SQUARES
from judgments.labels import grade_visibility
from judgments.machines.calibration import pairwise_judges
from judgments.machines.pairwise import scores
from judgments.machines.pairwise.scores import QueryScores
from judgments.machines.pairwise.views.pairwise import reached
from judgments.models import Battle, BattleRun, Pair, Query, Round
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.figures import percent, state
from judgments.web.lists import ChoiceFilter, Listing, answer, on_record
from judgments.web.pages import get_page
from judgments.web.posted_values import uuid_of

WORDS = {"won": "won", "lost": "lost", "drawn": "tied", "none": "no answer"}
SHAPES = {"won": "done", "lost": "todo", "drawn": "doing", "none": "fail"}


def signed(value: float | None, digits: int = 2) -> str:
    """Return a number with its sign, or a dash for None."""
    return "–" if value is None else f"{value + 0.0:+.{digits}f}".replace("-", "−")


def _battles(given: dict[str, str]) -> Listing:
    return Listing(
        name="document",
        noun=("answer", "answers"),
        columns=(
            Column("other", "Other document", order="other", head=True, style="id clip"),
            Column(
                "result", "Result", order="result", show=lambda row: state(SHAPES[row["result"]], WORDS[row["result"]])
            ),
            Column("score", "Score", order="score", numeric=True, show=lambda row: signed(row["score"])),
            Column("model", "Model", order="model", style="clip"),
            Column("place", "Position", order="place", style="nowrap"),
            Column("reason", "Reason"),
        ),
        search=("other", "model", "reason"),
        choices=(ChoiceFilter("result", "Result", "result", list(WORDS.items())),),
        order="",
        mark=lambda row: "warning" if row["result"] == "none" else "",
        given=given,
    )


@get_page
def query(request: HttpRequest, uuid: str, run: str, query: str) -> HttpResponse:
    """Show the matrix, the scores, and the comparisons of one document, initially the best one."""
    round_, battle_run = reached(request, uuid, run)
    query_row = query_of(round_, query)
    query_scores = scores.query_scores(battle_run, query_row, request.user)
    shown = _document(round_, query_scores, query_row, request)
    rows = _rows(battle_run, shown, request.user) if shown is not None else []
    listing = _battles({"document": str(shown.uuid)} if shown is not None else {})
    context = frame(request, round_) | {
        "run": battle_run,
        "query": query_row,
        "query_scores": query_scores,
        "svg": mark_safe(query_scores.svg),  # noqa: S308 (made by matrix_svg, which escapes every text)
        "matrix": _table(query_scores),
        "doc_ids": [doc_id for doc_id, _ in query_scores.table],
        "scores": [(one, signed(one.score)) for one in query_scores.documents],
        "square": len(query_scores.documents) / MOST_SQUARES if len(query_scores.documents) > MOST_SQUARES else None,
        "first_share": percent(query_scores.place.share),
        "shown": shown,
        "hidden": grade_visibility.pairs_with_hidden_grades(request.user, round_).filter(query=query_row).count(),
    }
    return answer(request, listing, rows, "judgments/machines/pairwise/battle_query.html", context)


@get_page
def export(request: HttpRequest, uuid: str, run: str) -> HttpResponse:
    """Return all answers that the reader may see as battles.jsonl, which ``assay zelo`` reads."""
    round_, battle_run = reached(request, uuid, run)
    _, rows = scores.comparison_rows(battle_run, request.user)
    stream = io.BytesIO()
    battles_jsonl.write(rows, stream)
    on_record(request, f"the pairwise comparisons {battle_run} of {round_}", round_.collection)
    return attachment(f"{slugify(f'{round_.name} {battle_run}')}.jsonl", stream.getvalue())


def query_of(round_: Round, uuid: Any) -> Query:
    """Return a query of the round."""
    rows = Query.of_any_kind.filter(uuid=uuid_of(str(uuid)), pairs__round=round_)
    return access.existing(rows, "This round has no such query.")


def _document(round_: Round, query_scores: QueryScores, query: Query, request: HttpRequest) -> Pair | None:
    document = request.GET.get("document", "")
    pairs = [one.pair for one in query_scores.documents]
    shown = next((pair for pair in pairs if str(pair.uuid) == document), None)
    if shown is None and document:
        hidden = grade_visibility.pairs_with_hidden_grades(request.user, round_).values("pk")
        known = round_.pairs.filter(query=query).exclude(pk__in=hidden).select_related("document")
        shown = next((pair for pair in known if str(pair.uuid) == document), None)
    return shown or (pairs[0] if pairs else None)


def _rows(run: BattleRun, pair: Pair, viewer: Any) -> list[dict[str, Any]]:
    """Return the document's comparisons from its own side."""
    seen = pairwise_judges.visible_battles(run, viewer).select_related("a__document", "b__document")
    rows = [*seen.filter(a=pair), *seen.filter(b=pair)]
    return [_row(row, row.a_id == pair.pk) for row in sorted(rows, key=lambda row: row.pk)]


def _row(row: Battle, is_a: bool) -> dict[str, Any]:
    score = row.score if row.score is None or not is_a else -row.score + 0.0
    result = "none" if score is None else "won" if score > 0 else "lost" if score < 0 else "drawn"
    return {
        "other": (row.b if is_a else row.a).document.doc_id,
        "result": result,
        "score": score,
        "model": row.model_answered or row.requested_model,
        "place": "first" if is_a != row.swapped else "second",
        "reason": row.reason if score is not None else row.outcome.replace("_", " "),
    }


def _table(query_scores: QueryScores) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return a small matrix as text: the content and the color level of each cell."""
    return [(doc_id, [(_cell(value), _level(value)) for value in line]) for doc_id, line in query_scores.table]


def _cell(value: float | None) -> SafeString | str:
    return "" if value is None else signed(value, 1)


def _level(value: float | None) -> int:
    return 0 if value is None or value <= 0 else min(4, max(1, round(value * 4)))
