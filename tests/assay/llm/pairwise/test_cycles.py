"""Tests of random cycles: pairs drawn once, connected documents, swapped order, seeds."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.llm.pairwise.score_fitting import draw_pairs, swapped


@given(st.integers(0, 60), st.integers(1, 6), st.integers(0, 1000))
def test_pairs_are_drawn_once_and_again(documents: int, cycles: int, seed: int) -> None:
    pairs = draw_pairs(documents, cycles, seed=seed)
    assert pairs == draw_pairs(documents, cycles, seed=seed)
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) <= cycles * documents
    assert all(a != b and min(a, b) >= 0 and max(a, b) < documents for a, b in pairs)


def test_each_document_meets_two_others_in_a_cycle() -> None:
    met = Counter(place for pair in draw_pairs(50, 1, seed=9) for place in pair)
    assert set(met.values()) == {2}
    assert len(met) == 50


@given(st.integers(2, 60), st.integers(0, 1000))
def test_all_documents_are_connected(documents: int, seed: int) -> None:
    reached, pairs = {0}, draw_pairs(documents, 1, seed=seed)
    for _ in range(documents):
        reached |= {place for pair in pairs if reached & set(pair) for place in pair}
    assert reached == set(range(documents))


def test_half_are_shown_the_other_way_and_a_share_both_ways() -> None:
    other, both = swapped(2_000, 0.25, seed=1)
    assert 900 < sum(other) < 1_100
    assert sum(both) == 500
    assert swapped(2_000, 0.25, seed=1) == (other, both)
    with pytest.raises(NotValid, match="from 0 to 1"):
        swapped(10, 1.5, seed=1)
