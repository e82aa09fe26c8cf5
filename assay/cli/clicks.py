"""The command ``assay clicks``: weak labels from a click log, each with its interval."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, tell_warnings, write_out
from assay.cli.progress import progress_of_bytes
from assay.cli.text_table import counted
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from pooling.clicks.evidence import Evidence
    from pooling.clicks.labelling import ClickLabels, Rules

NAME = "clicks"
EXAMPLE = "assay clicks clicks.csv --model coec --least-impressions 30 --out labels.csv"
COLUMNS = ("query_id", "query", "doc_id", "label", "low", "high", "impressions", "clicks", "expected")
FORMATS_OF = {"csv": "click-log-csv", "jsonl": "click-log-jsonl", "ubi": "click-log-ubi"}
# So many ranks are told on standard error.
TOLD_RANKS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from pooling.clicks import CLICK_MODELS
    from pooling.clicks.evidence import Robots

    robots = Robots()
    parser.add_argument("log", metavar="LOG", help="query,doc_id,position,clicked or impressions,clicks; or UBI")
    parser.add_argument("--format", choices=list(FORMATS_OF), help="of the log; by default what its content says")
    parser.add_argument("--columns", "--column", metavar="OURS=THEIRS,...", help="other names: doc_id=sku,clicked=hit")
    parser.add_argument("--model", choices=list(CLICK_MODELS), default="coec", help="default coec")
    parser.add_argument(
        "--least-impressions",
        type=int,
        default=30,
        metavar="N",
        help="a pair shown less often has no label; default 30",
    )
    parser.add_argument("--strength", type=float, metavar="X", help="weight of the prior; default 5 (coec), 20 (ctr)")
    parser.add_argument("--baseline", metavar="X,X,...", help="clicks per impression from rank 1 on; default the log's")
    parser.add_argument("--cuts", metavar="X,X,...", help="grades instead of fractions: 0.5,1,2 for the grades 0 to 3")
    parser.add_argument("--level", type=float, default=0.95, metavar="X", help="of the intervals; default 0.95")
    parser.add_argument(
        "--robot-impressions",
        type=int,
        default=robots.most_impressions,
        metavar="N",
        help=f"leave out clients that were shown more; default {robots.most_impressions}",
    )
    parser.add_argument(
        "--robot-clicked",
        type=float,
        default=robots.most_clicked,
        metavar="X",
        help=f"leave out clients that clicked on a larger share of {robots.least_impressions} or more; default "
        f"{robots.most_clicked}",
    )
    parser.add_argument("--queries", metavar="FILE", help="a queries.csv: its ids, and labels of its queries alone")
    parser.add_argument("--to", choices=["csv", "qrels"], default="csv", help="default csv; qrels takes --cuts")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read the log, label, write, and say what was counted."""
    from pooling.clicks.cuts import parse_cuts
    from pooling.clicks.labelling import Rules, label

    rules = Rules(
        model=args.model,
        least_impressions=args.least_impressions,
        strength=args.strength,
        baseline=_rates(args.baseline),
        cuts=parse_cuts(args.cuts or ""),
        level=args.level,
    )
    if args.to == "qrels" and not rules.cuts:
        raise NotValid("qrels hold whole grades and clicks give fractions; give --cuts, or take --to csv")
    evidence = _read(args)
    found = label(evidence, rules)
    names = _names(evidence, args.queries)
    if args.to == "qrels" and any(not query_id for ids in names.values() for query_id, _ in ids):
        raise NotValid("the log has no query ids and qrels need them; give --queries queries.csv")
    write_out(_as_qrels(evidence, found, names) if args.to == "qrels" else _as_csv(evidence, found, names), args.out)
    _tell(evidence, found, rules, names)
    return 0


def _read(args: argparse.Namespace) -> Evidence:
    from judgments.formats import sniff
    from judgments.formats.decoding import Content, kept
    from pooling.clicks.evidence import Robots
    from pooling.clicks.log_file import read_clicks

    source = kept(args.log)
    with Content(source, args.log) as content:
        seen = sniff(content.head, "click-log")
    size = len(source) if isinstance(source, bytes) else _size(args.log)
    options: dict[str, Any] = {"columns": _columns(args.columns)} if args.columns else {}
    evidence, report = read_clicks(
        source,
        path=args.log,
        format=FORMATS_OF[args.format] if args.format else seen or FORMATS_OF["csv"],
        robots=Robots(args.robot_impressions, args.robot_clicked),
        progress=progress_of_bytes(size, "reading"),
        **options,
    )
    report.raise_if_errors()
    tell_warnings([report])
    return evidence


def _size(path: str) -> int:
    from pathlib import Path

    return Path(path).stat().st_size


def _columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and equals and theirs for ours, equals, theirs in pairs):
        raise NotValid(f"--columns is {text!r}; give OURS=THEIRS, such as doc_id=sku,clicked=hit")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _rates(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in (text or "").split(",") if part.strip())
    except ValueError:
        raise NotValid(f"--baseline is {text!r}; give the rate of each rank from 1 on, such as 0.4,0.2,0.15") from None


