"""What do several judges say together, and where are they apart?"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import add_out, stdin_once, tell_warnings, write_out
from assay.cli.scale import add_scale, scale_values
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.judges.contract import Outcome
    from judgments.judges.ensemble import Together

NAME = "ensemble"
HELP = "make one label of several judges' labels; where they are apart is told"
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
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, put together, write labels and where judges are apart."""
    from judgments.judges.ensemble import all_together

    stdin_once(args.labels)
    if args.least < 1:
        raise NotValid(f"--least is {args.least}; give 1 or more")
    judged = _read(args.labels, scale_values(args.scale))
    if len(judged) < 2:
        raise NotValid(f"{' '.join(args.labels)}: {len(judged)} judge; an ensemble has two at least")
    found = all_together(judged, scale_values(args.scale), args.rule, least=args.least)
    write_out(_labels(found, list(judged), args.rule, args.least), args.out)
    if args.apart:
        write_out(_apart(found, judged), args.apart)
    undecided = sum(one.grade is None for one in found.values())
    every = [one.agree for one in found.values() if one.agree is not None]
    agree = f"; two judges give one grade in {sum(every) / len(every):.1%}" if every else ""
    sys.stderr.write(
        f"{len(found) - undecided:,} labels of {len(judged)} judges, {undecided:,} pairs undecided{agree}\n"
    )
    return 0


def _read(paths: list[str], values: tuple[int, ...]) -> dict[str, dict[tuple[str, str], Outcome]]:
    """The answers by judge: the same kind with another model or other parameters is another one."""
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
    return judged


def _labels(found: Mapping[tuple[str, str], Together], judges: list[str], rule: str, least: int) -> str:
    from judgments.formats import labels_jsonl

    names = [" ".join(part for part in json.loads(who)[:2] if part) for who in judges]
    parameters = {"rule": rule, "least": least, "judges": names}
    rows = [
        labels_jsonl.MachineLabel(
            query_id,
            doc_id,
            "graded",
            one.grade,
            judge="ensemble",
            parameters=parameters,
            rationale=f"{one.grades} grades, {one.failed} failures, {one.spread} apart",
        )
        for (query_id, doc_id), one in found.items()
        if one.grade is not None
    ]
    stream = io.BytesIO()
    labels_jsonl.write(rows, stream)
    return stream.getvalue().decode()


def _apart(found: Mapping[tuple[str, str], Together], judged: Mapping[str, Mapping[tuple[str, str], Outcome]]) -> str:
    stream = io.StringIO()
    write = csv.writer(stream, lineterminator="\n")
    write.writerow(["query_id", "doc_id", "grades", "failed", "spread", "agree", "label"])
    for pair, one in sorted(found.items(), key=lambda entry: (-entry[1].disagreement, -entry[1].spread, entry[0])):
        grades = ";".join(str(answers[pair].grade) for answers in judged.values() if pair in answers)
        agree = "" if one.agree is None else f"{one.agree:.3f}"
        write.writerow([*pair, grades.replace("None", "-"), one.failed, one.spread, agree, one.grade])
    return stream.getvalue()
