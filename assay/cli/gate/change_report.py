"""Options of ``assay gate`` for the change report, and its files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.inputs.files import print_warnings, read_rows
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.run import Run
    from assay.decisions.change_report import ChangeReport
    from assay.decisions.gate_verdicts import GateResult

# Documents are titled by the first letters of their text if they have no title.
LONGEST_TITLE = 80


def add_report_options(parser: argparse._ActionsContainer) -> None:
    """Declare ``--report``, ``--markdown`` and what the report shows."""
    option(parser, "--report FILE", "write the change report to FILE as one static HTML page")
    option(parser, "--markdown FILE", "write the verdict and the change report to FILE, for a pull request")
    option(
        parser,
        "--queries FILE",
        "queries.csv with the texts of the queries, and their weights if each has one, for the change report",
    )
    option(parser, "--documents FILE", "documents with titles or texts, for the change report")
    option(
        parser,
        "--report-metric METRIC",
        "metric of the expected losses; default: that of the first rule on a drop, or of the first rule",
    )
    option(parser, "--seconds S", "seconds per judgment; default: 20", type=float)


def check_report_options(args: argparse.Namespace) -> bool:
    """Return whether a report was requested; refuse options without one."""
    wanted = bool(args.report or args.markdown)
    for given in ("queries", "documents", "report_metric", "seconds"):
        if getattr(args, given) is not None and not wanted:
            name = given.replace("_", "-")
            raise NotValid(f"--{name} needs --report or --markdown; add one of them or remove --{name}")
    if wanted and args.samples:
        raise NotValid("the change report compares runs; remove --report and --markdown, or --samples")
    if wanted and not args.baseline:
        raise NotValid("the change report compares the candidate with a baseline; add --baseline RUN")
    return wanted


def make_report(
    args: argparse.Namespace,
    result: GateResult,
    qrels: Qrels,
    runs: tuple[Run, Run],
    *,
    seed: int,
    scale_top: float | None,
) -> ChangeReport:
    """Compute the report."""
    from assay.decisions.change_report import change_report
    from assay.decisions.decision_critical import SECONDS

    texts, weights = _queries(args.queries, qrels) if args.queries else ({}, None)
    return change_report(
        result,
        qrels,
        *runs,
        metric=args.report_metric,
        missing=args.missing or "zero",
        scale_top=scale_top,
        weights=weights,
        query_texts=texts,
        titles=_titles(args.documents) if args.documents else {},
        seconds=SECONDS if args.seconds is None else args.seconds,
        seed=seed,
    )


def write_report(args: argparse.Namespace, report: ChangeReport, verdict: str) -> None:
    """Write the HTML page, and the verdict with the report in Markdown."""
    from assay.decisions.change_report_html import as_html
    from assay.decisions.change_report_markdown import as_markdown

    if args.report:
        Path(args.report).write_text(as_html(report), encoding="utf-8")
    if args.markdown:
        Path(args.markdown).write_text(f"{verdict}\n{as_markdown(report)}", encoding="utf-8")


def _queries(path: str, qrels: Qrels) -> tuple[dict[str, str], Mapping[str, float] | None]:
    """Return the texts, and the weights if each judged query has one."""
    rows = {row.query_id: row for row in read_rows("queries-csv", path, warn=False)}
    texts = {query_id: row.query for query_id, row in rows.items()}
    judged = [rows[query_id] for query_id in qrels.query_ids if query_id in rows]
    if len(judged) < qrels.queries or any(row.weight is None for row in judged):
        return texts, None
    return texts, {row.query_id: row.weight / (row.probability or 1.0) for row in judged}


def _titles(path: str) -> dict[str, str]:
    from assay.formats import FORMATS
    from assay.formats.reader import recognize_or
    from assay.formats.text_lines import Content, reusable_source

    source = reusable_source(Path(path))
    with Content(source, path) as content:
        name = recognize_or(content.head, path, "documents", "documents-jsonl", "assay convert --to {}")
    read = FORMATS[name].read(source, path=path).strict()
    print_warnings([read.report])
    return {row.doc_id: _title(row) for row in read.rows}


def _title(row: Any) -> str:
    text = " ".join((row.title or row.text).split())
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…"


def print_places(args: argparse.Namespace) -> None:
    """Print on standard error where the report is."""
    for path in filter(None, (args.report, args.markdown)):
        sys.stderr.write(f"note: the change report is in {path}\n")
