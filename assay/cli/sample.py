"""Which queries of a log should be judged, and what does each of them stand for?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, stdin_once, tell_warnings, write_out
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from pooling.sampling.draw import Sample
    from pooling.sampling.log import CountedLog
    from pooling.sampling.tiers import TierCut

NAME = "sample"
HELP = "draw queries from a query log, by tier or in proportion to their traffic"
EXAMPLE = "assay sample log.csv --head 50 --torso 100 --tail 50 --seed 1 --out queries.csv --raw-out raw.csv"
COLUMNS = ("query_id", "query", "tier", "frequency", "clients", "probability", "weight")
RAW_COLUMNS = ("query_id", "line", "query", "timestamp", "count", "clicks")
FORMATS_OF = {"csv": "query-log-csv", "jsonl": "query-log-jsonl"}
# What a person's privacy takes, by the field's usual rule; said, and left to whoever samples.
FEW_CLIENTS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("log", metavar="LOG", help="query,timestamp,client_id or query,count; - is standard input")
    parser.add_argument("--format", choices=list(FORMATS_OF), help="of the log; by default what its name says, or csv")
    parser.add_argument(
        "--columns", "--column", metavar="OURS=THEIRS,...", help="other names of columns: count=searches,query=term"
    )
    parser.add_argument(
        "--repeated", choices=["sum", "max", "first"], help="what a counted log means that holds a query twice"
    )
    parser.add_argument("--method", choices=["stratified", "pps"], default="stratified", help="default stratified")
    for tier in ("head", "torso", "tail"):
        parser.add_argument(f"--{tier}", type=int, metavar="N", help=f"stratified: N queries of the {tier}")
    parser.add_argument("--n", type=int, metavar="N", help="pps: N queries over the whole log")
    parser.add_argument("--head-share", type=float, default=0.5, metavar="X", help="where the head ends; default 0.5")
    parser.add_argument("--torso-share", type=float, default=0.8, metavar="X", help="where the torso ends; default 0.8")
    parser.add_argument("--window-days", type=int, default=90, metavar="N", help="the log's last N days; default 90")
    parser.add_argument(
        "--min-clients", type=int, default=1, metavar="N", help="leave out queries of fewer clients; default 1"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw; default 0")
    parser.add_argument("--raw-out", metavar="FILE", help="also write one raw row of each query, without client_id")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read the log, count, cut, draw, write, and say what was left out."""
    _check_method(args)
    stdin_once([args.log])
    from pooling.sampling.log import count_log
    from pooling.sampling.tiers import cut_tiers

    log = count_log(_read_log(args), window_days=args.window_days, min_clients=args.min_clients)
    if not log.queries:
        raise NotValid(f"{args.log}: no query is left to sample; {_left_out(log) or 'the log is empty'}")
    cut = cut_tiers(log.queries, head_share=args.head_share, torso_share=args.torso_share)
    sample = _draw(args, cut)
    write_out(_as_csv(sample), args.out)
    if args.raw_out:
        write_out(_raw_rows(sample), args.raw_out)
    _tell(log, cut, sample)
    return 0


def _check_method(args: argparse.Namespace) -> None:
    tiers = [name for name in ("head", "torso", "tail") if getattr(args, name) is not None]
    if args.method == "pps" and (args.n is None or tiers):
        raise NotValid("--method pps draws over the whole log; give --n N and none of --head, --torso, --tail")
    if args.method == "stratified" and (args.n is not None or not tiers):
        raise NotValid("--method stratified draws by tier; give --head N, --torso N or --tail N, and no --n")


def _read_log(args: argparse.Namespace) -> list[Any]:
    from judgments.formats import FORMATS

    lines = args.log.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
    name = FORMATS_OF[args.format or ("jsonl" if lines else "csv")]
    found = FORMATS[name].read(Path(args.log), path=args.log, columns=_columns(args.columns), repeated=args.repeated)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    rows = list(found.rows)
    ignored = any(problem.code == "W41" for problem in found.report.problems)
    if ignored and all(row.count == 1 and not row.timestamp for row in rows):
        sys.stderr.write("note: each row counts as one search; --columns count=NAME says which column holds counts\n")
    return rows


def _columns(text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and equals and theirs for ours, equals, theirs in pairs):
        raise NotValid(f"--columns is {text!r}; give OURS=THEIRS, such as count=searches,query=term")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _draw(args: argparse.Namespace, cut: TierCut) -> Sample:
    from pooling.sampling.draw import draw_pps, draw_stratified

    if args.method == "pps":
        return draw_pps(cut, args.n, args.seed)
    return draw_stratified(cut, {tier: getattr(args, tier) or 0 for tier in ("head", "torso", "tail")}, args.seed)


def _as_csv(sample: Sample) -> str:
    from judgments.core.cells import csv_row, escape

    lines = [csv_row(list(COLUMNS))]
    for drawn in sample.queries:
        counts = [str(drawn.query.frequency), "" if drawn.query.clients is None else str(drawn.query.clients)]
        shares = [repr(drawn.probability), repr(drawn.weight)]
        lines.append(
            csv_row([drawn.query_id, escape(" ".join(drawn.query.text.split())), drawn.tier, *counts, *shares])
        )
    return "".join(lines)


def _raw_rows(sample: Sample) -> str:
    """One row of the log for each query; who searched is nobody's business here."""
    from judgments.core.cells import csv_row, escape

    lines = [csv_row(list(RAW_COLUMNS))]
    for drawn in sample.queries:
        raw: Any = drawn.query.raw
        cells = [str(raw.line), escape(raw.query), raw.timestamp, str(raw.count), escape(raw.clicks)]
        lines.append(csv_row([drawn.query_id, *cells]))
    return "".join(lines)


def _tell(log: CountedLog, cut: TierCut, sample: Sample) -> None:
    window = f", {log.first:%Y-%m-%d} to {log.last:%Y-%m-%d}" if log.first and log.last else ""
    lines = [f"{log.traffic} searches for {len(log.queries)} queries{window}"]
    for tier in cut.tiers:
        share = "no traffic" if tier.share is None else f"{tier.share:.1%} of the traffic"
        lines.append(f"  {tier.name}: {tier.queries} queries, {share}, {sample.drawn[tier.name]} drawn")
    short = [name for name, size in sample.asked.items() if size > sample.drawn.get(name, len(sample.queries))]
    if short:
        lines.append(f"  fewer than asked: {', '.join(short)}; all that there is was taken")
    if left_out := _left_out(log):
        lines.append(f"  left out: {left_out}")
    few = sum(drawn.query.clients is not None and drawn.query.clients < FEW_CLIENTS for drawn in sample.queries)
    if few:
        lines.append(
            f"  {few} drawn queries come from fewer than {FEW_CLIENTS} clients; read them for personal data before "
            f"others do, or draw with --min-clients {FEW_CLIENTS}"
        )
    sys.stderr.write("\n".join(lines) + "\n")


def _left_out(log: CountedLog) -> str:
    parts = [f"{count} searches {reason}" for reason, count in log.dropped.items()]
    if log.suppressed:
        unit = "clients" if log.has_clients else "searches"
        parts.append(
            f"{log.suppressed_queries} queries with {log.suppressed} searches from fewer than {log.min_clients} {unit}"
        )
    return ", ".join(parts)
