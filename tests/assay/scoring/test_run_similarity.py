"""Tests of run similarity: equal to the definitions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.run import Run
from assay.scoring.run_similarity import Likeness, likeness, tops

LISTS = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=7)


def run(**rankings: list[str]) -> Run:
    """A run with these rankings."""
    return Run.from_dict({query: {doc: -rank for rank, doc in enumerate(docs)} for query, docs in rankings.items()})


def plain(one: list[str], other: list[str], p: float = 0.9) -> tuple[float, float]:
    """Jaccard and extrapolated RBO, straight from the definitions."""
    n = max(len(one), len(other))
    agreed = [2 * len(set(one[:d]) & set(other[:d])) / (len(one[:d]) + len(other[:d])) for d in range(1, n + 1)]
    rbo = agreed[-1] * p**n + (1 - p) / p * sum(value * p**d for d, value in enumerate(agreed, 1))
    return len(set(one) & set(other)) / len(set(one) | set(other)), rbo


@settings(max_examples=60)
@given(LISTS, LISTS, LISTS, LISTS)
def test_means_over_the_queries_that_one_of_both_answers(
    one: list[str], two: list[str], three: list[str], four: list[str]
) -> None:
    names = ["q1", "q2", "q3"]
    similarity = likeness(tops(run(q1=one, q2=two), names, 5), tops(run(q1=three, q2=four), names, 5))
    pairs = [(a[:5], b[:5]) for a, b in ((one, three), (two, four)) if a or b]
    assert similarity.queries == len(pairs)
    if pairs:
        jaccard, rbo = zip(*(plain(*pair) for pair in pairs), strict=True)
        assert similarity.jaccard == pytest.approx(sum(jaccard) / len(pairs))
        assert similarity.rbo == pytest.approx(sum(rbo) / len(pairs))
        assert similarity.same == sum(a == b for a, b in pairs)


def test_a_run_is_like_itself_and_two_empty_ones_are_like_nothing() -> None:
    one = run(q1=["a", "b"], q2=["c"])
    similarity = likeness(tops(one, one.query_ids), tops(one, one.query_ids))
    assert (similarity.jaccard, similarity.same, similarity.queries) == (1.0, 2, 2)
    assert similarity.rbo == pytest.approx(1.0)
    assert likeness(tops(one, ["q9"]), tops(one, ["q9"])) == Likeness(None, None, 0, 0)
