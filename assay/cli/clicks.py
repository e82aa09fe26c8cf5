"""The command ``assay clicks``: weak labels from a click log, each with its interval."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from assay.cli import option, progress_of_bytes
from assay.cli.inputs.files import add_out, print_warnings, write_out, written
from assay.cli.options.reader import columns_of
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.clicks.click_counts import Evidence
    from assay.clicks.labeling import ClickLabels, Rules

EXAMPLE = "assay clicks clicks.csv --model coec --least-impressions 30 --out labels.csv"
COLUMNS = ("query_id", "query", "doc_id", "label", "low", "high", "impressions", "clicks", "expected")
FORMATS_OF = {"csv": "click-log-csv", "jsonl": "click-log-jsonl", "ubi": "click-log-ubi"}
# Number of ranks in the summary on standard error.
LISTED_RANKS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from assay.clicks import CLICK_MODELS
    from assay.clicks.click_counts import Robots

    robots = Robots()
    option(
        parser, "log LOG", "click log: UBI, or columns query,doc_id,position and either clicked or impressions,clicks"
    )
    option(parser, "--format", "format of the log; default: detected from its content", choices=list(FORMATS_OF))
    option(parser, "--columns --column OURS=THEIRS,...", "map columns of the log, such as doc_id=sku,clicked=hit")
    option(parser, "--model", "click model", "coec", choices=list(CLICK_MODELS))
    option(parser, "--least-impressions N", "minimum number of impressions for a label", 30)
    option(parser, "--strength X", "weight of the prior; default: 5 (coec), 20 (ctr)", type=float)
    option(parser, "--baseline X,X,...", "clicks per impression at each rank from 1; default: estimated from the log")
    option(parser, "--cuts X,X,...", "write grades: the lowest label of each grade above the first, such as 0.5,1,2")
    option(parser, "--level X", "confidence level of the intervals", 0.95)
    option(
        parser,
        "--robot-impressions N",
        "leave out clients with more impressions than this",
        robots.most_impressions,
        type=int,
    )
    option(
        parser,
        "--robot-clicked X",
        f"leave out clients with at least {robots.least_impressions} impressions that clicked on a larger share of "
        "them",
        robots.most_clicked,
        type=float,
    )
    option(parser, "--queries FILE", "label only the queries in this queries.csv, with its ids")
    option(parser, "--to", "output format; qrels needs --cuts", "csv", choices=["csv", "qrels"])
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Compute and write the labels, and print a summary of the log."""
    from assay.clicks.grade_cuts import parse_cuts
    from assay.clicks.labeling import Rules, label

    rules = Rules(
        model=args.model,
        least_impressions=args.least_impressions,
        strength=args.strength,
        baseline=_rates(args.baseline),
        cuts=parse_cuts(args.cuts or ""),
        level=args.level,
    )
    if args.to == "qrels" and not rules.cuts:
        raise NotValid("--to qrels needs --cuts, because qrels contain whole grades and click labels are fractions")
    evidence = _read(args)
    labels = label(evidence, rules)
    names = _names(evidence, args.queries)
    if args.to == "qrels" and any(not query_id for ids in names.values() for query_id, _ in ids):
        raise NotValid("--to qrels needs query ids, and the log has none; add --queries queries.csv")
    write_out(_as_qrels(evidence, labels, names) if args.to == "qrels" else _as_csv(evidence, labels, names), args.out)
    _print_summary(evidence, labels, rules, names)
    return 0


def _read(args: argparse.Namespace) -> Evidence:
    from assay.clicks.click_counts import Robots
    from assay.clicks.log_file import read_clicks
    from assay.formats import sniff
    from assay.formats.text_lines import Content, reusable_source

    source = reusable_source(args.log)
    with Content(source, args.log) as content:
        seen = sniff(content.head, "click-log")
    size = len(source) if isinstance(source, bytes) else _size(args.log)
    options: dict[str, Any] = {"columns": columns_of(args.columns, "doc_id=sku,clicked=hit")} if args.columns else {}
    evidence, report = read_clicks(
        source,
        path=args.log,
        format=FORMATS_OF[args.format] if args.format else seen or FORMATS_OF["csv"],
        robots=Robots(args.robot_impressions, args.robot_clicked),
        progress=progress_of_bytes(size, "reading"),
        **options,
    )
    report.raise_if_errors()
    print_warnings([report])
    return evidence


def _size(path: str) -> int:
    from pathlib import Path

    return Path(path).stat().st_size


def _rates(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in (text or "").split(",") if part.strip())
    except ValueError:
        raise NotValid(f"--baseline is {text!r}; list the rates from rank 1, such as 0.4,0.2,0.15") from None


# The ids and texts of the queries at each index of the evidence.
Names = dict[int, list[tuple[str, str]]]


