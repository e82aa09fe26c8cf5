"""The command ``assay pool``: choose the query-document pairs to judge from runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.inputs.files import (
    RUN_HELP,
    add_out,
    add_table_formats,
    named_runs,
    print_machine_note,
    print_warnings,
    read_rows,
    stdin_once,
    write_out,
)
from assay.cli.options.parameters import add_member_options, member_options
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.strategies import STRATEGIES
from assay.strategies.pooled_pair import EXACT, KINDS, OFF, SIMILARITY
from assay.strategies.rating_budget import ASSUMED_SECONDS, Budget, Effort

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.core.run import Run
    from assay.formats.row_types import DocumentRow
    from assay.strategies.chosen_pairs import Pool
    from assay.strategies.duplicates import Duplicates
    from assay.strategies.pooled_pair import PairCopy
    from assay.strategies.strategy import Wording


EXAMPLE = "assay pool bm25.run neural.run --strategy depth --depth 10 --out pool.csv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments, including those of the strategies."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    option(parser, "--strategy NAME", f"one of {', '.join(STRATEGIES)}", "depth")
    add_member_options(parser, STRATEGIES)
    option(parser, "--pairs FILE", "the pairs for --strategy list: CSV with query_id,doc_id")
    parser.add_argument(
        "--by",
        choices=["score", "rank"],
        default="score",
        help="order of the documents in a run: by score as in trec_eval, or by rank",
    )
    option(parser, "--budget N", "maximum number of pairs per query from the strategy", type=int)
    option(
        parser,
        "--qrels FILE",
        "labels of judged pairs, which are left out of the pool; adaptive strategies learn from them",
    )
    option(parser, "--relevant-from GRADE", "the lowest relevant grade", 1.0)
    option(parser, "--total N", "maximum number of pairs in all, spread over the queries", type=int)
    option(parser, "--hours H", "limit the pool to the pairs that --raters can judge in H hours each", type=float)
    option(parser, "--raters N", "with --hours: number of raters; default: 1", type=int)
    option(parser, "--ratings K", "with --hours: ratings per pair; default: 1", type=int)
    option(parser, "--seconds S", f"with --hours: seconds per rating; default: {ASSUMED_SECONDS:g}", type=float)
    parser.add_argument(
        "--duplicates",
        choices=KINDS,
        default=OFF,
        help="judge the duplicate documents of a query only once; needs --documents",
    )
    option(
        parser,
        "--similarity S",
        f"minimum share of text that near duplicates have in common; default: {SIMILARITY}",
        type=float,
    )
    option(parser, "--queries FILE", "queries.csv, for strategies that use texts")
    option(parser, "--documents FILE", "documents.jsonl, for strategies that use texts and for --duplicates")
    option(parser, "--residual N", "draw N more pairs per query from outside the pool", type=int, default=0)
    option(parser, "--seed N", "seed for all random choices", 0)
    option(parser, "--batch N", "shuffle the pairs of a query for raters, in batches of N", type=int, default=1)
    option(parser, "--format", "output format; default: csv, one line per pair", choices=["csv", "json"], default="csv")
    add_table_formats(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Create and write the pool, and print a summary."""
    runs = named_runs(args.runs)
    paths = [*(path for _, path in runs), args.qrels, args.pairs, args.queries, args.documents]
    stdin_once([path for path in paths if path])
    member = STRATEGIES[args.strategy]
    from assay.strategies.pool import build_pool

    if args.batch < 1:
        raise NotValid(f"--batch is {args.batch}; use 1 to keep the order of the strategy, or more")
    given = _given(args)
    _check_names(runs)
    judged, reports = _judged(args)
    documents, more = _documents(args)
    wording, about_queries = _wording(args, documents) if member.reads else (None, [])
    reports = [*reports, *about_queries, *more]
    total = _total(args)
    inputs: list[tuple[str, Report]] = []
    pool = build_pool(
        _runs(args, runs, inputs),
        member.name,
        given,
        seed=args.seed,
        budget=args.budget,
        residual=args.residual,
        judged=judged,
        relevant_from=args.relevant_from,
        wording=wording,
        total=total,
        duplicates=_duplicates(args, documents),
    )
    print_warnings([*(report for _, report in inputs), *reports])
    csv = args.format == "csv"
    text = as_csv(pool, args.batch, copies=args.duplicates != OFF) if csv else as_json(pool, inputs, args)
    write_out(text, args.out)
    print_summary(pool, args)
    return 0


