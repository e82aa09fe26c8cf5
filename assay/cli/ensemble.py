"""The command ``assay ensemble``: combine the labels of several judges and list where they differ."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.families import add_under_test, tell_kin
from assay.cli.files import add_out, stdin_once, tell_warnings, write_out
from assay.cli.scale import add_scale, scale_values
from assay.cli.text_table import counted
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.labels_jsonl import MachineLabel
    from judgments.judges.contract import Outcome
    from judgments.judges.ensemble import Together

NAME = "ensemble"
EXAMPLE = "assay ensemble one.jsonl two.jsonl three.jsonl --rule median --out labels.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from judgments.judges.ensemble import RULES

    parser.add_argument("labels", metavar="LABELS", nargs="+", help="labels.jsonl, of one judge or several each")
    told = "; ".join(f"{name}: {what}" for name, what in RULES.items())
    parser.add_argument("--rule", choices=list(RULES), default="median", help=f"{told}; default median")
    parser.add_argument("--least", type=int, default=2, metavar="N", help="grades that a label takes; default 2")
    add_scale(parser)
    parser.add_argument("--apart", metavar="FILE", help="CSV of all pairs, those with the least agreement first")
    add_under_test(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, put together, write labels and where judges are apart."""
    from judgments.formats import labels_jsonl
    from judgments.judges.ensemble import all_together

    stdin_once(args.labels)
    if args.least < 1:
        raise NotValid(f"--least is {args.least}; give 1 or more")
    judged = read_judged(args.labels, scale_values(args.scale))
    tell_kin_of(judged, args.under_test)
    found = all_together(judged, scale_values(args.scale), args.rule, least=args.least)
    stream = io.BytesIO()
    labels_jsonl.write(labels_of(found, parameters_of(judged, args.rule, args.least)), stream)
    write_out(stream.getvalue().decode(), args.out)
    if args.apart:
        write_out(apart(found, judged), args.apart)
    sys.stderr.write(f"{told(found, len(judged))}\n")
    return 0


def tell_kin_of(judged: Mapping[str, object], under_test: Sequence[str] | None) -> None:
    """Warn where one of the judges is a model of the family of a system under test."""
    tell_kin((json.loads(who)[1] for who in judged), under_test)


def told(found: Mapping[tuple[str, str], Together], judges: int) -> str:
    """How many labels there are, and how far the judges go together."""
    undecided = sum(one.grade is None for one in found.values())
    every = [one.agree for one in found.values() if one.agree is not None]
    agree = f"; two judges give one grade in {sum(every) / len(every):.1%}" if every else ""
    return (
        f"{counted(len(found) - undecided, 'label')} of "
        f"{counted(judges, 'judge')}, {counted(undecided, 'pair')} undecided{agree}"
    )


def read_judged(paths: list[str], values: tuple[int, ...]) -> dict[str, dict[tuple[str, str], Outcome]]:
    """The answers by judge: the same kind with another model or other parameters is another one.

    Raises
    ------
    UnreadableInput
        A file is none of labels.
    NotValid
        All of it is one judge's.
    """
    from judgments.formats import labels_jsonl
    from judgments.judges.contract import Outcome

    judged: dict[str, dict[tuple[str, str], Outcome]] = {}
    for path in paths:
        found = labels_jsonl.read(Path(path), path=path, grades=values)
        found.report.raise_if_errors()
        tell_warnings([found.report])
        for row in found.rows:
            who = json.dumps([row.judge, row.model, row.parameters], sort_keys=True)
            outcome = Outcome(row.outcome, row.grade) if row.grade is not None else Outcome("unparseable")  # type: ignore[arg-type]
            judged.setdefault(who, {})[row.query_id, row.doc_id] = outcome
    if len(judged) < 2:
        raise NotValid(f"{' '.join(paths)}: {len(judged)} judge; an ensemble has two at least")
    return judged


def parameters_of(judges: Iterable[str], rule: str, least: int) -> dict[str, Any]:
    """What stands in every label of the ensemble: how it decides, and of whom it is made."""
    names = [" ".join(part for part in json.loads(who)[:2] if part) for who in judges]
    return {"rule": rule, "least": least, "judges": names}


def labels_of(found: Mapping[tuple[str, str], Together], parameters: Mapping[str, Any]) -> list[MachineLabel]:
    """A label for each pair that was decided."""
    from judgments.formats import labels_jsonl

    return [
        labels_jsonl.MachineLabel(
            query_id,
            doc_id,
            "graded",
            one.grade,
            judge="ensemble",
            parameters=parameters,
            rationale=f"{counted(one.grades, 'grade')}, {counted(one.failed, 'failure')}, {one.spread} apart",
        )
        for (query_id, doc_id), one in found.items()
        if one.grade is not None
    ]


def apart(found: Mapping[tuple[str, str], Together], judged: Mapping[str, Mapping[tuple[str, str], Outcome]]) -> str:
    """All pairs as CSV, those with the least agreement first."""
    from judgments.core.cells import csv_row, escape

    lines = [csv_row(["query_id", "doc_id", "grades", "failed", "spread", "agree", "label"])]
    for pair, one in sorted(found.items(), key=lambda entry: (-entry[1].disagreement, -entry[1].spread, entry[0])):
        grades = ";".join(str(answers[pair].grade) for answers in judged.values() if pair in answers)
        agree = "" if one.agree is None else f"{one.agree:.3f}"
        numbers = [str(one.failed), str(one.spread), agree, "" if one.grade is None else str(one.grade)]
        lines.append(csv_row([*map(escape, pair), grades.replace("None", "-"), *numbers]))
    return "".join(lines)
