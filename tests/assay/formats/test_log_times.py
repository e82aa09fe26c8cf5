"""Tests of log timestamps: parsing a column gives the same times as parsing each value alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formats.log_blocks import EPOCH, NO_TIME
from assay.formats.timestamp_columns import other_times, usual_times
from assay.formats.timestamps import instant, time_kind

ODD = ["", " ", "yesterday", "2026-02-30 09:14:07", "2026-03-02T24:00:00", "2026-03-02", "1772442847.5", "177244284712"]
ODD += [
    "2026-03-02T09:14:60",
    "2026-03-02T09:14:07+25:00",
    "2026-03-02T09:14:07.1234567Z",
    "20260302T091407",
    "99999999",
    "2026-03-02 09:14:07 UTC",
    "2026-03-02 09:14:07.25 +0100",
    "2026/03/02 09:14:07",
    "2026-03/02 09:14:07",
    "2026-03-02 09:14:07+00",
    "2026-03-02 09:14:07,123",
    "02/Mar/2026:09:14:07 +0200",
    "31/Feb/2026:09:14:07 +0200",
    "03/02/2026 09:14:07",
]
ODD += ["20260302T091407", "0000-01-01T00:00:00Z", " 1772442847", "１772442847", "2026-03-02T09:14:07-00:00"]
ODD += ["2026-03-02T09:14: 7Z"]
MOMENTS = st.datetimes(datetime(1902, 1, 1), datetime(2098, 1, 1), timezones=st.just(UTC))
ZONES = st.sampled_from([0, 60, -330, 840]).map(lambda minutes: timezone(timedelta(minutes=minutes)))
WRITTEN = st.one_of(
    st.tuples(MOMENTS, ZONES, st.sampled_from("T "), st.sampled_from(["seconds", "milliseconds", "microseconds"])).map(
        lambda parts: parts[0].astimezone(parts[1]).isoformat(parts[2], parts[3])
    ),
    st.tuples(MOMENTS, st.sampled_from("T "), st.sampled_from(["", "Z"])).map(
        lambda parts: parts[0].replace(tzinfo=None).isoformat(parts[1], "seconds") + parts[2]
    ),
    st.integers(10**8, 10**10 - 1).map(str),
    st.integers(10**11, 4 * 10**12).map(str),
    st.integers(10**14, 4 * 10**15).map(str),
    st.sampled_from(ODD),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(WRITTEN, min_size=1, max_size=12))
def test_each_time_means_what_it_means_by_itself(texts: list[str]) -> None:
    moments, bad, kinds = other_times(polars.Series(texts))
    for text, moment, wrong in zip(texts, moments.tolist(), bad.tolist(), strict=True):
        plain = text.strip()
        kind = time_kind(plain)
        assert wrong == (bool(plain) and kind is None), text
        assert moment == ((instant(plain) - EPOCH) // timedelta(microseconds=1) if kind else NO_TIME), text
    each = [time_kind(text.strip()) for text in texts]
    assert kinds == {kind: each.index(kind) for kind in each if kind}


@settings(max_examples=100, deadline=None)
@given(st.lists(WRITTEN | st.none(), min_size=1, max_size=12))
def test_fast_parser_is_correct_and_leaves_the_rest(texts: list[str | None]) -> None:
    moments, left = usual_times(polars.Series(texts, dtype=polars.String), len(texts))
    rest = [None] * len(texts) if left is None else left.to_list()
    for text, moment, other in zip(texts, moments.tolist(), rest, strict=True):
        if moment == NO_TIME:
            assert other == text
        else:
            assert other is None
            assert moment == (instant(str(text)) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2026-03-02T09:14:07Z", "iso"),
        ("2026-03-02T10:14:07+01:00", "iso"),
        ("2026-03-02 09:14:07+00", "iso"),
        ("2026-03-02 09:14:07", "local"),
        ("2026-03-02T09:14:07.000", "local"),
        ("2026-03-02 09:14:07 UTC", "database"),
        ("2026-03-02 10:14:07.000 +0100", "database"),
        ("2026/03/02 09:14:07", "database"),
        ("02/Mar/2026:10:14:07 +0100", "database"),
        ("1772442847", "seconds"),
        ("1772442847.0", "seconds"),
        ("1772442847000", "milliseconds"),
        ("1772442847000000", "microseconds"),
    ],
)
def test_one_moment_in_each_usual_form(text: str, kind: str) -> None:
    assert time_kind(text) == kind
    assert instant(text) == datetime(2026, 3, 2, 9, 14, 7, tzinfo=UTC)