def _given(args: argparse.Namespace) -> dict[str, Any]:
    given = member_options(args, STRATEGIES)
    if args.pairs is not None:
        given["pairs"] = [(row.query_id, row.doc_id) for row in read_rows("pairs-csv", args.pairs, warn=False)]
    elif args.strategy == "list":
        raise NotValid("--strategy list needs --pairs FILE, a CSV with the columns query_id,doc_id")
    return given


def _check_names(runs: list[tuple[str, str]]) -> None:
    name = next((name for name, _ in runs if ";" in name), None)
    if name is not None:
        raise NotValid(
            f"the run name {name!r} contains ';', which separates names in the pool; rename the run with NAME=PATH"
        )


def _runs(args: argparse.Namespace, runs: list[tuple[str, str]], inputs: list[tuple[str, Report]]) -> Iterator[Run]:
    """Yield runs one at a time, so that only one is in memory, and collect their reports."""
    from assay.formats.qrels_and_runs import open_run

    for name, path in runs:
        file = open_run(Path(path), path, name, args.run_format)
        run = file.whole() if args.by == "score" else file.rows().by_rank(name)
        inputs.append((name, file.report))
        yield run


def _documents(args: argparse.Namespace) -> tuple[dict[str, DocumentRow], list[Report]]:
    """Return the documents by id, if a strategy or --duplicates needs them."""
    from assay.formats import FORMATS

    if args.documents is None or not (STRATEGIES[args.strategy].reads or args.duplicates != OFF):
        return {}, []
    read = FORMATS["documents-jsonl"].read(Path(args.documents), path=args.documents).strict()
    return {row.doc_id: row for row in read.rows}, [read.report]


def _wording(args: argparse.Namespace, documents: Mapping[str, DocumentRow]) -> tuple[Wording, list[Report]]:
    """Return the texts of queries and documents, for a strategy that uses them."""
    from assay.formats import FORMATS
    from assay.strategies.strategy import Wording

    if args.queries is None or args.documents is None:
        raise NotValid(f"--strategy {args.strategy} needs texts; add --queries FILE and --documents FILE")
    queries = FORMATS["queries-csv"].read(Path(args.queries), path=args.queries).strict()
    texts = {doc_id: f"{row.title} {row.text}" for doc_id, row in documents.items()}
    return Wording.of({row.query_id: row.query for row in queries.rows}, texts), [queries.report]


def _duplicates(args: argparse.Namespace, documents: Mapping[str, DocumentRow]) -> Duplicates | None:
    """Return the detector of duplicates; documents without content are never duplicates."""
    if args.duplicates == OFF:
        if args.similarity is not None:
            raise NotValid("--similarity needs --duplicates near")
        return None
    if args.documents is None:
        raise NotValid(f"--duplicates {args.duplicates} needs texts; add --documents FILE")
    from assay.strategies.duplicates import Content, Duplicates, written

    contents = {
        doc_id: Content(row.title, row.text, written(row.fields), row.image) for doc_id, row in documents.items()
    }
    similarity = SIMILARITY if args.similarity is None else args.similarity
    near = None if args.duplicates == EXACT else similarity
    return Duplicates(lambda doc_ids: [contents.get(doc_id) for doc_id in doc_ids], near)


def _total(args: argparse.Namespace) -> int | None:
    """Return the maximum number of pairs: --total, or fewer if the raters cannot judge as many."""
    people = {"--raters": args.raters, "--ratings": args.ratings, "--seconds": args.seconds}
    wanted: int | None = args.total
    if args.hours is None:
        if alone := [name for name, value in people.items() if value is not None]:
            raise NotValid(f"{', '.join(alone)}: --hours is missing; add it, or remove these options")
        return wanted
    budget = Budget(
        args.hours,
        1 if args.raters is None else args.raters,
        1 if args.ratings is None else args.ratings,
        ASSUMED_SECONDS if args.seconds is None else args.seconds,
    )
    return budget.pairs if wanted is None else min(wanted, budget.pairs)


