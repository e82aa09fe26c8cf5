"""Tests of run tables: the same rows as those of the readers, with each id held once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.text_column import Texts
from assay.formats import FORMATS
from assay.formats.row_types import RunRow
from assay.formats.stored_run import IdColumn, RunTable

IDS = st.text("abé", min_size=1, max_size=3)
ROWS = st.lists(st.builds(RunRow, IDS, IDS, st.sampled_from([0.5, 1.0, 7.25]), st.none() | st.integers(0, 3)))


@given(ROWS)
def test_a_table_has_the_rows_it_was_made_of(rows: list[RunRow]) -> None:
    table = RunTable.of(rows)
    assert list(table) == table[:] == rows
    assert [row.rank for row in table] == [row.rank for row in rows]
    for column in (table.query_ids, table.doc_ids):
        assert len(set(column.names)) == len(column.names)


@pytest.mark.parametrize("odd", ["", "q9 Q0 d1 x 1 bm25\n", "q9\tQ0 d1 0 1 my tag\n# comment\n"])
def test_a_table_of_a_file_keeps_lines_and_missing_ranks(odd: str) -> None:
    content = odd + "".join(
        f"q{query} Q0 d{place} {place} {9 - place} bm25\n" for query in range(9) for place in (1, 2)
    )
    rows = FORMATS["trec-run"].read(content.encode(), path="a.run").rows
    table = RunTable.of(rows)
    assert [(row.line, row.rank, row.doc_id) for row in table] == [(row.line, row.rank, row.doc_id) for row in rows]


def test_ids_with_the_same_key_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Texts, "keys", lambda self: np.zeros(len(self), dtype=np.uint64))
    column = IdColumn.of(Texts.of(["d2", "d1", "d2", "d3"]))
    assert list(column.texts()) == ["d2", "d1", "d2", "d3"]
    assert column.unknown({"d2", "d3"}) == (1, 1)
