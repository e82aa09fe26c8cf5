"""How far do the raters of a ratings file agree?"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from assay.cli.files import add_out, write_out
from assay.cli.no_effect import seed_of
from assay.cli.scale import add_scale, scale_values
from assay.cli.text_table import counted, number, text_table
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.agreement.coefficient import Agreement
    from judgments.agreement.report import AgreementReport

NAME = "agreement"
HELP = "how far raters agree: kappas, alphas, AC1/AC2 with n, overlap, intervals, warnings"
EXAMPLE = "assay agreement ratings.csv --scale 0:3 --format json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "ratings", metavar="RATINGS", help="ratings CSV; query_id,doc_id,rater,grade is enough; - is standard input"
    )
    add_scale(parser)
    parser.add_argument(
        "--bootstrap", metavar="N", type=int, default=1000, help="resamples of queries, default 1000; 0: no intervals"
    )
    parser.add_argument("--seed", type=int, help="seed of the bootstrap, default 0")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="default: table")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, compute, print."""
    values = scale_values(args.scale)
    if args.bootstrap < 0 or (args.seed or 0) < 0:
        raise NotValid("--bootstrap and --seed are whole numbers, 0 or more")
    seed = seed_of(args.seed, "" if args.bootstrap else "--bootstrap 0 draws nothing")
    from assay.cli.rating_rows import read_ratings
    from judgments.agreement import agreement_report

    ratings = read_ratings(args.ratings, values).ratings
    report = agreement_report(ratings, values, bootstrap=args.bootstrap, seed=seed)
    if args.format == "json":
        write_out(json.dumps(report.as_json(), ensure_ascii=False, indent=2, allow_nan=False) + "\n", args.out)
    else:
        write_out(_as_text(report), args.out)
    return 0


def _as_text(report: AgreementReport) -> str:
    shares = "-" if report.percent_agreement is None else f"{report.percent_agreement:.1%}"
    head = (
        f"{counted(report.raters, 'rater')}, {counted(report.pairs, 'pair')}, {report.overlap} with two or more "
        f"grades, {counted(report.queries, 'query', 'queries')}; equal grades: {shares}\n"
    )
    parts = [head, _coefficients(report)]
    if report.cohen:
        parts.append(_cohen(report))
    if report.warnings:
        parts.append("".join(f"warning: {warning.message}\n" for warning in report.warnings))
    return "\n".join(parts)


def _coefficients(report: AgreementReport) -> str:
    rows = {
        "Krippendorff's alpha, ordinal": report.ordinal,
        "Krippendorff's alpha, nominal": report.nominal,
        "Krippendorff's alpha, interval": report.interval,
        "Fleiss' kappa": report.fleiss,
        "Gwet's AC1": report.ac1,
        "Gwet's AC2, quadratic": report.ac2,
    }
    cells = [[name, number(one.value), _interval(one), str(one.n), one.reason or ""] for name, one in rows.items()]
    table = text_table(["coefficient", "value", "95 % interval", "n", ""], cells)
    return table + _reasons([one.reason for one in rows.values()])


def _reasons(reasons: list[str | None]) -> str:
    from judgments.agreement import REASONS

    return "".join(f"{reason}: {REASONS[reason]}\n" for reason in dict.fromkeys(reasons) if reason)


def _cohen(report: AgreementReport) -> str:
    rows = [
        [
            f"{row.a} - {row.b}",
            *(f"{number(one.value)} {_interval(one)}".rstrip() for one in (row.unweighted, row.linear, row.quadratic)),
            str(row.n),
            row.unweighted.reason or "",
        ]
        for row in report.cohen
    ]
    return text_table(["Cohen's kappa", "unweighted", "linear", "quadratic", "n", ""], rows)


def _interval(one: Agreement) -> str:
    return "" if one.low is None else f"[{number(one.low)}, {number(one.high)}]"
