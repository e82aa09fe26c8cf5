"""Tests of counting logs by column: same as row by row, for any content."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid, UnreadableInput
from assay.core.read_report import Report
from assay.formats import FORMATS, log_chunks
from assay.formats.log_blocks import open_log, rows_on_lines
from assay.sampling.column_counting import count_stream
from assay.sampling.counted_log import EMPTY, CountedLog
from assay.sampling.row_counting import count_log

QUERIES = [
    "tent",
    "Tent",
    "  TENT",
    "rain jacket",
    "rain  jacket",
    "",
    " ",
    'a "b"',
    "a,b",
    "two\nlines",
    "'=x",
    "é",
    "x" * 201,
]
TIMES = ["2026-03-02T09:14:07Z", "2026-01-02 03:04:05", "2025-03-02T09:14:07+01:00", "", "2026-03-01T09:14:07.5Z"]


def by_rows(
    data: bytes, language: str | None = None, format: str = "query-log-csv", **options: object
) -> tuple[CountedLog, Report]:
    """The oracle: the reader that looks at each record, and the count of its rows."""
    result = FORMATS[format].read(data, path="a", **options)
    log = count_log(result.rows, language=language)
    empty = result.report.codes.get("W50", 0)
    dropped = dict(sorted({**log.dropped, EMPTY: log.dropped.get(EMPTY, 0) + empty}.items()))
    return (
        replace(
            log,
            rows=log.rows + empty,
            searches=log.searches + empty,
            dropped={reason: count for reason, count in dropped.items() if count},
            queries=tuple(replace(query, raw=query.raw.line) for query in log.queries),
        ),
        result.report,
    )


def by_columns(
    data: bytes, language: str | None = None, format: str = "query-log-csv", **options: object
) -> tuple[CountedLog, Report]:
    stream = open_log(data, path="a", format=format, **options)
    log = count_stream(stream, language=language)
    assert stream.report is not None
    return log, stream.report


def same(data: bytes, **options: object) -> CountedLog:
    """What both ways say, which must be the same."""
    rows, report = by_rows(data, **options)
    columns, their_report = by_columns(data, **options)
    assert columns == rows
    assert [query.raw for query in columns.queries] == [query.raw for query in rows.queries]
    assert (their_report.bins, their_report.codes) == (report.bins, report.codes)
    assert their_report.lines == report.lines
    mine, theirs = (
        sorted((each.line or 0, each.code, each.raw, each.what) for each in problems)
        for problems in (report.problems, their_report.problems)
    )
    assert theirs == mine
    return columns


def written(rows: list[tuple[str, str, str]], end: str = "\n", quoting: int = csv.QUOTE_MINIMAL) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator=end, quoting=quoting)
    writer.writerows([("query", "timestamp", "client_id"), *rows])
    return stream.getvalue().encode()


@settings(max_examples=50, deadline=None)
@example([("", "2026-01-02 03:04:05", "c1"), ("tent", "2026-03-02T09:14:07Z", "c1")], "\n", 20)
@given(
    st.lists(
        st.tuples(st.sampled_from(QUERIES), st.sampled_from(TIMES), st.sampled_from(["c1", "c2", ""])),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(20, 400),
)
def test_the_same_as_row_by_row(rows: list[tuple[str, str, str]], end: str, piece: int) -> None:
    data = written(rows, end)
    usual = log_chunks.PIECE
    try:
        # So small a piece cuts the file in many places.
        log_chunks.PIECE = piece
        same(data)
        same(data.removesuffix(end.encode()))
    finally:
        log_chunks.PIECE = usual


@pytest.mark.parametrize(
    "odd",
    [
        "tent,2026-03-02T09:14:07Z",
        "tent,yesterday,c1",
        "tent,1772442847,c1",
        '"tent,2026-03-02T09:14:07Z,c1',
        "",
        "a,b,c,d",
        '19" rack,,c1',
    ],
)
def test_each_odd_line_is_reported_as_by_the_careful_reader(odd: str) -> None:
    plain = "tent,2026-03-02T09:14:07Z,c1\n"
    same(("query,timestamp,client_id\n" + plain * 9 + odd + "\n" + plain * 9).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"query,timestamp\r\ntent,1772442847\r\nboots,1772442848000\r\n",
        b"\n\nquery;client_id;timestamp\ntent;c1;1772442847\n",
        b"query\ntent\n\nboots\n",
        b'"query","client_id"\ntent,c1\n',
        b'"query","the\nclient"\ntent,c1\nboots,c2\n',
        b"\xef\xbb\xbfquery,clicks\ntent,d1\n",
        b"query,client_id\rtent,c1\r",
        b"query,clicks\n\xef\xbb\xbftent,d1\n\xef\xbb\xbftent,d1\ntent,d2\n",
        b"query,count\ntent,3\nboots,2\n",
        b"term,timestamp\ntent,\n",
    ],
)
def test_files_of_many_shapes(data: bytes) -> None:
    same(data, **({"columns": {"query": "term"}} if b"term" in data else {}))
    same(gzip.compress(data), **({"columns": {"query": "term"}} if b"term" in data else {}))


@pytest.mark.parametrize(
    "time",
    [
        "2026-03-02T09:14: 7Z",
        "2026-3-002T09:14:07Z",
        "+026-03-02T09:14:07Z",
        "2026-02-29T09:14:07Z",
        "2024-02-29T23:59:59Z",
        "2026-13-02T09:14:07Z",
        "2026-03-00T09:14:07Z",
        "2026-03-02T24:00:00Z",
        "2026-03-02T09:14:60Z",
        "2026-03-02t09:14:07z",
        "2026-03-02 09:14:07Z",
        "1969-12-31T23:59:59Z",
        "2100-01-01T00:00:00Z",
        "1772442847.123456789",
        "２026-03-02T09:14:07",
    ],
)
def test_a_time_of_the_usual_length_means_what_the_careful_reader_says(time: str) -> None:
    same(f"query,timestamp\ntent,{time}\nboots,{time}\nrope,\n".encode())
    same(f"query,timestamp\ntent,2026-03-02T09:14:07Z\nboots,{time}\n".encode())


def test_latin_1_where_the_user_says_so() -> None:
    assert same("query,client_id\nküche,c1\n".encode("latin-1"), encoding="latin-1").queries[0].query == "küche"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"query\ntent\nk\xfcche\n", "a:3: is not valid UTF-8"),
        (b"query\ntent\0\n", "binary"),
        (b"query\n" + b"x" * (50 << 20), "a:2: a line longer than 16 MiB"),
        (b"client_id\nc1\n", "has no column query"),
        (b"query\n", None),
        (b"", "is empty"),
        (gzip.compress(b"query\n" + b"tent\n" * 100)[:-12], "truncated gzip"),
    ],
)
def test_unreadable_logs_are_refused_in_one_sentence(data: bytes, message: str | None) -> None:
    if message is None:
        assert by_columns(data)[0].queries == ()
        return
    with pytest.raises(UnreadableInput, match=message):
        by_columns(data)


def test_personal_data_is_taken_out_before_anything_is_counted() -> None:
    log = same(b"query,client_id\norder jo@example.org,c1\nOrder al@example.org,c2\ntent,c1\n")
    assert [(query.query, query.frequency, query.clients) for query in log.queries] == [
        ("order [e-mail]", 2, 2),
        ("tent", 1, 1),
    ]
    assert log.redacted == {"e-mail": 2}


def test_personal_data_outside_the_window_is_not_reported_as_taken_out() -> None:
    log = same(written([("jo@example.org", "2025-03-02T09:14:07Z", "c1"), ("tent", "2026-03-02T09:14:07Z", "c1")]))
    assert log.redacted == {}


@pytest.mark.parametrize("odd_first", [False, True])
def test_a_thousand_odd_lines_among_good_ones_are_reported_and_no_reason_to_refuse(odd_first: bool) -> None:
    good, odd = ["tent,2026-03-02T09:14:07Z,c1\n"] * 9000, ["tent,c1\n"] * 1200
    lines = odd[:900] + good + odd[900:] if odd_first else good + odd
    data = ("query,timestamp,client_id\n" + "".join(lines)).encode()
    assert same(data).searches == 9000


def test_a_file_that_begins_with_a_thousand_odd_lines_is_refused_as_by_the_careful_reader() -> None:
    lines = ["tent,c1\n"] * 1200 + ["tent,2026-03-02T09:14:07Z,c1\n"] * 9000
    data = ("query,timestamp,client_id\n" + "".join(lines)).encode()
    for reading in (by_rows, by_columns):
        with pytest.raises(UnreadableInput, match="does not look like query-log-csv"):
            reading(data)


LANGUAGES = b'query,lang\nZelt,de\nzelt,de_AT\ntent,en\nrope,\n"Zelt",de\n'


def test_searches_in_one_language() -> None:
    log = same(LANGUAGES, language="DE")
    assert [(query.query, query.frequency) for query in log.queries] == [("zelt", 3)]
    assert (log.languages, log.dropped) == ({"de": 2, "de_AT": 1, "en": 1}, {"in another language": 2})
    whole = same(LANGUAGES)
    assert whole.languages == log.languages
    assert {query.query: query.language for query in whole.queries} == {"zelt": "de", "tent": "en", "rope": ""}


@pytest.mark.parametrize(
    ("data", "language", "message"),
    [(LANGUAGES, "fr", "Languages in the log: 'de', 'de_AT', 'en'"), (b"query\ntent\n", "de", "column")],
)
def test_a_language_that_the_log_does_not_name_is_refused(data: bytes, language: str, message: str) -> None:
    for reading in (by_rows, by_columns):
        with pytest.raises(NotValid, match=message) as caught:
            reading(data, language=language)
        assert list(caught.value.fields) == ["language"]


PARTS = ["tent", "Zelt,", ",", '"', '""', "'", "\n", ";", " ", "é", "\x01", "\ufeff", "\u2028", "de,", "c1"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=60), st.sampled_from([18, 40, 200, 1 << 24]))
def test_whatever_the_bytes_both_readers_agree(parts: list[str], piece: int) -> None:
    data = ("query,client_id,lang\n" + "".join(parts)).encode()
    usual = log_chunks.PIECE
    try:
        log_chunks.PIECE = piece
        same(data)
    except UnreadableInput:
        with pytest.raises(UnreadableInput):
            by_rows(data)
    finally:
        log_chunks.PIECE = usual


def test_a_search_is_counted_as_far_as_the_window_reaches() -> None:
    log = same(
        written([("old", "2025-03-02T09:14:07Z", "c1"), ("new", "2026-03-02T09:14:07Z", "c1"), ("none", "", "")])
    )
    assert [query.query for query in log.queries] == ["new"]
    assert log.dropped == {"no readable timestamp": 1, "outside the window": 1}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("piece", [40, 1 << 20])
def test_single_rows_are_restored(end: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_chunks, "PIECE", piece)
    data = written([(query, TIMES[0], "c1") for query in ["tent", "two\nlines", "", 'a "b"', "boots", "last"]], end)
    rows = FORMATS["query-log-csv"].read(data, path="a").rows
    assert rows_on_lines(data, {row.line for row in rows}, path="a", format="query-log-csv") == {
        row.line: row for row in rows
    }
    assert set(rows_on_lines(data, {rows[1].line}, path="a", format="query-log-csv")) == {rows[1].line}