def _names(evidence: Evidence, queries: str | None) -> Names:
    """Return the ids and texts of the queries; queries that are not in the given file are left out."""
    typed = zip(evidence.queries, evidence.typed, strict=True)
    if queries is None:
        return {place: [(query_id, text)] for place, ((query_id, _), text) in enumerate(typed)}
    from assay.formats import FORMATS
    from assay.sampling.row_counting import normalize

    read = FORMATS["queries-csv"].read(queries, path=queries).strict()
    ids: dict[str, tuple[str, str]] = {row.query_id: (row.query_id, row.query) for row in read.rows}
    texts: dict[str, list[tuple[str, str]]] = {}
    for row in read.rows:
        texts.setdefault(normalize(row.query), []).append((row.query_id, row.query))
    names: Names = {}
    for place, (query_id, text) in enumerate(evidence.queries):
        known = [ids[query_id]] if query_id in ids else [] if query_id else texts.get(text, [])
        if known:
            names[place] = known
    if not names:
        raise NotValid(
            f"{queries}: contains none of the {amount(len(evidence.queries), 'query', 'queries')} in the log; "
            "use the queries of this log"
        )
    return names


def _rows(evidence: Evidence, labels: ClickLabels, names: Names) -> list[tuple[str, str, str, int]]:
    """Return query id, text, document and index in the labels, sorted by the ids."""
    pairs = zip(labels.query.tolist(), labels.document.tolist(), strict=True)
    rows = [
        (query_id, text, evidence.documents[document], place)
        for place, (query, document) in enumerate(pairs)
        for query_id, text in names.get(query, ())
    ]
    return sorted(rows, key=lambda row: tuple(part.encode() for part in row[:3]))


def _as_csv(evidence: Evidence, labels: ClickLabels, names: Names) -> str:
    from assay.core.csv_cells import csv_row, escape

    lines = [csv_row(list(COLUMNS))]
    for query_id, text, doc_id, place in _rows(evidence, labels, names):
        numbers: list[Any] = [
            labels.labels[place].item(),
            *(float(of[place]) for of in (labels.low, labels.high)),
            *(int(of[place]) for of in (labels.impressions, labels.clicks)),
            float(labels.expected[place]),
        ]
        lines.append(csv_row([escape(query_id), escape(text), escape(doc_id), *(repr(number) for number in numbers)]))
    return "".join(lines)


def _as_qrels(evidence: Evidence, labels: ClickLabels, names: Names) -> str:
    from assay.formats.row_types import LabelRow

    # Column 2 is 2 for labels that come from neither people nor judges.
    rows = (
        LabelRow(query_id, doc_id, float(labels.labels[place]), "2")
        for query_id, _, doc_id, place in _rows(evidence, labels, names)
    )
    return written("trec-qrels", rows)


def _print_summary(evidence: Evidence, labels: ClickLabels, rules: Rules, names: Names) -> None:
    from assay.clicks import CLICK_MODELS

    shown, clicked = int(evidence.impressions.sum()), int(evidence.clicks.sum())
    lines = [
        f"{amount(shown, 'impression')}, {amount(clicked, 'click')} ({labels.overall:.1%}), "
        f"{amount(len(evidence.queries), 'query', 'queries')}"
    ]
    rates = ", ".join(f"{rank.rank or 'unknown'}: {rank.rate:.3f}" for rank in labels.ranks[:LISTED_RANKS])
    lines.append(f"  expected clicks per impression by rank: {rates}{' ...' if labels.ranks[LISTED_RANKS:] else ''}")
    strength = rules.as_json()["strength"]
    lines.append(
        f"  {rules.model}: the prior is worth {strength:g} {CLICK_MODELS[rules.model].unit} of an average pair"
    )
    number_of_labels = len(_rows(evidence, labels, names))
    lines.append(
        f"  {amount(number_of_labels, 'label')}; none for {amount(labels.few, 'pair')} with fewer than "
        f"{amount(rules.least_impressions, 'impression')}"
    )
    if evidence.robots:
        reasons = ", ".join(f"{number} with {reason}" for reason, number in evidence.robots.items())
        lines.append(
            f"  left out {sum(evidence.robots.values())} of {amount(evidence.clients, 'client')} ({reasons}), who had "
            f"{amount(evidence.robot_impressions, 'impression')}"
        )
    for number, what in (
        (evidence.unshown, "clicks without a recorded impression, each counted as one impression"),
        (evidence.without_query, "searches without query text, left out"),
    ):
        if number:
            lines.append(f"  {what}: {number:,}")
    if evidence.first_position == 0:
        lines.append("  positions in the log start at 0; the rank is the position plus 1")
    if evidence.redacted:
        kinds = ", ".join(f"{kind} in {number:,}" for kind, number in evidence.redacted.items())
        lines.append(f"  queries with redacted parts: {kinds}")
    sys.stderr.write("\n".join(lines) + "\n")
