"""Options for qrels and runs: formats, subtopics, and the judge of labels."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.read_report import Report

QRELS_HELP = (
    "the labels: TREC qrels, JSON, JSONL, CSV, Parquet, labels.jsonl of a judge, ...; - for standard input; may be .gz"
)
RUN_HELP = "TREC, JSON, JSONL, CSV, TSV or Parquet; NAME=PATH sets the name, default: the file name"
MISSING_HELP = "score judged queries without results as zero, or leave them out (skip); default: zero"
DESIGN_HELP = "sampling of the queries in --weights FILE: with their probabilities (sampled), or none; default: sampled"
SUBTOPIC_FORMAT = "trec-subtopic-qrels"


def add_table_formats(parser: argparse.ArgumentParser) -> None:
    """Declare ``--subtopics``, ``--qrels-format`` and ``--run-format``."""
    parser.add_argument(
        "--subtopics",
        action="store_true",
        help="read column 2 of QRELS as the subtopic, for alpha_nDCG and similar metrics",
    )
    parser.add_argument(
        "--labels-of", metavar="JUDGE", help="the judge or model whose labels to use, if labels.jsonl has several"
    )
    for kind in ("qrels", "run"):
        parser.add_argument(
            f"--{kind}-format",
            metavar="FORMAT",
            help=f"a format of assay formats --kind {kind}; default: detected from the content",
        )


def read_labels(args: argparse.Namespace, *, hashed: bool = True) -> tuple[Qrels, Report]:
    """Read QRELS with the given options; the report has the file's hash only if requested."""
    if not args.subtopics and args.qrels_format != SUBTOPIC_FORMAT:
        from assay.formats.labels import load_labels

        return load_labels(args.qrels, args.qrels_format, args.labels_of, hashed=hashed)
    if args.qrels_format not in (None, SUBTOPIC_FORMAT):
        raise NotValid(f"--subtopics reads {SUBTOPIC_FORMAT}, not {args.qrels_format}; remove one of the options")
    from assay.formats.trec_qrels import load_subtopic_qrels

    return load_subtopic_qrels(Path(args.qrels), args.qrels)
