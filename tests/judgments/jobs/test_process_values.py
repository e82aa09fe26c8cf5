"""Tests of the values a reading process returns: round trip, refused types, no code execution."""

from __future__ import annotations

import io
import json
import os
import pickle
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from assay.core.errors import BeyondLimits, NotValid, UnreadableInput
from assay.core.read_report import Problem
from assay.core.run import Run
from assay.core.text_column import Texts
from assay.sampling.query_table import LogQuery, QueryTable
from judgments.jobs import limited_process, process_values
from judgments.models import User

MOST = 1 << 30
ENOUGH = limited_process.Limits(cpu=60, seconds=300, memory=1 << 30, expanded=1 << 30, lines=10**7)


def again(value: Any) -> Any:
    stream = io.BytesIO()
    process_values.write(value, stream)
    stream.seek(0)
    return process_values.read(stream, MOST)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, -(2**70), 0.1, float("inf"), True, "größe", "a\0b", "\ud800", ""],
        {"a": [{}], "!": 1, "v": ()},
        {1: "a", None: {"b"}, ("t",): frozenset({1})},
        (b"", b"\xff\x00", datetime(2026, 1, 2, 3, tzinfo=UTC), date(2026, 1, 2)),
        [["nested", [("deep", {"er": [1]})]]] * 3,
        [Problem(number, "q1", "E10", "error", "raw", "what", "done", "fix") for number in (1, None, 3)],
        Problem(1, "q1", "E10", "error", "raw", "what", "done", "fix"),
        [],
    ],
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    decoded = again(value)
    assert decoded == value
    assert repr(decoded) == repr(value)


def test_columns_come_back() -> None:
    for array in (np.arange(5), np.array([[1.5, np.inf]]), np.array([]), np.array(["ab", "ü"]), np.array([True])[::-1]):
        decoded = again(array)
        assert (decoded.dtype, decoded.tolist()) == (array.dtype, array.tolist())
        assert decoded.flags.writeable
    assert again(np.float64(0.5)) == 0.5
    assert list(again(Texts.of(["d1", "ü", "d1"]))) == ["d1", "ü", "d1"]
    run = Run.from_dict({"q1": {"d1": 2.0, "d2": 1.0}}, name="bm25")
    assert again(run).ranking("q1") == run.ranking("q1")
    table = QueryTable(pl.DataFrame([["tent", "Tent", 3, None, 1, [], ""]], list(QueryTable.COLUMNS), orient="row"))
    assert again(table) == table


def test_an_error_comes_back() -> None:
    error = UnreadableInput("a.csv", 3, "no grade", "expected a grade", "E10")
    decoded = again(error)
    assert (type(decoded), str(decoded), vars(decoded)) == (UnreadableInput, str(error), vars(error))
    assert again(NotValid("x", {"file": "y"})).fields == {"file": "y"}


class Evil:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


def encoded(text: Any, *blocks: bytes) -> io.BytesIO:
    content = text if isinstance(text, bytes) else json.dumps(text).encode()
    parts = [process_values.HEAD.pack(len(content), len(blocks)), content]
    parts += [process_values.SIZE.pack(len(block)) + block for block in blocks]
    return io.BytesIO(b"".join(parts))


ROW = "assay.core.read_report:Problem"


