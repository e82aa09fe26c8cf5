"""The command ``assay aggregate``: one label for each pair of a ratings file, under a label rule."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from assay.cli.files import add_out, write_out
from assay.cli.scale import add_scale, scale_values
from assay.cli.text_table import counted
from judgments.aggregation.rules import RULES
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.aggregation.rule import Label, Labels

NAME = "aggregate"
EXAMPLE = "assay aggregate ratings.csv --rule median --out qrels.txt"
LISTED = 20
# With fewer grades a pair a rule that learns the errors of raters has little to learn from.
ENOUGH_FOR_ERRORS = 5
COLUMNS = ("query_id", "doc_id", "grade", "ratings", "spread", "tie")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "ratings", metavar="RATINGS", help="ratings CSV; query_id,doc_id,rater,grade is enough; - is standard input"
    )
    parser.add_argument("--rule", metavar="RULE", default="median", help=f"{', '.join(RULES)}; default median")
    add_scale(parser)
    parser.add_argument(
        "--unrateable",
        choices=["excluded", "zero"],
        default="excluded",
        help="a pair that somebody could not judge and nobody graded: without a label, or with the lowest grade",
    )
    parser.add_argument("--real", action="store_true", help="with --rule mean: keep fractions (CSV or JSON)")
    parser.add_argument("--format", choices=["qrels", "csv", "json"], help="default: qrels, with --real csv")
    parser.add_argument("--conflicts", metavar="FILE", help="also write all conflicts and ties to FILE, as CSV")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, settle, write, and list what raters do not agree on."""
    values = scale_values(args.scale)
    form = args.format or ("csv" if args.real else "qrels")
    if args.real and form == "qrels":
        raise NotValid("qrels hold whole grades; write --real with --format csv")
    from assay.cli.rating_rows import read_ratings
    from judgments.aggregation import aggregate

    file = read_ratings(args.ratings, values)
    labels = aggregate(file.ratings, args.rule, values, real=args.real)
    settled = _adjudicated(labels, file.adjudicated)
    if args.unrateable == "zero":
        settled = _with_lowest(settled, file.unrateable)
    write_out({"qrels": _as_qrels, "csv": _as_csv, "json": _as_json}[form](settled), args.out)
    open_ones = [one for one in labels if one.spread > 0 or one.tie]
    if args.conflicts:
        write_out(_as_csv(replace(labels, labels=tuple(open_ones))), args.conflicts)
    _tell(labels, settled, args.conflicts)
    return 0


def _adjudicated(labels: Labels, verdicts: dict[tuple[str, str], int]) -> Labels:
    from judgments.aggregation import Label

    settled = {(one.query_id, one.doc_id): one for one in labels}
    for pair, grade in verdicts.items():
        known = settled.get(pair, Label(*pair, grade=None, ratings=0, spread=0.0, tie=False))
        settled[pair] = replace(known, grade=float(grade))
    return replace(labels, labels=tuple(settled[pair] for pair in sorted(settled)))


def _with_lowest(labels: Labels, unrateable: Iterable[tuple[str, str]]) -> Labels:
    """The labels, and the lowest grade of the scale for pairs that nobody could judge."""
    from judgments.aggregation import Label

    known = {(one.query_id, one.doc_id) for one in labels}
    lowest = float(min(labels.values))
    new = [Label(*pair, grade=lowest, ratings=0, spread=0.0, tie=False) for pair in unrateable if pair not in known]
    return replace(labels, labels=tuple(sorted([*labels, *new], key=lambda one: (one.query_id, one.doc_id))))


def _as_qrels(labels: Labels) -> str:
    from judgments.formats import FORMATS
    from judgments.formats.rows import LabelRow

    stream = io.BytesIO()
    write = FORMATS["trec-qrels"].write
    if write is None:
        raise NotValid("qrels cannot be written")
    write((LabelRow(query_id, doc_id, grade) for query_id, doc_id, grade in labels.rows()), stream)
    return stream.getvalue().decode()


def _as_csv(labels: Labels) -> str:
    from judgments.core.cells import csv_row, escape

    rows = [csv_row(list(COLUMNS))]
    for one in labels:
        grade = "" if one.grade is None else repr(one.grade).removesuffix(".0")
        cells = [escape(one.query_id), escape(one.doc_id), grade, str(one.ratings), f"{one.spread:g}"]
        rows.append(csv_row([*cells, "1" if one.tie else "0"]))
    return "".join(rows)


def _as_json(labels: Labels) -> str:
    told = {
        "rule": labels.rule,
        "scale": list(labels.values),
        "labels": [asdict(one) for one in labels],
        "conflicts": [asdict(one) for one in labels.conflicts()],
        "ties": [asdict(one) for one in labels.ties()],
    }
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _tell(labels: Labels, settled: Labels, conflicts: str | None) -> None:
    found, ties = labels.conflicts(), labels.ties()
    lines = [
        f"{counted(len(labels), 'pair')} by rule {labels.rule}: {counted(len(found), 'conflict')}, "
        f"{counted(len(ties), 'tie')}, "
        f"{len(settled.unsettled())} without a label"
    ]
    lines += _few_grades(labels)
    both = [one for one in labels if one.spread > 0 or one.tie]
    shown = both if conflicts is None else []
    lines += [_line(one) for one in shown[:LISTED]]
    if len(shown) > LISTED:
        lines.append(f"  and {len(shown) - LISTED} more; --conflicts FILE lists them all")
    sys.stderr.write("\n".join(lines) + "\n")


def _few_grades(labels: Labels) -> list[str]:
    """A note where the rule learns how each rater errs, and has too few grades to learn from."""
    each = sum(one.ratings for one in labels) / max(len(labels), 1)
    if labels.rule != "dawid-skene" or each >= ENOUGH_FOR_ERRORS:
        return []
    return [
        f"note: dawid-skene learns how each rater errs; {each:.1f} grades a pair are few for it, "
        f"{ENOUGH_FOR_ERRORS} or more are enough"
    ]


def _line(one: Label) -> str:
    grade = "no label, needs an adjudicator" if one.grade is None else f"label {one.grade:g}"
    kind = "tie" if one.tie else "conflict"
    grades = counted(one.ratings, "grade")
    return f"  {kind}: {one.query_id} {one.doc_id}: {grades}, {one.spread:g} apart, {grade}"
