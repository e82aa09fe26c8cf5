"""Tests of rewriting logs in blocks: same rows as the original, redacted, also for odd values."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.redaction import redact
from assay.formats import FORMATS, log_chunks
from assay.formats.log_blocks import open_log
from assay.formats.row_types import LogRow
from pooling.logs.stored_log import COUNTED, RAW, rewritten_blocks

QUERIES = [
    "tent",
    "  Rain  jacket ",
    "to jo@example.org",
    "to al@example.org",
    "call +49 30 901820",
    "=sum",
    "'=x",
    "''@home",
    "'tis",
    "-5",
    "\ttab",
    'a "b"',
    '"',
    "a,b;c",
    "two\nlines\r\nand\rmore",
    "é 東京 \U0001f600 \u2028 \x1c \x7f \\",
    "",
    " ",
    "x" * 2049,
]
TIMES = ["2026-03-02T09:14:07Z", "2026-01-02 03:04:05", " 2025-03-02T09:14:07+01:00 ", "", "2026-03-01T09:14:07.5Z"]
CLIENTS = ["jo@example.org", "c2", "=c3", ""]
CLICKS = ["", "", "d1", "=d1", "'=d1", 'd1,"d2"', "['d1', 'd2']"]
LANGUAGES = ["", "de", " en ", "=x"]
ROW = st.tuples(*map(st.sampled_from, (QUERIES, TIMES, CLIENTS, CLICKS, LANGUAGES)))
PLAIN = st.tuples(st.sampled_from(QUERIES[:2]), *map(st.just, (TIMES[0], "c2", "d1", "de")))
NAMES = ("query", "timestamp", "client_id", "clicks", "language")
# A pattern of values other than texts, as programs write what was clicked.
VALUES = [["d1"], [], {"id": "d1", "at": [1]}, None, 7, 1.50, True, "", "=d1", 'é"']


def counts(rows: list[LogRow], *, clean: bool = False) -> list[tuple[Any, ...]]:
    """The rows but for their lines; clients in the order of their first search, since their names are not kept."""
    numbers: dict[str, int] = {"": 0}
    return [
        (
            redact(row.query)[0] if clean else row.query,
            row.count,
            row.timestamp,
            numbers.setdefault(row.client_id, len(numbers)),
            row.clicks,
            row.language,
            row.clients or None,
        )
        for row in rows
    ]


def check(data: bytes, format: str, *, counted: bool = False, piece: int = 1 << 24) -> None:
    """What is kept, against the rows as the reader gives them that looks at each."""
    usual = log_chunks.PIECE
    try:
        log_chunks.PIECE = piece
        made = b"".join(rewritten_blocks(open_log(data, path="a", format=format, written=True), counted=counted))
    finally:
        log_chunks.PIECE = usual
    came = FORMATS[format].read(data, path="a").rows
    options = {"repeated": "each"} if counted else {}
    if came:
        stored = FORMATS[COUNTED if counted else RAW].read(made, path="b", **options)
        assert {odd.code for odd in stored.report.problems} <= {"W37", "W54"}
        assert counts(stored.rows) == counts(came, clean=True)
    # With the blank, which no number of a client has.
    assert not any(name in made for name in (b"jo@", b"al@", b"30 901820", b"=c3"))


@settings(max_examples=80, deadline=None)
@given(st.lists(PLAIN | PLAIN | ROW, min_size=1, max_size=25), st.sampled_from(["\n", "\r\n"]), st.integers(40, 900))
def test_rows_of_a_table(rows: list[tuple[str, ...]], end: str, piece: int) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=end).writerows([NAMES, *rows])
    check(stream.getvalue().encode(), RAW, piece=piece)
    # As counts, where it has some.
    check(stream.getvalue().encode(), RAW, counted=True, piece=piece)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(PLAIN | PLAIN | ROW, st.sampled_from([*VALUES, "d1", "d1"])), min_size=1, max_size=20),
    st.sampled_from(VALUES),
    st.booleans(),
    st.integers(40, 900),
)
def test_rows_of_objects(rows: list[tuple[tuple[str, ...], Any]], first: Any, ascii_only: bool, piece: int) -> None:
    rows = [(rows[0][0], first), *rows]
    objects = [{**dict(zip(NAMES, row, strict=True)), "clicks": value} for row, value in rows]
    lines = "".join(json.dumps(each, ensure_ascii=ascii_only) + "\n" for each in objects)
    check(lines.encode(), COUNTED, piece=piece)
    check(lines.replace('"query"', '"user_query"').encode(), "query-log-ubi", piece=piece)


@pytest.mark.parametrize(
    ("data", "format"),
    [
        ('query,count\nto jo@example.org,3\nto al@example.org,2\ntent,2\nTent,1\n"two\nlines",1\n', RAW),
        ("query,count,language,client_id,clicks\nto jo@example.org,3,de,c2,\nto al@example.org,2,en,=c3,=x\n", RAW),
        ("query,count,clients\nto jo@example.org,3,2\nto al@example.org,2,\ntent,2,1\nTent,1,0\n", RAW),
        (
            '{"query": "tent", "client_id": "a", "timestamp": "2026-03-01T10:00:00Z"}\n' * 2
            + '{"query": "boots", "count": 5}\n{"query": "tent", "count": 5}\n',
            COUNTED,
        ),
    ],
)
def test_rows_with_counts(data: str, format: str) -> None:
    check(data.encode(), format, counted=True)
