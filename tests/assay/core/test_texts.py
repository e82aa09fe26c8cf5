"""Tests of byte-encoded text columns: round trip, keys, comparison, order, joins."""

from __future__ import annotations

import pickle
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.text_column import FEW_ROWS, Texts

# A NUL character cannot be in an id; half a surrogate pair can be in a Python text, so it must survive.
TEXT = st.text(st.characters(blacklist_characters="\0"), max_size=20)
TEXTS = st.lists(TEXT, min_size=1, max_size=12)


def encoded(texts: list[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in texts]


@given(TEXTS)
@settings(max_examples=50)
def test_the_texts_come_back(texts: list[str]) -> None:
    column = Texts.of(texts)
    again = Texts(column.buffer, column.starts, column.ends)
    assert again.tolist() == texts
    assert [again[at] for at in range(len(texts))] == texts
    assert Texts(column.buffer, column.starts, column.ends)[1:3] == texts[1:3]
    assert list(pickle.loads(pickle.dumps(again))) == texts


@given(TEXTS, TEXTS)
@settings(max_examples=50)
def test_equal_texts_have_equal_keys_in_every_column(left: list[str], right: list[str]) -> None:
    one, other = Texts.of([*left, *right]), Texts.of(right)
    assert one.keys()[len(left) :].tolist() == other.keys().tolist()
    places = np.arange(len(right))
    assert one.same(places + len(left), other, places).all()


@given(TEXTS)
@settings(max_examples=50)
def test_rows_compare_as_their_texts_do(texts: list[str]) -> None:
    column = Texts.of(texts)
    mine, theirs = (grid.ravel() for grid in np.meshgrid(np.arange(len(texts)), np.arange(len(texts))))
    data = encoded(texts)
    assert column.same(mine, column, theirs).tolist() == [data[a] == data[b] for a, b in zip(mine, theirs, strict=True)]
    assert column.below(mine, theirs).tolist() == [data[a] < data[b] for a, b in zip(mine, theirs, strict=True)]
    assert column.changes().tolist() == [True, *(a != b for a, b in pairwise(data))]


@given(TEXTS, st.data())
@settings(max_examples=50)
def test_the_order_is_by_group_then_bytes_descending(texts: list[str], data: st.DataObject) -> None:
    groups = data.draw(st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts)))
    order = Texts.of(texts).descending(np.array(groups))
    rows = [(groups[at], encoded(texts)[at]) for at in order.tolist()]
    for group in set(groups):
        inside = [text for of, text in rows if of == group]
        assert inside == sorted(inside, reverse=True)
    assert [group for group, _ in rows] == sorted(groups)


@pytest.mark.parametrize("prefix", ["", "é", "a long prefix "])
@pytest.mark.parametrize("largest", [20, 10**6, 2**70])
def test_many_rows_have_the_order_of_few(prefix: str, largest: int) -> None:
    random = Random(3)
    texts = [f"{prefix}{random.randrange(largest)}" for _ in range(FEW_ROWS + 1)]
    groups = [random.randrange(-3, 3) for _ in texts]
    expected = sorted(range(len(texts)), key=lambda row: texts[row], reverse=True)
    expected.sort(key=lambda row: groups[row])
    order = Texts.of(texts).descending(np.array(groups)).tolist()
    assert [(groups[row], texts[row]) for row in order] == [(groups[row], texts[row]) for row in expected]
    pairs = [(groups[row], texts[row], row) for row in order]
    assert all(a[2] < b[2] for a, b in pairwise(pairs) if a[:2] == b[:2])


@given(st.lists(TEXTS, min_size=1, max_size=4))
@settings(max_examples=50)
def test_columns_join(parts: list[list[str]]) -> None:
    joined = Texts.joined([Texts.of(part) for part in parts])
    assert joined.tolist() == [text for part in parts for text in part]


def test_different_texts_have_different_keys() -> None:
    texts = [f"{prefix}{number}" for prefix in ("", "d", "document-of-some-length-") for number in range(50_000)]
    assert len(np.unique(Texts.of(texts).keys())) == len(texts)


def test_a_text_is_not_the_same_with_bytes_behind_it() -> None:
    column = Texts.of(["ab", "abc", "a", "", "12345678", "123456789"])
    assert len(set(column.keys().tolist())) == 6
    assert not column.same(np.array([0, 4]), column, np.array([1, 5])).any()


def test_few_texts_of_a_large_buffer_are_read_alone() -> None:
    column = Texts.of([f"d{number}" for number in range(10_000)]).take(np.array([3, 9_999]))
    assert column.tolist() == ["d3", "d9999"]
    assert column == ["d3", "d9999"]
    assert column != ["d3", "d4"]
