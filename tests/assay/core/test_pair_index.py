"""Tests of the pair index: it finds exactly the stored keys, including keys that share their first bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.qrels import PairIndex

# Few different first bits and few different last ones: neighbours, equal keys and keys that only look alike.
KEY = st.builds(lambda high, low: (high << 60) | low, st.integers(0, 3), st.integers(0, 5))


@given(st.lists(KEY, min_size=1, max_size=30), st.lists(KEY, max_size=30))
@settings(max_examples=80)
def test_find_agrees_with_a_dictionary(table: list[int], keys: list[int]) -> None:
    rows, places = PairIndex.of(np.array(table, dtype=np.uint64)).find(np.array(keys, dtype=np.uint64))
    assert rows.tolist() == [at for at, key in enumerate(keys) if key in set(table)]
    assert [table[place] for place in places.tolist()] == [keys[row] for row in rows.tolist()]