def _judged(args: argparse.Namespace) -> tuple[dict[tuple[str, str], float], list[Report]]:
    if args.qrels is None:
        return {}, []
    from assay.formats.qrels_and_runs import load_labels

    qrels, report = load_labels(args.qrels, args.qrels_format, args.labels_of)
    print_machine_note(qrels, report)
    return {(query_id, doc_id): grade for query_id, doc_id, grade in qrels.rows()}, [report]


COLUMNS = ("query_id", "doc_id", "rank", "runs", "why")


def as_csv(pool: Pool, batch: int, *, copies: bool = False) -> str:
    """Return the pool as CSV; a residual stratum and duplicates add a column each."""
    from assay.core.csv_cells import csv_row, escape

    more = ["probability"] if pool.residual else []
    more += ["copies"] if copies else []
    lines = [csv_row([*COLUMNS, *more])]
    for pair in pool.handed_out(batch):
        rank = "" if pair.best_rank is None else str(pair.best_rank)
        names = escape(";".join(name for name, _ in pair.runs))
        probability = [repr(pair.probability)] if pool.residual else []
        others = [escape(_joined(pair.copies))] if copies else []
        cells = [escape(pair.query_id), escape(pair.doc_id), rank, names, pair.why]
        lines.append(csv_row([*cells, *probability, *others]))
    return "".join(lines)


def _joined(copies: Sequence[PairCopy]) -> str:
    """Return the ids of the copies in one cell, joined like run names."""
    if odd := next((copy.doc_id for copy in copies if ";" in copy.doc_id), None):
        raise NotValid(f"document {odd!r} contains ';', which separates copies in CSV; use --format json")
    return ";".join(copy.doc_id for copy in copies)


def as_json(pool: Pool, inputs: Sequence[tuple[str, Report]], args: argparse.Namespace) -> str:
    """Return the pool as JSON, with its settings and preview."""
    from assay.strategies.pool_preview import preview

    document = {
        "strategy": pool.strategy,
        "params": {name: value for name, value in pool.params.items() if name != "pairs"},
        "by": args.by,
        "seed": pool.seed,
        "budget": pool.budget,
        "total": pool.total,
        "residual": pool.residual,
        "batch": args.batch,
        "relevant_from": args.relevant_from,
        "duplicates": args.duplicates,
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
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def print_summary(pool: Pool, args: argparse.Namespace) -> None:
    """Print a summary of the pool and the judging effort on standard error."""
    from assay.strategies.pool_preview import FEW, advised_depth, preview

    summary = preview(pool)
    lines = [
        f"{amount(summary.pairs, 'pair')} for {amount(summary.queries, 'query', 'queries')}, {summary.smallest} "
        f"to {summary.largest} per query"
    ]
    if summary.share_in_all is not None:
        lines.append(
            f"  all {amount(len(pool.runs), 'run')} share {amount(summary.in_all, 'pair')} ({summary.share_in_all:.0%})"
        )
    lines += [
        f"  {system.name}: {amount(system.pairs, 'pair')}, {system.unique} of them unique" for system in summary.systems
    ]
    if summary.differing > FEW:
        lines.append(f"  distinct systems: {summary.differing}")
    if advised := advised_depth(pool.strategy, pool.params, summary.differing):
        lines.append(f"  with more than {FEW} distinct systems, use depth {advised[0]} to {advised[1]}")
    if summary.copies:
        copies = amount(summary.copies, "duplicate")
        lines.append(f"  {copies} in {amount(summary.groups, 'group')}, judged once per group")
    if args.hours is not None:
        effort = Effort(summary.pairs, args.raters or 1, args.ratings or 1, args.seconds or ASSUMED_SECONDS)
        lines.append(
            f"  {amount(effort.ratings, 'rating')}, {amount(round(effort.minutes_each), 'minute')} for each rater"
        )
    if summary.residual:
        lines.append(f"  residual stratum: {amount(summary.residual, 'pair')}, drawn with seed {pool.seed}")
    if pool.judged:
        lines.append(f"  left out: {amount(pool.judged, 'pair')} already judged")
    if pool.over_budget:
        lines.append(f"  left out: {amount(pool.over_budget, 'pair')} beyond the budget")
    sys.stderr.write("\n".join(lines) + "\n")
