"""Read a ratings file and separate the grades of human raters from machine, gold and adjudicated rows."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import tell_warnings

if TYPE_CHECKING:
    from judgments.core.ratings import Ratings
    from judgments.core.report import Report
    from judgments.formats.rows import RatingRow

# A machine's grade, a known answer and an adjudicator's verdict say nothing about how far raters agree.
HUMAN = frozenset({"human", "import", ""})


@dataclass(frozen=True)
class RatingFile:
    """A ratings file, sorted by what its rows are.

    Parameters
    ----------
    ratings : Ratings
        The grades of human raters.
    adjudicated : dict of (str, str) to int
        The verdicts of adjudicators, by (query_id, doc_id).
    report : Report
        What the reader found.
    unrateable : frozenset of (str, str)
        The pairs of which a human rater said that they cannot be judged, whatever the others said.
    """

    ratings: Ratings
    adjudicated: dict[tuple[str, str], int]
    report: Report
    unrateable: frozenset[tuple[str, str]] = frozenset()


def read_ratings(path: str, values: Sequence[int]) -> RatingFile:
    """Read a ratings CSV strictly and tell on standard error what is not counted.

    Raises
    ------
    UnreadableInput
        With file and line, for the first row that cannot be used.
    """
    from judgments.formats import FORMATS
    from judgments.formats.ratings_csv import graded, not_graded

    read = FORMATS["ratings-csv"].read(Path(path), path=path, grades=tuple(values))
    read.report.raise_if_errors()
    tell_warnings([read.report])
    rows: Sequence[RatingRow] = read.rows
    others = not_graded(rows, HUMAN)
    _tell_left_out(path, others)
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


def _tell_left_out(path: str, rows: Sequence[RatingRow]) -> None:
    states = Counter(row.state for row in rows if row.grade is None)
    sources = Counter(row.source for row in rows if row.grade is not None)
    told = [f"{number} {what}" for what, number in (*sorted(states.items()), *sorted(sources.items()))]
    if told:
        sys.stderr.write(f"note: {path}: not counted as grades of raters: {', '.join(told)}\n")
