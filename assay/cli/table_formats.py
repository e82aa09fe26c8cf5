"""The qrels of a command, and the formats of qrels and runs where their content does not say."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.core.qrels import Qrels
    from judgments.core.report import Report

QRELS_HELP = (
    "the labels: TREC qrels, JSON, JSONL, CSV, Parquet, labels.jsonl of a judge, ...; - is standard input, .gz is read"
)
RUN_HELP = "TREC, JSON, JSONL, CSV, TSV or Parquet; NAME=PATH names it, otherwise the file does"
MISSING_HELP = "a judged query that a run does not answer scores zero, or is left out (skip); default: zero"
DESIGN_HELP = "how --weights FILE was drawn: by its probabilities, or not sampled at all (none); default: sampled"
SUBTOPIC_FORMAT = "trec-subtopic-qrels"


def add_table_formats(parser: argparse.ArgumentParser) -> None:
    """Declare ``--subtopics``, ``--qrels-format`` and ``--run-format``."""
    parser.add_argument(
        "--subtopics", action="store_true", help="column 2 of QRELS is the subtopic, for alpha_nDCG and its like"
    )
    parser.add_argument(
        "--labels-of", metavar="JUDGE", help="labels.jsonl: the judge or model whose labels count, where it has several"
    )
    for kind in ("qrels", "run"):
        parser.add_argument(
            f"--{kind}-format",
            metavar="FORMAT",
            help=f"a format of assay formats --kind {kind}; default: what the file looks like",
        )


def read_labels(args: argparse.Namespace, *, hashed: bool = True) -> tuple[Qrels, Report]:
    """Read QRELS as the options say; the report has the file's hash only where it is asked for.

    Raises
    ------
    NotValid
        When ``--subtopics`` stands beside a format that has none.
    UnreadableInput
        When the file cannot be read.
    """
    if not args.subtopics and args.qrels_format != SUBTOPIC_FORMAT:
        from judgments.formats.labels import load_labels

        return load_labels(args.qrels, args.qrels_format, args.labels_of, hashed=hashed)
    if args.qrels_format not in (None, SUBTOPIC_FORMAT):
        raise NotValid(f"--subtopics reads {SUBTOPIC_FORMAT}, not {args.qrels_format}; leave one of the two out")
    from judgments.formats.trec_subtopic_qrels import load_subtopic_qrels

    return load_subtopic_qrels(Path(args.qrels), args.qrels)
