"""Tests of near duplicates: all likely ones are detected, and different texts stay apart."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.sampling.near_duplicates import ALIKE, ENDING, SAME_WORDS, near_duplicates
from assay.sampling.query_table import LogQuery


def queries(*texts: str) -> list[LogQuery]:
    return [LogQuery(text, text, len(texts) - place, None, 1, None) for place, text in enumerate(texts)]


def groups(*texts: str, similarity: float = 0.9) -> list[tuple[str, ...]]:
    return [tuple(query.text for query in group.queries) for group in near_duplicates(queries(*texts), similarity)]


def jaccard(one: str, other: str) -> float:
    """The definition, plainly."""
    a, b = ({f" {text} "[at : at + 3] for at in range(len(text))} for text in (one, other))
    return len(a & b) / len(a | b)


def test_the_same_words_in_another_order() -> None:
    (result,) = near_duplicates(queries("red rain jacket", "rain jacket red", "jacket"))
    assert [query.text for query in result.queries] == ["red rain jacket", "rain jacket red"]
    assert result.reasons == ("", SAME_WORDS)


def test_nearly_the_same_letters() -> None:
    one, other = "waterproof hiking boote for men", "waterproof hiking boot for men"
    assert jaccard(one, other) == pytest.approx(28 / 33)
    assert groups(one, other) == []
    (result,) = near_duplicates(queries(one, other), similarity=0.84)
    assert result.reasons == ("", ALIKE)


def test_a_plural_of_a_short_query_is_detected() -> None:
    (result,) = near_duplicates(queries("rakes", "rake", "glas", "glass", "gas", "ga"))
    assert ([query.text for query in result.queries], result.reasons) == (["rakes", "rake"], ("", ENDING))
    assert groups("rain jacket", "rain jackets", "jackets rain") == [("rain jacket", "rain jackets", "jackets rain")]
    assert groups("phone x5s", "phone x5", "phone 20s", "phone 20") == []


def test_another_number_is_another_thing() -> None:
    assert groups("a very long name of a phone model 20", "a very long name of a phone model 21", similarity=0.8) == []
    assert groups("c++", "c") == []


def test_groups_merge_and_the_most_searched_comes_first() -> None:
    assert groups("b a", "x", "a b", "x x", "a b b") == [("b a", "a b", "a b b"), ("x", "x x")]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab c", min_size=1, max_size=12).map(str.strip).filter(bool), unique=True, max_size=12))
def test_no_pair_is_missed(texts: list[str]) -> None:
    by_key = {text: number for number, group in enumerate(groups(*texts, similarity=0.6)) for text in group}
    for one, other in combinations(texts, 2):
        if jaccard(one, other) >= 0.6 or set(one.split()) == set(other.split()):
            assert by_key[one] == by_key[other]


@pytest.mark.parametrize("similarity", [0.0, 0.5, 1.1])
def test_a_similarity_out_of_range_is_refused(similarity: float) -> None:
    with pytest.raises(NotValid, match="similarity"):
        near_duplicates([], similarity)
