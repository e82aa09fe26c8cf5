"""Which pairs of query and document should people judge, given these runs?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import add_out, named, stdin_once, tell_warnings, write_out
from assay.cli.member_options import add_member_options, member_options
from assay.cli.table_formats import RUN_HELP, add_table_formats
from judgments.core.errors import NotValid
from pooling.strategies import STRATEGIES

if TYPE_CHECKING:
    from judgments.core.report import Report
    from judgments.core.run import Run
    from pooling.strategies.pool import Pool
    from pooling.strategies.strategy import Wording

NAME = "pool"
HELP = "choose the pairs to judge from the runs of several systems"
EXAMPLE = "assay pool bm25.run neural.run --strategy depth --depth 10 --out pool.csv"
COLUMNS = ("query_id", "doc_id", "rank", "runs", "why")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; those of the strategies come from their own declarations."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    parser.add_argument("--strategy", metavar="NAME", default="depth", help=f"{', '.join(STRATEGIES)}; default depth")
    add_member_options(parser, STRATEGIES)
    parser.add_argument("--pairs", metavar="FILE", help="the pairs of --strategy list: CSV with query_id,doc_id")
    parser.add_argument(
        "--by",
        choices=["score", "rank"],
        default="score",
        help="order of a run: by score as trec_eval does, or by rank",
    )
    parser.add_argument("--budget", type=int, metavar="N", help="at most N of the strategy's pairs per query")
    parser.add_argument(
        "--qrels", metavar="FILE", help="what is judged already: left out, and what adaptive strategies learn from"
    )
    parser.add_argument(
        "--relevant-from", type=float, default=1.0, metavar="GRADE", help="the lowest relevant grade; default 1"
    )
    parser.add_argument("--queries", metavar="FILE", help="the queries' texts, for a strategy that reads: queries.csv")
    parser.add_argument(
        "--documents", metavar="FILE", help="the documents' texts, for a strategy that reads: documents.jsonl"
    )
    parser.add_argument(
        "--residual", type=int, default=0, metavar="N", help="N more per query, drawn from what the pool leaves out"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of every random choice; default 0")
    parser.add_argument(
        "--batch", type=int, default=1, metavar="N", help="shuffle each query's pairs inside batches of N for raters"
    )
    parser.add_argument("--format", choices=["csv", "json"], default="csv", help="default csv, one line a pair")
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read the runs, choose, write, and say what the pool looks like."""
    paths = [*(named(each)[1] for each in args.runs), args.qrels, args.pairs, args.queries, args.documents]
    stdin_once([path for path in paths if path])
    member = STRATEGIES[args.strategy]
    from pooling.strategies.pool import build_pool

    if args.batch < 1:
        raise NotValid(f"--batch is {args.batch}; give 1 to keep the order of choice, or more pairs")
    given = _given(args)
    names = [_name(each) for each in args.runs]
    judged, reports = _judged(args.qrels, args.qrels_format)
    wording, more = _wording(args) if member.reads else (None, [])
    reports = [*reports, *more]
    inputs: list[tuple[str, Report]] = []
    pool = build_pool(
        _runs(args, names, inputs),
        member.name,
        given,
        seed=args.seed,
        budget=args.budget,
        residual=args.residual,
        judged=judged,
        relevant_from=args.relevant_from,
        wording=wording,
    )
    tell_warnings([*(report for _, report in inputs), *reports])
    write_out(_as_json(pool, inputs, args) if args.format == "json" else _as_csv(pool, args.batch), args.out)
    _tell(pool)
    return 0


def _given(args: argparse.Namespace) -> dict[str, Any]:
    given = member_options(args, STRATEGIES)
    if args.pairs is not None:
        given["pairs"] = _read_pairs(args.pairs)
    elif args.strategy == "list":
        raise NotValid("--strategy list needs --pairs FILE, a CSV with query_id,doc_id")
    return given


def _name(argument: str) -> str:
    name = named(argument)[0]
    if ";" in name:
        raise NotValid(f"the run's name {name!r} holds ';', which parts names in the pool; give another with NAME=PATH")
    return name


