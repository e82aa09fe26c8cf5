"""Small labels and runs for property tests: ties, unjudged documents, queries that are not answered, odd grades."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from assay.core import Qrels, Run
from evaluation import evaluate

DOCUMENTS = ["a", "b", "c", "d", "é", "Z", "9", "10"]
QUERIES = ["q1", "q2", "q3"]
Grades = dict[str, float]
Judged = dict[str, Grades]
Slow = Callable[[list[str], Grades], float]

WHOLE = st.integers(-1, 3)
FRACTIONS = st.sampled_from([0.0, 0.125, 0.3, 0.5, 0.9, 1.0])


def labels(grades: st.SearchStrategy[float] = WHOLE) -> st.SearchStrategy[Judged]:
    """Labels of one to three queries."""
    of_query = st.dictionaries(st.sampled_from(DOCUMENTS), grades, min_size=1)
    return st.dictionaries(st.sampled_from(QUERIES), of_query, min_size=1)


def rankings() -> st.SearchStrategy[Judged]:
    """Runs of which every query is answered by something, with ties and documents that nobody judged.

    A query without labels returns all documents: labels and a run without any document in common are refused.
    """
    of_query = st.dictionaries(st.sampled_from([*DOCUMENTS, "u1", "u2"]), st.integers(-2, 2), min_size=1)
    return st.fixed_dictionaries(dict.fromkeys(QUERIES, of_query) | {"unjudged": st.just(dict.fromkeys(DOCUMENTS, 0))})


def ranked(scores: Grades) -> list[str]:
    """The documents by score descending, then id descending by bytes."""
    return sorted(scores, key=lambda doc_id: (scores[doc_id], doc_id.encode()), reverse=True)


def check(judged: Judged, scores: Judged, metric: str, slow: Slow) -> None:
    """Hold a metric against a slow form of it, query by query."""
    evaluation = evaluate(Qrels.from_dict(judged), Run.from_dict(scores, "run"), metric)
    values = evaluation.runs[0].per_query[evaluation.metrics[0]]
    for query_id, value in zip(evaluation.query_ids, values, strict=True):
        expected = slow(ranked(scores[query_id]), judged[query_id])
        assert abs(value - expected) <= 1e-12, (metric, query_id, value, expected)


def per_query(judged: Judged, scores: Judged, metric: str) -> dict[str, float]:
    """The values of one metric."""
    evaluation = evaluate(Qrels.from_dict(judged), Run.from_dict(scores, "run"), metric)
    return dict(zip(evaluation.query_ids, evaluation.runs[0].per_query[evaluation.metrics[0]].tolist(), strict=True))


# One case for which the peers' numbers are written down: unjudged documents, a negative grade, a query without anything
# relevant, documents that are not returned.
LABELS: Judged = {
    "1": {"a": 3, "b": 1, "c": 0, "d": 2, "e": 3},
    "2": {"a": 1, "x": 3, "y": 1},
    "3": {"a": 0, "b": 0},
    "4": {"k": 2, "l": 2, "m": 1},
}
RUN: Judged = {
    "1": {"u1": 9.0, "b": 8.5, "a": 8.0, "u2": 7.5, "d": 7.0, "c": 6.0},
    "2": {"x": 3.0, "u": 2.0, "a": 1.0},
    "3": {"a": 2.0, "u": 1.0},
    "4": {"k": 4.0, "u1": 3.5, "u2": 3.0, "m": 2.5, "u3": 2.0, "u4": 1.5, "l": 1.0},
}
