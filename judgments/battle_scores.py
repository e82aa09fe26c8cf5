"""Scores of documents from pairwise comparisons: results by query, and the effect of the order shown.

A reader who may still grade one of two documents sees none of their comparisons: the score of the other document is
computed without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from judgments import untold
from judgments.formats.battles_jsonl import Battle as Row
from judgments.models import Battle, BattleCanary, BattleRun, Pair, Query
from judgments.preferences.fitting import fit_queries
from judgments.preferences.matrix_svg import matrix_svg, outcomes
from judgments.preferences.position_bias import FirstPlace, first_place

# Query and document by their ids.
Key = tuple[str, str]
# Up to so many documents the matrix stands there as a table too.
MOST_IN_TABLE = 12


@dataclass(frozen=True)
class Scored:
    """One document of a query by its battles.

    Parameters
    ----------
    pair : Pair
        With its document.
    score : float
        A natural logarithm; mean 0 within the query, and comparable in no other one.
    error : float or None
        Its standard error.
    answers : int
        Answers with a score that it stands on.
    apart : bool
        Whether the next one below is further away than both errors together.
    """

    pair: Pair
    score: float
    error: float | None
    answers: int
    apart: bool = False


@dataclass(frozen=True)
class Told:
    """What the battles of a query tell a reader.

    Parameters
    ----------
    documents : tuple of Scored
        The best first.
    answers, failed : int
        Answers with a score, and calls without one, which are no vote.
    place : FirstPlace
        What the place alone decided.
    svg : str
        The matrix, sorted by score; empty without an answer.
    table : list of (str, list of float or None)
        The same as rows of a table where there are few documents; empty else.
    """

    documents: tuple[Scored, ...]
    answers: int
    failed: int
    place: FirstPlace
    svg: str
    table: list[tuple[str, list[float | None]]]


def visible(run: BattleRun, viewer: Any, table: type[Battle] | type[BattleCanary] = Battle) -> QuerySet[Any]:
    """The battles that a reader may be told of: none with a document that they may still grade.

    Parameters
    ----------
    run : BattleRun
        Whose.
    viewer : User or None
        Who reads; None for a verb, which tells nobody.
    table : type
        `BattleCanary` for those with planted text.
    """
    rows = table.objects.filter(run=run)
    if viewer is None:
        return rows
    hidden = untold.untold_pairs(viewer, run.round).values("pk")
    return rows.exclude(Q(a__in=hidden) | Q(b__in=hidden))


def fought_rows(run: BattleRun, viewer: Any, query: Query | None = None) -> tuple[dict[int, Key], list[Row]]:
    """The battles as files hold them, and the ids of the pairs that are in them.

    Returns
    -------
    (dict of int to (query_id, doc_id), list of Row)
        By the pairs' keys; and each answer with its score as if a had been shown first. A failed call has none, and its
        outcome for a reason.
    """
    found = visible(run, viewer)
    pairs = run.round.pairs.all()
    if query is not None:
        found, pairs = found.filter(a__query=query), pairs.filter(query=query)
    known = pairs.values_list("pk", "query__query_id", "document__doc_id")
    names = {pk: (query_id, doc_id) for pk, query_id, doc_id in known}
    columns = ("a", "b", "score", "model_answered", "model_asked", "swapped", "reason", "outcome")
    rows = [
        Row(*names[a], names[b][1], score, answered or asked, turned, reason if score is not None else outcome)
        for a, b, score, answered, asked, turned, reason, outcome in found.order_by("pk").values_list(*columns)
    ]
    return names, rows


def scores_of(run: BattleRun, viewer: Any, query: Query | None = None) -> dict[Key, tuple[float, float | None]]:
    """Score and standard error of each document that was in a battle with an answer."""
    _, rows = fought_rows(run, viewer, query)
    fitted = fit_queries([(row.query_id, row.a, row.b, row.score) for row in rows])
    return {(query_id, doc_id): (score, error) for query_id, doc_id, score, error in fitted.scores}


def told(run: BattleRun, query: Query, viewer: Any) -> Told:
    """All that the battles of one query tell the reader."""
    names, rows = fought_rows(run, viewer, query)
    fitted = fit_queries([(row.query_id, row.a, row.b, row.score) for row in rows])
    ids = [doc_id for _, doc_id, _, _ in fitted.scores]
    scores = [score for _, _, score, _ in fitted.scores]
    met = outcomes(ids, [(row.a, row.b, row.score) for row in rows])
    title = f"Battles of “{query.text[:80]}”"
    svg = matrix_svg(ids, met, scores, title=title) if ids else ""
    table = []
    if len(ids) <= MOST_IN_TABLE:
        # NaN is two that never met.
        table = [
            (doc_id, [None if cell != cell else cell for cell in line])
            for doc_id, line in zip(ids, met.tolist(), strict=True)
        ]
    return Told(_scored(names, rows, fitted.scores), fitted.battles, fitted.failed, first_place(rows), svg, table)


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
    found = []
    for at, (_, doc_id, score, error) in enumerate(scores):
        below = scores[at + 1] if at + 1 < len(scores) else None
        apart = below is not None and _apart(score, error, below[2], below[3])
        found.append(Scored(pairs[keys[doc_id]], score, error, answers.get(doc_id, 0), apart))
    return tuple(found)


def _apart(score: float, error: float | None, other: float, its: float | None) -> bool:
    return error is not None and its is not None and score - other > error + its


def queries_of(run: BattleRun, viewer: Any) -> list[dict[str, Any]]:
    """Of each query that was fought about: how many answers, and how many calls gave none."""
    rows = visible(run, viewer).order_by().values(query=F("a__query__uuid"), text=F("a__query__text"))
    counted = rows.annotate(
        answers=Count("pk", filter=Q(score__isnull=False)), failed=Count("pk", filter=Q(score__isnull=True))
    )
    return list(counted.order_by("a__query__query_id"))


def counts(run: BattleRun, viewer: Any) -> list[dict[str, Any]]:
    """By model: answers, calls without one, those where the place shown first won, and of how many with a winner."""
    first = Q(score__lt=0, swapped=False) | Q(score__gt=0, swapped=True)
    rows = visible(run, viewer).order_by().values("model_asked")
    found = rows.annotate(
        answers=Count("pk", filter=Q(score__isnull=False)),
        failed=Count("pk", filter=Q(score__isnull=True)),
        decided=Count("pk", filter=Q(score__isnull=False) & ~Q(score=0)),
        first=Count("pk", filter=first),
    )
    return [
        {**row, "model": row["model_asked"], "share": row["first"] / row["decided"] if row["decided"] else None}
        for row in found.order_by("model_asked")
    ]
