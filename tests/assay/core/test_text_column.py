"""Tests of grouping rows by query: stable order, grouped input, repeated documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.text_column import Texts, grouped, repeated


@given(st.lists(st.sampled_from(["q1", "q2", "q10", "é", "Z"]), max_size=30))
@settings(max_examples=50)
def test_rows_are_grouped_by_query_and_keep_their_order(names: list[str]) -> None:
    groups = grouped(Texts.of(names))
    order = list(range(len(names))) if groups.order is None else groups.order.tolist()
    assert groups.names == tuple(sorted(set(names)))
    assert order == sorted(range(len(names)), key=lambda at: (names[at], at))
    assert groups.offsets.tolist() == [sum(name < query for name in names) for query in groups.names] + [len(names)]


def test_grouped_rows_stay_unchanged() -> None:
    assert grouped(Texts.of(["q1", "q1", "q2"])).order is None


def first_repeated(pairs: list[tuple[int, str]]) -> tuple[int, int] | None:
    known: dict[tuple[int, str], int] = {}
    return next(((known[pair], row) for row, pair in enumerate(pairs) if known.setdefault(pair, row) != row), None)


DOCUMENT = st.sampled_from(["d1", "d2", "d3", "é", "a-longer-document"])
PAIRS = st.lists(st.tuples(st.integers(0, 3), DOCUMENT), max_size=9)


@given(PAIRS, st.booleans())
@settings(max_examples=50)
def test_duplicate_document_is_reported_with_its_first_row(pairs: list[tuple[int, str]], collide: bool) -> None:
    # No two ids with one key are known; where every id has the same key, the texts must decide.
    query, doc_ids = np.array([at for at, _ in pairs], dtype=np.int64), Texts.of([doc_id for _, doc_id in pairs])
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(Texts, "keys", lambda self: np.zeros(len(self), dtype=np.uint64))
        assert repeated(query, doc_ids) == first_repeated(pairs)
