"""Tests of expected-answer files: JSON and CSV, errors with their place, size limits, hash."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid
from judgments.machines.judge_runs import expected_answers
from judgments.machines.judge_runs.expected_answers import checked, read


def test_json_and_csv_say_the_same() -> None:
    table = 'query_id,expected\nq1,one\nq1,"two, too"\n\nq2,"first line\nsecond"\n'
    as_json = '{"q1": ["one", "two, too"], "q2": "first line\\nsecond"}'
    assert read(table) == read(as_json) == {"q1": ["one", "two, too"], "q2": ["first line\nsecond"]}
    assert read("\ufeff" + table) == read(table.encode("utf-8-sig")) == read(table)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No answers were given"),
        ("query,answer\nq1,x\n", "Line 1 reads"),
        ("query_id,expected\nq1\n", "Line 2 has 1 cell, but two are expected"),
        ("query_id,expected\nq1,x\nq1,x\n", "Line 3 repeats an answer of this query"),
        ("query_id,expected\n,x\n", "Line 2 has no query id"),
        ('query_id,expected\nq1,"x\n', "not valid CSV"),
        ("query_id,expected\nq1,a\0b\n", "Line 2 contains a NUL"),
        ('{"q1": }', "Line 1, column 8"),
        ('{"q1": "a", "q1": "b"}', "Query 'q1' appears twice"),
        ('{"q1": {"a": 1}}', "list of strings"),
        ('{"q1": []}', "list of strings"),
        ('{"q1": [1]}', "Query 'q1' has an answer that is empty or not a string"),
        ('{"q1": "\\ud800"}', "an unpaired surrogate"),
        ('{"q1": "\\u0000"}', "Query 'q1' contains a NUL"),
        ("[" * 50, "Line 1 reads"),
        ('{"q1": ' + "[" * 100_000, "nested too deeply"),
        ('{"q1": ' + "1" * 5_000 + "}", "is too long"),
        ('["q1"]', "Line 1 reads"),
    ],
)
def test_unreadable_rows_are_reported_with_their_place(text: str, message: str) -> None:
    with pytest.raises(NotValid) as refused:
        read(text)
    assert message in refused.value.fields["expected"]


def test_invalid_bytes_are_reported_by_line() -> None:
    with pytest.raises(NotValid, match="Line 3 is not UTF-8"):
        read(b"query_id,expected\nq1,x\nq2,\xff\n")


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotValid, match="10,001 characters"):
        checked({"q1": "x" * 10_001})
    with pytest.raises(NotValid, match="more than 20 answers"):
        checked({"q1": [str(at) for at in range(21)]})
    with pytest.raises(NotValid, match="20,001 queries exceed the limit"):
        checked({str(at): "x" for at in range(20_001)})
    monkeypatch.setattr(expected_answers, "LARGEST", 10)
    with pytest.raises(NotValid, match="larger than"):
        read("query_id,expected\n")
    with pytest.raises(NotValid, match="larger than"):
        checked({"q1": "x" * 6, "q2": "x" * 6})


def test_the_hash_is_that_of_what_they_say() -> None:
    one, other = checked({"q1": "a", "q2": ["b", "c"]}), checked({"q2": ["b", "c"], "q1": ["a"]})
    assert expected_answers.sha256(one) == expected_answers.sha256(other)
    assert expected_answers.sha256(one) != expected_answers.sha256({"q1": ["a"], "q2": ["c", "b"]})
