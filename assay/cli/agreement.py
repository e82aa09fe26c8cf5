"""The command ``assay agreement``: agreement coefficients of a ratings file, and a gate on one of them."""

from __future__ import annotations

import argparse
import json

from assay.cli.inputs.files import add_out, write_out
from assay.cli.options.scale import add_scale, scale_values
from assay.cli.options.unused import seed_of
from assay.cli.output.agreement import as_text
from assay.cli.output.agreement_parts import groups, tiers_of
from assay.core.errors import NotValid

# As in assay.coefficients.gate, which would import numpy.
THRESHOLD = 0.60

NAME = "agreement"
EXAMPLE = "assay agreement ratings.csv --scale 0:3 --gate alpha-ordinal --threshold 0.6"
PARTS = ("grade", "query", "tier")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "ratings", metavar="RATINGS", help="ratings CSV with at least query_id,doc_id,rater,grade; - for standard input"
    )
    add_scale(parser)
    parser.add_argument(
        "--bootstrap",
        metavar="N",
        type=int,
        default=1000,
        help="number of resamples of the queries, default 1000; 0 for no intervals",
    )
    parser.add_argument("--seed", type=int, help="seed for the bootstrap, default 0")
    parser.add_argument(
        "--gate", metavar="COEFFICIENT", help="compare this coefficient with --threshold; exit status 1 if it fails"
    )
    parser.add_argument(
        "--threshold", metavar="X", type=float, help=f"threshold for --gate, -1 to 1; default {THRESHOLD:.2f}"
    )
    parser.add_argument(
        "--by",
        metavar="PART",
        action="append",
        choices=PARTS,
        help=f"report agreement separately by {', '.join(PARTS)}",
    )
    parser.add_argument("--queries", metavar="FILE", help="queries.csv with a tier for each query, for --by tier")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="default: table")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Compute and print the agreement."""
    values = scale_values(args.scale)
    if args.bootstrap < 0 or (args.seed or 0) < 0:
        raise NotValid("--bootstrap and --seed must be whole numbers, 0 or more")
    seed = seed_of(args.seed, "" if args.bootstrap else "--bootstrap 0 uses no random draws")
    _check_gate(args)
    from assay.cli.inputs.ratings import read_ratings
    from assay.cli.process import keep_freed_memory
    from assay.coefficients import agreement_report
    from assay.coefficients.gate import decide
    from assay.coefficients.grade_table import GradeTable

    keep_freed_memory()
    tiers = tiers_of(args.queries) if args.queries else {}
    table = GradeTable.of(read_ratings(args.ratings, values).ratings)
    report = agreement_report(table, values, bootstrap=args.bootstrap, seed=seed)
    results = report.as_json()
    answer = decide(results, args.gate, THRESHOLD if args.threshold is None else args.threshold) if args.gate else None
    parts = groups(table, values, set(args.by or ()), tiers, args.bootstrap, seed)
    if args.format == "json":
        results |= {f"by_{part}": [row.as_json() for row in rows] for part, rows in parts.items()}
        results |= {"gate": answer.as_json()} if answer else {}
        write_out(json.dumps(results, ensure_ascii=False, indent=2, allow_nan=False) + "\n", args.out)
    else:
        by_grade = report.grades if "grade" in (args.by or ()) else ()
        write_out(as_text(report, parts, by_grade, answer), args.out)
    return 1 if answer is not None and answer.state == "failed" else 0


def _check_gate(args: argparse.Namespace) -> None:
    """Check the options about gate and parts before a large file is read."""
    from assay.coefficients import COEFFICIENTS

    if args.threshold is not None and not args.gate:
        raise NotValid("--threshold needs --gate, for example --gate alpha-ordinal")
    if args.threshold is not None and not -1 <= args.threshold <= 1:
        raise NotValid(f"--threshold is {args.threshold}; use a number from -1 to 1")
    if args.gate and args.gate not in COEFFICIENTS:
        raise NotValid(f"unknown coefficient {args.gate!r}; known: {', '.join(COEFFICIENTS)}")
    if args.gate and not args.bootstrap:
        raise NotValid("--gate needs an interval; set --bootstrap to 1 or more")
    if bool(args.queries) != ("tier" in (args.by or ())):
        raise NotValid("--by tier and --queries FILE must be used together")