@pytest.mark.parametrize(
    "content",
    [
        {"!": "row", "of": "os:system", "v": ["true"]},
        {"!": "row", "of": "judgments.jobs.limited_process:os", "v": ["true"]},
        {"!": "row", "of": "judgments.jobs.limited_process:call", "v": []},
        {"!": "row", "of": "judgments.models.members.user:User", "v": []},
        {"!": "row", "of": "judgments.models:User", "v": []},
        {"!": "row", "of": "assay.core.read_report:Problem.__init__", "v": [1]},
        {"!": "row", "of": "assay.__main__:main", "v": []},
        {"!": "row", "of": "judgments..core:x", "v": []},
        {"!": "row", "of": "judgments.no_such_module:X", "v": []},
        {"!": "row", "of": ["judgments"], "v": []},
        {"!": "row", "of": ROW, "v": [1]},
        {"!": "rows", "of": ROW, "v": [[1], [], [], [], [], [], [], []]},
        {"!": "error", "of": ROW, "v": [[], {}]},
        {"!": "error", "of": "assay.core.errors:NotValid", "v": [[], 1]},
        {"!": "member", "of": ROW, "v": "x"},
        {"!": "array", "type": "O", "shape": [1], "b": 0},
        {"!": "array", "type": "f8", "shape": [2], "b": 0},
        {"!": "array", "type": "f8", "shape": [1], "b": 7},
        {"!": "table", "b": 0},
        {"!": "call", "v": []},
        {"!": "tuple"},
        {"!": ["tuple"], "v": []},
        b"\xff",
        b"[" * 100_000 + b"]" * 100_000,
        b"9" * 5_000,
    ],
)
def test_other_values_are_refused(content: Any) -> None:
    with pytest.raises(process_values.NotRead):
        process_values.read(encoded(content, b"12345678"), MOST)


def test_a_pickle_is_not_read(tmp_path: Path) -> None:
    made = tmp_path / "made"
    bomb = pickle.dumps(("done", Evil(str(made))))
    for stream in (io.BytesIO(bomb), encoded(bomb), encoded({"!": "bytes", "b": 0}, bomb)):
        with suppress(process_values.NotRead, EOFError):
            process_values.read(stream, MOST)
    assert not made.exists()


def test_no_more_is_read_than_there_may_be() -> None:
    for stream in (
        io.BytesIO(process_values.HEAD.pack(1 << 62, 0)),
        io.BytesIO(process_values.HEAD.pack(2, 1 << 31) + b"[]"),
        io.BytesIO(process_values.HEAD.pack(2, 1) + b"[]" + process_values.SIZE.pack(1 << 62)),
    ):
        with pytest.raises(process_values.NotRead):
            process_values.read(stream, 1 << 20)
    with pytest.raises(EOFError):
        process_values.read(io.BytesIO(process_values.HEAD.pack(50, 0) + b"[]"), MOST)


class Colour(Enum):
    RED = 1


class Pair(NamedTuple):
    a: int
    b: str


@dataclass(frozen=True)
class Slotted:
    a: int
    more: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        raise AssertionError("no method is called")


def test_no_method_of_a_row_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_values, "OURS", (*process_values.OURS, "tests"))
    for cache in (process_values._class, process_values._names):
        cache.cache_clear()
    row = object.__new__(Slotted)
    object.__setattr__(row, "a", 1)
    object.__setattr__(row, "more", {"b": 2})
    value = [[row, row], [Pair(1, "x"), Pair(2, "y")], Pair(3, "z"), Colour.RED]
    assert again(value) == value
    for cache in (process_values._class, process_values._names):
        cache.cache_clear()


def take_over(path: str) -> None:
    """What somebody does who runs in the reader: answer with a pickle in the place of a value."""

    def write(value: Any, stream: Any) -> None:
        stream.write(pickle.dumps(("done", Evil(path))))

    process_values.write = write


def give_an_account() -> User:
    return User(username="x")


def test_a_reader_that_was_taken_over_runs_nothing_here(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises((limited_process.Crashed, BeyondLimits)):
        limited_process.call(take_over, str(made), limits=ENOUGH)
    assert not made.exists()
    with pytest.raises(limited_process.Crashed, match="cannot be encoded"):
        limited_process.call(give_an_account, limits=ENOUGH)


def test_equal_ids_are_one_text() -> None:
    rows = again([LogQuery("".join(["te", "nt"]), "tent", number, None, 1, ("tent",)) for number in range(3)])
    assert rows[0].query is rows[2].query
