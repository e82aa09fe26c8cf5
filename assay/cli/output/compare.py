"""Terminal tables of ``assay compare``: means, differences by metric, and the assumptions behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from assay.cli.output.machine_labels import machine_note
from assay.cli.output.text_table import text_table
from assay.significance.comparison_files import HEADER, WRITERS, mean_rows, notes, pair_rows

if TYPE_CHECKING:
    from assay.significance.results import Comparison


def as_table(comparison: Comparison, files: Mapping[str, Any]) -> str:
    """Return a table of means, a table of comparisons for each metric, and the assumptions."""
    parts = [text_table(*mean_rows(comparison))]
    for metric, rank, rows in pair_rows(comparison):
        parts.append(f"{metric} ({rank})\n" + text_table(HEADER, rows, left=2))
    machine = machine_note(files.get("qrels", {}))
    lines = [*([machine] if machine else []), *notes(comparison, files)]
    return "\n".join([*parts, "".join(f"{line}\n" for line in lines)])


FORMATS: dict[str, Callable[[Comparison, Mapping[str, Any]], str]] = {"table": as_table, **WRITERS}