def _runs(args: argparse.Namespace, names: list[str], inputs: list[tuple[str, Report]]) -> Iterator[Run]:
    """Read one run after the other, so that no two files are held at once; note what each file said."""
    from judgments.formats.tables import open_run

    for name, argument in zip(names, args.runs, strict=True):
        path = named(argument)[1]
        file = open_run(Path(path), path, name, args.run_format)
        run = file.whole() if args.by == "score" else file.rows().by_rank(name)
        inputs.append((name, file.report))
        yield run


def _wording(args: argparse.Namespace) -> tuple[Wording, list[Report]]:
    """The words of the queries and documents, for a strategy that reads them."""
    from judgments.formats import FORMATS
    from pooling.strategies.strategy import Wording

    if args.queries is None or args.documents is None:
        raise NotValid(f"--strategy {args.strategy} reads texts; give --queries FILE and --documents FILE")
    queries = FORMATS["queries-csv"].read(Path(args.queries), path=args.queries)
    documents = FORMATS["documents-jsonl"].read(Path(args.documents), path=args.documents)
    for found in (queries, documents):
        found.report.raise_if_errors()
    texts = {row.doc_id: f"{row.title} {row.text}" for row in documents.rows}
    return Wording.of({row.query_id: row.query for row in queries.rows}, texts), [queries.report, documents.report]


def _read_pairs(path: str) -> list[tuple[str, str]]:
    from judgments.formats import FORMATS

    found = FORMATS["pairs-csv"].read(Path(path), path=path)
    found.report.raise_if_errors()
    return [(row.query_id, row.doc_id) for row in found.rows]


def _judged(path: str | None, format: str | None) -> tuple[dict[tuple[str, str], float], list[Report]]:
    if path is None:
        return {}, []
    from judgments.formats.tables import load_qrels

    qrels, report = load_qrels(Path(path), path, format)
    return {(query_id, doc_id): grade for query_id, doc_id, grade in qrels.rows()}, [report]


def _as_csv(pool: Pool, batch: int) -> str:
    """The five columns of the contract; a residual stratum needs a sixth, its inclusion probability."""
    from judgments.core.cells import csv_row, escape

    more = ["probability"] if pool.residual else []
    lines = [csv_row([*COLUMNS, *more])]
    for pair in pool.handed_out(batch):
        rank = "" if pair.best_rank is None else str(pair.best_rank)
        names = escape(";".join(name for name, _ in pair.runs))
        probability = [repr(pair.probability)] if pool.residual else []
        lines.append(csv_row([escape(pair.query_id), escape(pair.doc_id), rank, names, pair.why, *probability]))
    return "".join(lines)


def _as_json(pool: Pool, inputs: list[tuple[str, Report]], args: argparse.Namespace) -> str:
    from pooling.strategies.preview import preview

    told = {
        "strategy": pool.strategy,
        "params": {name: value for name, value in pool.params.items() if name != "pairs"},
        "by": args.by,
        "seed": pool.seed,
        "budget": pool.budget,
        "residual": pool.residual,
        "batch": args.batch,
        "relevant_from": args.relevant_from,
        "runs": [
            {"name": name, "path": report.path, "sha256": report.sha256}
            for name, report in sorted(inputs, key=lambda each: each[0].encode())
        ],
        "judged": pool.judged,
        "over_budget": pool.over_budget,
        "preview": asdict(preview(pool)),
        "pairs": [
            {"query_id": pair.query_id, "doc_id": pair.doc_id, **pair.as_json()} for pair in pool.handed_out(args.batch)
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _tell(pool: Pool) -> None:
    from pooling.strategies.preview import preview

    found = preview(pool)
    lines = [f"{found.pairs} pairs for {found.queries} queries, {found.smallest} to {found.largest} each"]
    if found.share_in_all is not None:
        lines.append(f"  all {len(pool.runs)} runs share {found.in_all} pairs ({found.share_in_all:.0%})")
    lines += [f"  {system.name}: {system.pairs} pairs, {system.unique} of them alone" for system in found.systems]
    if found.residual:
        lines.append(f"  residual stratum: {found.residual} pairs, drawn with seed {pool.seed}")
    if pool.judged:
        lines.append(f"  left out, judged already: {pool.judged}")
    if pool.over_budget:
        lines.append(f"  left out, over the budget: {pool.over_budget}")
    sys.stderr.write("\n".join(lines) + "\n")
