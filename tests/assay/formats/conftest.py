"""Fixtures of the format tests."""

from __future__ import annotations

from collections.abc import Iterator

import polars
import pytest

from assay.core.read_report import Tally
from assay.formats import parquet


@pytest.fixture(scope="module")
def decoded_here() -> Iterator[None]:
    """Intact Parquet files are decoded in this process, because a process for each takes longer than the tests."""

    def decoded(data: bytes, tally: Tally) -> polars.DataFrame:
        return polars.read_ipc_stream(polars.read_parquet(data).write_ipc_stream(None).getvalue())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_decoded", decoded)
        yield
