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
MACHINE_FORMAT = "labels-jsonl"


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
        return load_labels(args.qrels, args.qrels_format, args.labels_of, hashed=hashed)
    if args.qrels_format not in (None, SUBTOPIC_FORMAT):
        raise NotValid(f"--subtopics reads {SUBTOPIC_FORMAT}, not {args.qrels_format}; leave one of the two out")
    from judgments.formats.trec_subtopic_qrels import load_subtopic_qrels

    return load_subtopic_qrels(Path(args.qrels), args.qrels)


def load_labels(path: str, format: str | None, labels_of: str | None, *, hashed: bool = True) -> tuple[Qrels, Report]:
    """Return the labels of people or of a machine; errors as `read_labels`."""
    from judgments.formats.decoding import kept
    from judgments.formats.tables import load_qrels

    source = kept(Path(path))
    if format == MACHINE_FORMAT or (format is None and _is_machines(path, source)):
        from assay.cli.machine_labels import load_machine_qrels

        return load_machine_qrels(source, path, labels_of)
    if labels_of is not None:
        raise NotValid(f"{path}: --labels-of is for labels.jsonl of a judge; leave it out")
    return load_qrels(source, path, format, hashed=hashed)


def _is_machines(path: str, source: Path | str | bytes) -> bool:
    from judgments.formats import sniff
    from judgments.formats.decoding import HEAD, Content

    with Content(source, path, block=HEAD, hashed=False) as content:
        # Only JSON can be labels of a judge: tables are looked at by their own readers.
        head = content.head
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and sniff(head) == MACHINE_FORMAT
