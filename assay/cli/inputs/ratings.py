"""Read a ratings file and separate the grades of human raters from machine grades, gold grades and resolutions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import print_warnings

if TYPE_CHECKING:
    from assay.core.ratings import Ratings
    from assay.core.read_report import Report
    from assay.formats.row_types import RatingRow


@dataclass(frozen=True)
class RatingFile:
    """A ratings file, sorted by the source of its rows."""

    ratings: Ratings
    adjudicated: dict[tuple[str, str], int]
    report: Report
    unrateable: frozenset[tuple[str, str]] = frozenset()


def read_ratings(path: str, values: Sequence[int]) -> RatingFile:
    """Read a ratings CSV strictly and print on standard error which rows do not count."""
    from assay.formats import FORMATS
    from assay.formats.ratings_csv import HUMAN, graded, not_graded

    read = FORMATS["ratings-csv"].read(Path(path), path=path, grades=tuple(values))
    read.report.raise_if_errors()
    print_warnings([read.report])
    rows: Sequence[RatingRow] = read.rows
    others = not_graded(rows, HUMAN)
    _print_left_out(path, others)
    return RatingFile(
        ratings=graded(rows, HUMAN),
        adjudicated={
            (row.query_id, row.doc_id): row.grade
            for row in others
            if row.grade is not None and row.source == "adjudicated"
        },
        report=read.report,
        unrateable=frozenset(
            (row.query_id, row.doc_id) for row in others if row.state == "unrateable" and row.source in HUMAN
        ),
    )


def _print_left_out(path: str, rows: Sequence[RatingRow]) -> None:
    states = Counter(row.state for row in rows if row.grade is None)
    sources = Counter(row.source for row in rows if row.grade is not None)
    counts = [f"{number} {what}" for what, number in (*sorted(states.items()), *sorted(sources.items()))]
    if counts:
        sys.stderr.write(f"note: {path}: not counted as grades of raters: {', '.join(counts)}\n")
