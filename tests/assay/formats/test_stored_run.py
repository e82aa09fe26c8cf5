"""Tests of the stored run file: round trip, order, hash, reading whole or in blocks."""

from __future__ import annotations

import hashlib
import random
import struct
from io import BytesIO

import polars
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.run import Run
from assay.formats import FORMATS
from assay.formats.row_types import RunRow
from assay.formats.stored_run import StoredRun, write_stored

ROWS = [
    RunRow("q2", "d1", 9.1, 1),
    RunRow("q1", "d2", 8.7, 2),
    RunRow("q1", "d3", 8.7, 3),
    RunRow("q1", "dé", float("inf"), None),
]
SCORES = st.floats(allow_nan=False, width=64)
IDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
RUNS = st.dictionaries(st.tuples(IDS, IDS), st.tuples(SCORES, st.none() | st.integers(0, 2**53 - 1)), min_size=1)


def test_rows_are_sorted_by_query_then_as_trec_eval() -> None:
    frame = polars.read_parquet(BytesIO(write_stored(ROWS)[0]))
    assert frame.schema == {
        "query_id": polars.String,
        "doc_id": polars.String,
        "rank": polars.Int64,
        "score": polars.Float64,
    }
    assert frame.rows() == [
        ("q1", "dé", None, float("inf")),
        ("q1", "d3", 3, 8.7),
        ("q1", "d2", 2, 8.7),
        ("q2", "d1", 1, 9.1),
    ]


def test_the_hash_is_over_the_content_as_the_docs_say() -> None:
    content = b"assay run 1\n" + "q1\nq1\nq1\nq2\ndé\nd3\nd2\nd1\n".encode()
    content += struct.pack("<4q", -1, 3, 2, 1) + struct.pack("<4d", float("inf"), 8.7, 8.7, 9.1)
    assert write_stored(ROWS)[1] == hashlib.sha256(content).hexdigest()
    assert write_stored([*ROWS[:3], RunRow("q1", "dé", float("inf"), 0)])[1] != write_stored(ROWS)[1]


@settings(max_examples=30)
@given(RUNS, st.randoms(use_true_random=False), st.integers(1, 5))
def test_stored_runs_round_trip(
    given: dict[tuple[str, str], tuple[float, int | None]], chance: random.Random, size: int
) -> None:
    rows = [RunRow(*pair, score, rank) for pair, (score, rank) in given.items()]
    body, content = write_stored(rows)
    shuffled = chance.sample(rows, len(rows))
    assert write_stored(shuffled) == (body, content)
    expected = Run.from_rows((row.query_id, row.doc_id, row.score) for row in rows)
    file = StoredRun(body, "bm25")
    assert (file.whole().name, list(file.whole().rows())) == ("bm25", list(expected.rows()))
    assert [row for part in file.blocks(size) for row in part.rows()] == list(expected.rows())
    ranks = {(row.query_id, row.doc_id): row.rank or 0 for row in rows}
    read = file.rows()
    assert dict(zip(zip(read.query_ids, read.doc_ids, strict=True), read.ranks.tolist(), strict=True)) == ranks


def test_blocks_hold_whole_queries_and_tell_of_ranks_that_contradict() -> None:
    rows = [RunRow(f"q{query}", f"d{place}", -place, 9 - place) for query in range(4) for place in range(3)]
    file = StoredRun(write_stored(rows)[0])
    assert [part.query_ids for part in file.blocks(4)] == [("q0",), ("q1",), ("q2", "q3")]
    assert file.report.codes == {"W40": 8}


def test_the_file_is_one_that_others_read_too() -> None:
    result = FORMATS["run-parquet"].read(write_stored(ROWS)[0], path="bm25.parquet")
    assert [(row.query_id, row.doc_id, row.score, row.rank) for row in result.rows[1:]] == [
        ("q1", "d3", 8.7, 3),
        ("q1", "d2", 8.7, 2),
        ("q2", "d1", 9.1, 1),
    ]
