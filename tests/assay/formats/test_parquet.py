"""Tests of damaged Parquet files: they are refused and never crash the reading process."""

from __future__ import annotations

import io

import pytest

from assay.core.errors import UnreadableInput
from assay.formats import FORMATS
from assay.formats import parquet as of_parquet
from assay.formats.row_types import RunRow
from tests.assay.formats.table_bytes import parquet

ROWS = [RunRow("q1", "d1", 2.5, 1, "x"), RunRow("q1", "d2", 1.5, 2, "x"), RunRow("q2", "d1", 1.0, 1, "x")]


@pytest.fixture
def written() -> bytes:
    stream = io.BytesIO()
    FORMATS["run-parquet"].write(ROWS, stream)
    return stream.getvalue()


# The first of these makes polars 2.1 abort the process.
@pytest.mark.parametrize(("place", "byte"), [(167, 95), (4, 255), (-8, 255)])
def test_a_changed_byte_is_refused_or_read(written: bytes, place: int, byte: int) -> None:
    changed = bytearray(written)
    changed[place] = byte
    message, units = "", len(ROWS)
    try:
        units = FORMATS["run-parquet"].read(bytes(changed), path="a.parquet").report.units
    except UnreadableInput as refusal:
        message = str(refusal)
    assert units == len(ROWS)
    assert not message or message.startswith("a.parquet: is a damaged Parquet file")


@pytest.mark.parametrize("cut", [slice(0, 60), slice(0, -4), slice(0, -30)])
def test_a_damaged_parquet_file_is_refused(written: bytes, cut: slice) -> None:
    with pytest.raises(UnreadableInput, match="is a damaged Parquet file"):
        FORMATS["run-parquet"].read(written[cut], path="a.parquet")


def test_a_file_that_unfolds_beyond_the_memory_is_refused(written: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_parquet, "MOST_MEMORY", 1 << 26)
    with pytest.raises(UnreadableInput, match="is a damaged Parquet file"):
        FORMATS["run-parquet"].read(written, path="a.parquet")


@pytest.mark.parametrize("name", ["queries-parquet", "documents-parquet"])
def test_other_files_are_refused(name: str) -> None:
    for data in (parquet(a=[1])[:-30], b'{"_id": "1", "text": "a"}\n'):
        with pytest.raises(UnreadableInput):
            FORMATS[name].read(data, path="a")
