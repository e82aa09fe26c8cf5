"""The command ``assay aggregate``: one label for each pair of a ratings file, under a label rule."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from assay.aggregation import RULES
from assay.cli import option
from assay.cli.inputs.files import add_out, add_scale, scale_values, write_out, written
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.aggregation.label_rule import Label, Labels

EXAMPLE = "assay aggregate ratings.csv --rule median --out qrels.txt"
LISTED = 20
# A rule that estimates the errors of raters needs about this many grades per pair.
ENOUGH_FOR_ERRORS = 5
COLUMNS = ("query_id", "doc_id", "grade", "ratings", "spread", "tie")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "ratings RATINGS", "ratings CSV with at least query_id,doc_id,rater,grade; - for standard input")
    option(parser, "--rule RULE", f"one of {', '.join(RULES)}", "median")
    add_scale(parser)
    option(
        parser,
        "--unrateable",
        "pairs that were marked unrateable and have no grade: leave out (excluded), or label with the lowest grade "
        "(zero)",
        "excluded",
        choices=["excluded", "zero"],
    )
    option(parser, "--real", "with --rule mean: write fractional grades (CSV or JSON)", action="store_true")
    option(parser, "--format", "output format; default: qrels, or csv with --real", choices=["qrels", "csv", "json"])
    option(parser, "--conflicts FILE", "also write all conflicts and ties to FILE as CSV")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Compute and write the labels, and list conflicts and ties."""
    values = scale_values(args.scale)
    form = args.format or ("csv" if args.real else "qrels")
    if args.real and form == "qrels":
        raise NotValid("--real needs --format csv or json, because qrels contain whole grades")
    from assay.aggregation import aggregate
    from assay.cli.inputs.files import read_ratings

    file = read_ratings(args.ratings, values)
    labels = aggregate(file.ratings, args.rule, values, real=args.real)
    settled = _adjudicated(labels, file.adjudicated)
    if args.unrateable == "zero":
        settled = _with_lowest(settled, file.unrateable)
    write_out({"qrels": _as_qrels, "csv": _as_csv, "json": _as_json}[form](settled), args.out)
    open_ones = [one for one in labels if one.spread > 0 or one.tie]
    if args.conflicts:
        write_out(_as_csv(replace(labels, labels=tuple(open_ones))), args.conflicts)
    _print_summary(labels, settled, args.conflicts)
    return 0


def _adjudicated(labels: Labels, verdicts: dict[tuple[str, str], int]) -> Labels:
    from assay.aggregation import Label

    settled = {(one.query_id, one.doc_id): one for one in labels}
    for pair, grade in verdicts.items():
        known = settled.get(pair, Label(*pair, grade=None, ratings=0, spread=0.0, tie=False))
        settled[pair] = replace(known, grade=float(grade))
    return replace(labels, labels=tuple(settled[pair] for pair in sorted(settled)))


def _with_lowest(labels: Labels, unrateable: Iterable[tuple[str, str]]) -> Labels:
    """Return the labels, with the lowest grade of the scale for unrateable pairs."""
    from assay.aggregation import Label

    known = {(one.query_id, one.doc_id) for one in labels}
    lowest = float(min(labels.values))
    new = [Label(*pair, grade=lowest, ratings=0, spread=0.0, tie=False) for pair in unrateable if pair not in known]
    return replace(labels, labels=tuple(sorted([*labels, *new], key=lambda one: (one.query_id, one.doc_id))))


def _as_qrels(labels: Labels) -> str:
    from assay.formats.row_types import LabelRow

    return written("trec-qrels", (LabelRow(*row) for row in labels.rows()))


def _as_csv(labels: Labels) -> str:
    from assay.core.csv_cells import csv_row, escape

    rows = [csv_row(list(COLUMNS))]
    for one in labels:
        grade = "" if one.grade is None else repr(one.grade).removesuffix(".0")
        cells = [escape(one.query_id), escape(one.doc_id), grade, str(one.ratings), f"{one.spread:g}"]
        rows.append(csv_row([*cells, "1" if one.tie else "0"]))
    return "".join(rows)


def _as_json(labels: Labels) -> str:
    document = {
        "rule": labels.rule,
        "scale": list(labels.values),
        "labels": [asdict(one) for one in labels],
        "conflicts": [asdict(one) for one in labels.conflicts()],
        "ties": [asdict(one) for one in labels.ties()],
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _print_summary(labels: Labels, settled: Labels, conflicts: str | None) -> None:
    conflicting, ties = labels.conflicts(), labels.ties()
    lines = [
        f"{amount(len(labels), 'pair')} by rule {labels.rule}: {amount(len(conflicting), 'conflict')}, "
        f"{amount(len(ties), 'tie')}, "
        f"{len(settled.unsettled())} without a label"
    ]
    lines += _few_grades(labels)
    both = [one for one in labels if one.spread > 0 or one.tie]
    shown = both if conflicts is None else []
    lines += [_line(one) for one in shown[:LISTED]]
    if len(shown) > LISTED:
        lines.append(f"  and {len(shown) - LISTED} more; use --conflicts FILE to list all")
    sys.stderr.write("\n".join(lines) + "\n")


def _few_grades(labels: Labels) -> list[str]:
    """Return a note if the rule estimates the errors of raters from too few grades."""
    each = sum(one.ratings for one in labels) / max(len(labels), 1)
    if labels.rule != "dawid-skene" or each >= ENOUGH_FOR_ERRORS:
        return []
    return [
        (
            f"note: dawid-skene estimates the errors of each rater, for which {each:.1f} grades per pair are too few; "
            f"use {ENOUGH_FOR_ERRORS} or more"
        )
    ]


def _line(one: Label) -> str:
    grade = "no label, needs a resolution" if one.grade is None else f"label {one.grade:g}"
    kind = "tie" if one.tie else "conflict"
    grades = amount(one.ratings, "grade")
    return f"  {kind}: {one.query_id} {one.doc_id}: {grades}, {one.spread:g} apart, {grade}"
