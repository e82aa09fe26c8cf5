"""Terminal tables of ``assay compare``: means, differences by metric, and the assumptions behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay.cli.machine_note import machine_note
from assay.cli.text_table import text_table
from evaluation.reports.comparisons import HEADER, WRITERS, mean_rows, notes, pair_rows

if TYPE_CHECKING:
    from evaluation.significance.comparison import Comparison


def as_table(found: Comparison, files: Mapping[str, Any]) -> str:
    """A table of means, one of comparisons for each metric, and what the numbers hang on."""
    parts = [text_table(*mean_rows(found))]
    for metric, rank, rows in pair_rows(found):
        parts.append(f"{metric} ({rank})\n" + text_table(HEADER, rows, left=2))
    machine = machine_note(files.get("qrels", {}))
    lines = [*([machine] if machine else []), *notes(found, files)]
    return "\n".join([*parts, "".join(f"{line}\n" for line in lines)])


FORMATS: dict[str, Callable[[Comparison, Mapping[str, Any]], str]] = {"table": as_table, **WRITERS}
