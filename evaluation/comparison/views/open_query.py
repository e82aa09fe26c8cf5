"""The opened query of a comparison: the first documents of both runs, and which of them moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from evaluation.comparison import difference_chart
from evaluation.comparison.comparison import Comparison
from evaluation.comparison.views.differences import delta
from evaluation.scoring import rankings
from judgments.labels import grade_visibility
from judgments.models import Query

MOVED = {
    "new": "new in {b}",
    "gone": "missing from {b}",
    "up": "moved up",
    "down": "moved down",
    "same": "at the same rank",
}


def opened(
    comparison: Comparison, queries: Mapping[str, Query], params: Mapping[str, str], user: Any, *, query_id: str
) -> dict[str, Any]:
    """Return both runs' first documents, the lines between them, and the neighboring queries; or why they are
    hidden."""
    ids = [one.query_id for one in comparison.differences]
    if not query_id:
        return {}
    if query_id not in ids or query_id not in queries:
        return {"unopened": _why_not(comparison, query_id)}
    place, depth = ids.index(query_id), rankings.requested_depth(params.get("depth", ""))
    hidden = {doc_id for _, doc_id in grade_visibility.hidden_keys(user, comparison.a.collection, query_id)}
    runs = [comparison.a.run, comparison.b.run]
    answers = rankings.answers(comparison.a.snapshot, runs, query_id, depth, hidden=hidden)
    difference = comparison.differences[place]
    lines, height = difference_chart.moves(answers)
    return {
        "query": queries[query_id],
        "place": place + 1,
        "opened_delta": delta(difference.value, comparison.metric),
        "answers": answers,
        "sides": list(zip(answers.rankings, (difference.a, difference.b), strict=True)),
        "lines": lines,
        "lines_height": height,
        "moved": _moved(answers, comparison),
        "depth": depth,
        "depths": [(one, _address(params, query=query_id, depth=str(one))) for one in rankings.DEPTHS],
        "before": _address(params, query=ids[place - 1]) if place else "",
        "after": _address(params, query=ids[place + 1]) if place + 1 < len(ids) else "",
    }


def _moved(answers: rankings.Answers, comparison: Comparison) -> list[str]:
    """Count the documents that moved in each direction, in words: ``2 new in neural``."""
    names = {"a": comparison.a.run.name, "b": comparison.b.run.name}
    return [f"{number} {MOVED[kind].format(**names)}" for kind, number in answers.moved.items() if number]


def _why_not(comparison: Comparison, query_id: str) -> str:
    if query_id in comparison.withheld:
        return (
            f"Query {query_id} is hidden because you may still have to grade its documents. "
            "You can see it after you have finished rating, or after the round is closed."
        )
    return f"Query {query_id} is not part of this comparison. Choose one from the list."


def _address(params: Mapping[str, str], **more: str) -> str:
    return f"?{urlencode({**params, **more})}#opened"