# Place in the evidence to the ids and texts of the queries that it stands for.
Names = dict[int, list[tuple[str, str]]]


def _names(evidence: Evidence, queries: str | None) -> Names:
    """What the queries are called; those that a given file does not have are left out."""
    typed = zip(evidence.queries, evidence.typed, strict=True)
    if queries is None:
        return {place: [(query_id, text)] for place, ((query_id, _), text) in enumerate(typed)}
    from judgments.formats import FORMATS
    from pooling.sampling.log import normalize

    read = FORMATS["queries-csv"].read(queries, path=queries)
    read.report.raise_if_errors()
    ids: dict[str, tuple[str, str]] = {row.query_id: (row.query_id, row.query) for row in read.rows}
    texts: dict[str, list[tuple[str, str]]] = {}
    for row in read.rows:
        texts.setdefault(normalize(row.query), []).append((row.query_id, row.query))
    found: Names = {}
    for place, (query_id, text) in enumerate(evidence.queries):
        known = [ids[query_id]] if query_id in ids else [] if query_id else texts.get(text, [])
        if known:
            found[place] = known
    if not found:
        raise NotValid(
            f"{queries}: none of the log's {counted(len(evidence.queries), 'query', 'queries')} is among its queries"
        )
    return found


def _rows(evidence: Evidence, found: ClickLabels, names: Names) -> list[tuple[str, str, str, int]]:
    """Query id, text, document and place, in the order of the ids."""
    pairs = zip(found.query.tolist(), found.document.tolist(), strict=True)
    rows = [
        (query_id, text, evidence.documents[document], place)
        for place, (query, document) in enumerate(pairs)
        for query_id, text in names.get(query, ())
    ]
    return sorted(rows, key=lambda row: tuple(part.encode() for part in row[:3]))


def _as_csv(evidence: Evidence, found: ClickLabels, names: Names) -> str:
    from judgments.core.cells import csv_row, escape

    lines = [csv_row(list(COLUMNS))]
    for query_id, text, doc_id, place in _rows(evidence, found, names):
        numbers: list[Any] = [
            found.labels[place].item(),
            *(float(of[place]) for of in (found.low, found.high)),
            *(int(of[place]) for of in (found.impressions, found.clicks)),
            float(found.expected[place]),
        ]
        lines.append(csv_row([escape(query_id), escape(text), escape(doc_id), *(repr(number) for number in numbers)]))
    return "".join(lines)


def _as_qrels(evidence: Evidence, found: ClickLabels, names: Names) -> str:
    import io

    from judgments.formats import FORMATS
    from judgments.formats.rows import LabelRow

    stream = io.BytesIO()
    write = FORMATS["trec-qrels"].write
    assert write is not None  # noqa: S101 (TREC's qrels can be written)
    # 2: from elsewhere than people and judges.
    rows = (
        LabelRow(query_id, doc_id, float(found.labels[place]), "2")
        for query_id, _, doc_id, place in _rows(evidence, found, names)
    )
    write(rows, stream)
    return stream.getvalue().decode()


def _tell(evidence: Evidence, found: ClickLabels, rules: Rules, names: Names) -> None:
    from pooling.clicks import CLICK_MODELS

    shown, clicked = int(evidence.impressions.sum()), int(evidence.clicks.sum())
    lines = [
        f"{counted(shown, 'impression')}, {counted(clicked, 'click')} ({found.overall:.1%}), "
        f"{counted(len(evidence.queries), 'query', 'queries')}"
    ]
    rates = ", ".join(f"{rank.rank or 'unknown'}: {rank.rate:.3f}" for rank in found.ranks[:TOLD_RANKS])
    lines.append(f"  expected clicks per impression by rank: {rates}{' ...' if found.ranks[TOLD_RANKS:] else ''}")
    strength = rules.as_json()["strength"]
    lines.append(
        f"  {rules.model}: {strength:g} {CLICK_MODELS[rules.model].unit} of a usual pair on top of each pair's own"
    )
    told = len(_rows(evidence, found, names))
    lines.append(
        f"  {counted(told, 'label')}; none for {counted(found.few, 'pair')} with fewer than "
        f"{counted(rules.least_impressions, 'impression')}"
    )
    if evidence.robots:
        reasons = ", ".join(f"{number} {reason}" for reason, number in evidence.robots.items())
        lines.append(
            f"  left out {sum(evidence.robots.values())} of {counted(evidence.clients, 'client')} ({reasons}) with "
            f"{counted(evidence.robot_impressions, 'impression')}"
        )
    for number, what in (
        (evidence.unshown, "clicks on what nobody recorded as shown: each counts as one impression"),
        (evidence.untold, "searches without words: left out"),
    ):
        if number:
            lines.append(f"  {number} {what}")
    if evidence.first_position == 0:
        lines.append("  positions begin with 0 in the log, read as rank 1")
    if evidence.redacted:
        kinds = ", ".join(f"{kind} in {number}" for kind, number in evidence.redacted.items())
        lines.append(f"  taken out of queries: {kinds}")
    sys.stderr.write("\n".join(lines) + "\n")
