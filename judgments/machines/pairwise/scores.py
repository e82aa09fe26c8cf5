"""Scores of documents from pairwise comparisons: results by query, and the effect of the order shown.

Comparisons with a document that the reader may still grade are hidden, and the other document's score is computed
without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q

from assay.formats.battles_jsonl import Battle as Row
from assay.llm.pairwise.battles import FirstPlace, first_place
from assay.llm.pairwise.matrix_svg import matrix_svg, outcomes
from assay.llm.pairwise.score_fitting import fit_queries
from judgments.machines.calibration.pairwise_judges import visible_battles
from judgments.models import BattleRun, Pair, Query

# Query and document by their ids.
Key = tuple[str, str]
# Up to this number of documents, the matrix is also shown as a table.
MOST_IN_TABLE = 12


@dataclass(frozen=True)
class Scored:
    """The score of one document of a query."""

    pair: Pair
    score: float
    error: float | None
    answers: int
    apart: bool = False


@dataclass(frozen=True)
class QueryScores:
    """The scores of one query that a reader may see."""

    documents: tuple[Scored, ...]
    answers: int
    failed: int
    place: FirstPlace
    svg: str
    table: list[tuple[str, list[float | None]]]


def comparison_rows(run: BattleRun, viewer: Any, query: Query | None = None) -> tuple[dict[int, Key], list[Row]]:
    """Return the visible comparisons as files contain them, and the ids of the pairs."""
    battles = visible_battles(run, viewer)
    pairs = run.round.pairs.all()
    if query is not None:
        battles, pairs = battles.filter(a__query=query), pairs.filter(query=query)
    known = pairs.values_list("pk", "query__query_id", "document__doc_id")
    names = {pk: (query_id, doc_id) for pk, query_id, doc_id in known}
    columns = ("a", "b", "score", "model_answered", "requested_model", "swapped", "reason", "outcome")
    rows = [
        Row(*names[a], names[b][1], score, answered or requested, turned, reason if score is not None else outcome)
        for a, b, score, answered, requested, turned, reason, outcome in battles.order_by("pk").values_list(*columns)
    ]
    return names, rows


def scores_of(run: BattleRun, viewer: Any, query: Query | None = None) -> dict[Key, tuple[float, float | None]]:
    """Return the score and standard error of each document with an answered comparison."""
    _, rows = comparison_rows(run, viewer, query)
    fitted = fit_queries([(row.query_id, row.a, row.b, row.score) for row in rows])
    return {(query_id, doc_id): (score, error) for query_id, doc_id, score, error in fitted.scores}


def query_scores(run: BattleRun, query: Query, viewer: Any) -> QueryScores:
    """Return the scores of one query that the reader may see."""
    names, rows = comparison_rows(run, viewer, query)
    fitted = fit_queries([(row.query_id, row.a, row.b, row.score) for row in rows])
    ids = [doc_id for _, doc_id, _, _ in fitted.scores]
    scores = [score for _, _, score, _ in fitted.scores]
    met = outcomes(ids, [(row.a, row.b, row.score) for row in rows])
    title = f"Comparisons of “{query.text[:80]}”"
    svg = matrix_svg(ids, met, scores, title=title) if ids else ""
    table = []
    if len(ids) <= MOST_IN_TABLE:
        # NaN marks two documents that were not compared.
        table = [
            (doc_id, [None if cell != cell else cell for cell in line])
            for doc_id, line in zip(ids, met.tolist(), strict=True)
        ]
    return QueryScores(
        _scored(names, rows, fitted.scores), fitted.battles, fitted.failed, first_place(rows), svg, table
    )


def _scored(
    names: dict[int, Key], rows: Sequence[Row], scores: Sequence[tuple[str, str, float, float | None]]
) -> tuple[Scored, ...]:
    keys = {doc_id: pk for pk, (_, doc_id) in names.items()}
    wanted = [keys[doc_id] for _, doc_id, _, _ in scores]
    pairs = {pair.pk: pair for pair in Pair.objects.filter(pk__in=wanted).select_related("document")}
    answers: dict[str, int] = {}
    for row in rows:
        for doc_id in (row.a, row.b) if row.score is not None else ():
            answers[doc_id] = answers.get(doc_id, 0) + 1
    scored = []
    for at, (_, doc_id, score, error) in enumerate(scores):
        below = scores[at + 1] if at + 1 < len(scores) else None
        apart = below is not None and _apart(score, error, below[2], below[3])
        scored.append(Scored(pairs[keys[doc_id]], score, error, answers.get(doc_id, 0), apart))
    return tuple(scored)


def _apart(score: float, error: float | None, other: float, its: float | None) -> bool:
    return error is not None and its is not None and score - other > error + its


def queries_of(run: BattleRun, viewer: Any) -> list[dict[str, Any]]:
    """Return the numbers of answers and of failed calls for each query."""
    rows = visible_battles(run, viewer).order_by().values(query=F("a__query__uuid"), text=F("a__query__text"))
    counted = rows.annotate(
        answers=Count("pk", filter=Q(score__isnull=False)), failed=Count("pk", filter=Q(score__isnull=True))
    )
    return list(counted.order_by("a__query__query_id"))


def counts(run: BattleRun, viewer: Any) -> list[dict[str, Any]]:
    """Return by model the numbers of answers, failed calls, decided answers, and answers won by the first document
    shown."""
    first = Q(score__lt=0, swapped=False) | Q(score__gt=0, swapped=True)
    rows = visible_battles(run, viewer).order_by().values("requested_model")
    counted = rows.annotate(
        answers=Count("pk", filter=Q(score__isnull=False)),
        failed=Count("pk", filter=Q(score__isnull=True)),
        decided=Count("pk", filter=Q(score__isnull=False) & ~Q(score=0)),
        first=Count("pk", filter=first),
    )
    return [
        {**row, "model": row["requested_model"], "share": row["first"] / row["decided"] if row["decided"] else None}
        for row in counted.order_by("requested_model")
    ]
