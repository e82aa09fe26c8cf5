"""The command ``assay agreement``: agreement coefficients of a ratings file, and a gate on one of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.cli import number, option, text_table
from assay.cli.inputs.files import add_out, add_scale, read_rows, scale_values, seed_of, write_out
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.coefficients.by_grade import GradeAgreement, GroupAgreement
    from assay.coefficients.coefficient import Agreement, GradeTable
    from assay.coefficients.gate import GateAnswer
    from assay.coefficients.report import AgreementReport


# As in assay.coefficients.gate, which would import numpy.
THRESHOLD = 0.60

EXAMPLE = "assay agreement ratings.csv --scale 0:3 --gate alpha-ordinal --threshold 0.6"
PARTS = ("grade", "query", "tier")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "ratings RATINGS", "ratings CSV with at least query_id,doc_id,rater,grade; - for standard input")
    add_scale(parser)
    option(parser, "--bootstrap N", "number of bootstrap resamples of the queries; 0 for no intervals", 1000)
    option(parser, "--seed", "seed for the bootstrap; default: 0", type=int)
    option(parser, "--gate COEFFICIENT", "check this coefficient against --threshold; the exit status is 1 if it fails")
    option(parser, "--threshold X", f"threshold for --gate, -1 to 1; default: {THRESHOLD:.2f}", type=float)
    option(parser, "--by PART", f"report agreement separately by {', '.join(PARTS)}", action="append", choices=PARTS)
    option(parser, "--queries FILE", "queries.csv with a tier for each query, for --by tier")
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Compute and print the agreement."""
    values = scale_values(args.scale)
    if args.bootstrap < 0 or (args.seed or 0) < 0:
        raise NotValid("--bootstrap and --seed must be whole numbers, 0 or more")
    seed = seed_of(args.seed, "" if args.bootstrap else "--bootstrap 0 uses no random draws")
    _check_gate(args)
    from assay.cli import keep_freed_memory
    from assay.cli.inputs.files import read_ratings
    from assay.coefficients import agreement_report
    from assay.coefficients.coefficient import GradeTable
    from assay.coefficients.gate import decide

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


def tiers_of(path: str) -> dict[str, str]:
    """Read the tier of each query from a queries.csv."""
    return {row.query_id: row.tier for row in read_rows("queries-csv", path) if row.tier}


def groups(
    table: GradeTable, values: Sequence[int], parts: set[str], tiers: Mapping[str, str], bootstrap: int, seed: int
) -> dict[str, list[GroupAgreement]]:
    """Compute the agreement within each query and each tier, for the requested parts."""
    from assay.coefficients.by_grade import by_query, by_tier

    agreements = {}
    if "query" in parts:
        agreements["query"] = by_query(table, values)
    if "tier" in parts:
        without = [query for query in table.query_ids if query not in tiers]
        if without:
            raise NotValid(f"the query {without[0]!r} has no tier in --queries; --by tier needs a tier for each query")
        agreements["tier"] = by_tier(
            table, [tiers[query] for query in table.query_ids], values, resamples=bootstrap, seed=seed
        )
    return agreements


def as_text(
    report: AgreementReport,
    parts: Mapping[str, Sequence[GroupAgreement]],
    by_grade: Sequence[GradeAgreement],
    answer: GateAnswer | None,
) -> str:
    """Return the counts, every coefficient, the kappas of pairs of raters, and the requested breakdowns."""
    shares = "-" if report.percent_agreement is None else f"{report.percent_agreement:.1%}"
    head = (
        f"{amount(report.raters, 'rater')}, {amount(report.pairs, 'pair')}, {report.overlap} with two or more "
        f"grades, {amount(report.queries, 'query', 'queries')}; percent agreement: {shares}\n"
    )
    texts = [head, _coefficients(report)]
    if report.cohen:
        texts.append(_cohen(report))
    if by_grade:
        texts.append(_by_grade(by_grade))
    texts += [_by_group(part, rows) for part, rows in parts.items()]
    if report.warnings:
        texts.append("".join(f"warning: {warning.message}\n" for warning in report.warnings))
    if answer is not None:
        texts.append(f"gate {answer.coefficient} >= {answer.threshold:g}: {answer.state}\n{answer.advice}\n")
    return "\n".join(texts)


def _coefficients(report: AgreementReport) -> str:
    from assay.coefficients import COEFFICIENTS

    rows = {
        COEFFICIENTS[name].title: one for name, one in report.coefficients.items() if COEFFICIENTS[name].raters != "two"
    }
    cells = [[name, number(one.value), interval(one), str(one.n), one.reason or ""] for name, one in rows.items()]
    table = text_table(["coefficient", "value", "95% interval", "n", ""], cells)
    return table + _reasons([one.reason for one in rows.values()])


def _reasons(reasons: list[str | None]) -> str:
    from assay.coefficients import REASONS

    return "".join(f"{reason}: {REASONS[reason]}\n" for reason in dict.fromkeys(reasons) if reason)


def _cohen(report: AgreementReport) -> str:
    rows = [
        [
            f"{row.a} - {row.b}",
            *(f"{number(one.value)} {interval(one)}".rstrip() for one in (row.unweighted, row.linear, row.quadratic)),
            str(row.n),
            row.unweighted.reason or "",
        ]
        for row in report.cohen
    ]
    return text_table(["Cohen's kappa", "unweighted", "linear", "quadratic", "n", ""], rows)


def _by_grade(rows: Sequence[GradeAgreement]) -> str:
    cells = [
        [
            f"{row.grade:g}",
            f"{number(row.specific.value)} {interval(row.specific)}".rstrip(),
            f"{number(row.one_or_other.value)} {interval(row.one_or_other)}".rstrip(),
            str(row.n),
            row.one_or_other.reason or "",
        ]
        for row in rows
    ]
    return text_table(["grade", "specific agreement", "alpha, this grade vs. others", "n", ""], cells)


def _by_group(part: str, rows: Sequence[GroupAgreement]) -> str:
    cells = [
        [
            row.name,
            number(row.ordinal.value),
            interval(row.ordinal),
            number(row.ordinal.percent_agreement),
            number(row.steps),
            str(row.ordinal.n),
            row.ordinal.reason or "",
        ]
        for row in rows
    ]
    return text_table(
        [part, "alpha, ordinal", "95% interval", "equal grades", "mean difference (steps)", "n", ""], cells
    )


def interval(one: Agreement) -> str:
    """Return the interval as text, empty if there is none."""
    return "" if one.low is None else f"[{number(one.low)}, {number(one.high)}]"
