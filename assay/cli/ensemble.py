"""The command ``assay ensemble``: combine the labels of several judges and list their disagreements."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.inputs.files import (
    DEFAULT,
    add_out,
    add_scale,
    print_warnings,
    scale_values,
    stdin_once,
    write_out,
    written,
)
from assay.cli.inputs.judge_pairs import read_pairs
from assay.cli.judge.labels_file import LabelFile
from assay.cli.options.provider import add_under_test, warn_same_family
from assay.core.disk_mapping import pair_key
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.formats.labels_jsonl import MachineLabel
    from assay.llm.judge import Outcome
    from assay.llm.judges.ensemble import Together

# The name and the own options of the judge of ``assay judge``.
JUDGE = "ensemble"
JUDGE_OPTIONS: dict[str, Any] = {"of": None, "rule": "median", "least": 2, "apart": None}
EXAMPLE = "assay ensemble one.jsonl two.jsonl three.jsonl --rule median --out labels.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from assay.llm.judges.ensemble import RULES

    option(parser, "labels LABELS", "labels.jsonl from one or more judges", nargs="+")
    rule_help = "; ".join(f"{name}: {what}" for name, what in RULES.items())
    option(parser, "--rule", f"{rule_help}", "median", choices=list(RULES))
    option(parser, "--least N", "minimum number of grades for a label", 2)
    add_scale(parser)
    option(parser, "--apart FILE", "write all pairs as CSV, least agreement first")
    add_under_test(parser)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Write the combined labels and the disagreements."""
    from assay.llm.judges.ensemble import all_together

    stdin_once(args.labels)
    if args.least < 1:
        raise NotValid(f"--least is {args.least}; use 1 or more")
    judged = read_judged(args.labels, scale_values(args.scale))
    warn_same_family_judges(judged, args.under_test)
    combined = all_together(judged, scale_values(args.scale), args.rule, least=args.least)
    labels = labels_of(combined, parameters_of(judged, args.rule, args.least))
    write_out(written("labels-jsonl", labels), args.out)
    if args.apart:
        write_out(apart(combined, judged), args.apart)
    sys.stderr.write(f"{summary_line(combined, len(judged))}\n")
    return 0


def warn_same_family_judges(judged: Mapping[str, object], under_test: Sequence[str] | None) -> None:
    """Warn if one of the judges is a model of the same family as a system under test."""
    warn_same_family((json.loads(who)[1] for who in judged), under_test)


def summary_line(combined: Mapping[tuple[str, str], Together], judges: int) -> str:
    """Return the number of labels and the agreement of the judges."""
    undecided = sum(one.grade is None for one in combined.values())
    every = [one.agree for one in combined.values() if one.agree is not None]
    agree = f"; mean pairwise exact agreement: {sum(every) / len(every):.1%}" if every else ""
    return (
        f"{amount(len(combined) - undecided, 'label')} from "
        f"{amount(judges, 'judge')}, {amount(undecided, 'pair')} undecided{agree}"
    )


def read_judged(paths: list[str], values: tuple[int, ...]) -> dict[str, dict[tuple[str, str], Outcome]]:
    """Return the outcomes of each judge; a different model or different parameters make a different judge."""
    from assay.formats import labels_jsonl
    from assay.llm.judge import Outcome

    judged: dict[str, dict[tuple[str, str], Outcome]] = {}
    for path in paths:
        read = labels_jsonl.read(Path(path), path=path, grades=values).strict()
        print_warnings([read.report])
        for row in read.rows:
            who = json.dumps([row.judge, row.model, row.parameters], sort_keys=True)
            outcome = Outcome(row.outcome, row.grade) if row.grade is not None else Outcome("unparseable")  # type: ignore[arg-type]
            judged.setdefault(who, {})[row.query_id, row.doc_id] = outcome
    if len(judged) < 2:
        raise NotValid(f"{' '.join(paths)}: only {amount(len(judged), 'judge')}; add the labels of another judge")
    return judged


def parameters_of(judges: Iterable[str], rule: str, least: int) -> dict[str, Any]:
    """Return the parameters that every label of the ensemble records: its rule and its judges."""
    names = [" ".join(part for part in json.loads(who)[:2] if part) for who in judges]
    return {"rule": rule, "least": least, "judges": names}


def labels_of(combined: Mapping[tuple[str, str], Together], parameters: Mapping[str, Any]) -> list[MachineLabel]:
    """Return a label for each pair with a grade."""
    from assay.formats import labels_jsonl

    return [
        labels_jsonl.MachineLabel(
            query_id,
            doc_id,
            "graded",
            one.grade,
            judge=JUDGE,
            parameters=parameters,
            rationale=f"{amount(one.grades, 'grade')}, {amount(one.failed, 'failure')}, {one.spread} apart",
        )
        for (query_id, doc_id), one in combined.items()
        if one.grade is not None
    ]


def apart(combined: Mapping[tuple[str, str], Together], judged: Mapping[str, Mapping[tuple[str, str], Outcome]]) -> str:
    """Return all pairs as CSV, least agreement first."""
    from assay.core.csv_cells import csv_row, escape

    lines = [csv_row(["query_id", "doc_id", "grades", "failed", "spread", "agree", "label"])]
    for pair, one in sorted(combined.items(), key=lambda entry: (-entry[1].disagreement, -entry[1].spread, entry[0])):
        grades = ";".join(str(answers[pair].grade) for answers in judged.values() if pair in answers)
        agree = "" if one.agree is None else f"{one.agree:.3f}"
        numbers = [str(one.failed), str(one.spread), agree, "" if one.grade is None else str(one.grade)]
        lines.append(csv_row([*map(escape, pair), grades.replace("None", "-"), *numbers]))
    return "".join(lines)


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the ensemble judge of ``assay judge``."""
    from assay.llm.judges.ensemble import RULES

    group = parser.add_argument_group("ensemble of other judges' labels")
    option(group, "--of LABELS", "labels.jsonl from one or more judges", nargs="+")
    option(group, "--rule", "rule that combines the grades; default: median", choices=list(RULES))
    option(group, "--least N", "minimum number of grades for a label; default: 2", type=int)
    option(group, "--apart FILE", "write the pairs as CSV, least agreement first")


def run_judge(args: argparse.Namespace) -> int:
    """Combine the labels for the pairs of a file and write the result, as ``assay judge`` does."""
    from assay.llm.judges.ensemble import all_together

    rule, least, values = _rule_options(args)
    stdin_once([args.pairs, *args.of])
    warn_same_family_judges(every := read_judged(args.of, values), args.under_test)
    pairs = [(row.query_id, row.doc_id) for row in read_pairs(args.pairs)]
    judged = {who: {pair: outcomes[pair] for pair in pairs if pair in outcomes} for who, outcomes in every.items()}
    # In the order of the pairs, with the types that reading the file gives.
    together = all_together(judged, values, rule, least=least)
    combined = {pair: together[pair] for pair in pairs if pair in together}
    parameters = json.loads(json.dumps(parameters_of(judged, rule, least)))
    if not combined:
        raise NotValid(
            f"{args.pairs}: none of its pairs is in {' '.join(args.of)}; use labels from the same collection"
        )
    output = LabelFile(args.out)
    earlier = output.holds(JUDGE, parameters, repair=not args.dry_run) if args.resume else {}
    waiting = {pair: one for pair, one in combined.items() if pair_key(*pair) not in earlier}
    counts = [f"already judged: {len(earlier)}", f"without labels: {len(pairs) - len(combined)}"]
    if args.dry_run:
        sys.stdout.write("\n".join([f"to judge: {len(waiting)}", *counts, "cost: 0 USD, no model is called\n"]))
        return 0
    with output.opened(append=args.resume) as add:
        add(labels_of(waiting, parameters))
    if args.apart:
        write_out(apart(combined, judged), args.apart)
    lines = [summary_line(waiting, len(judged))]
    if earlier:
        lines.append(f"  {amount(len(earlier), 'pair')} skipped, already judged")
    if len(combined) < len(pairs):
        missing = amount(len(pairs) - len(combined), "pair")
        lines.append(f"  {missing} of {args.pairs} not judged, without a label from these judges")
    sys.stderr.write("\n".join(lines) + "\n")
    return 0


def _rule_options(args: argparse.Namespace) -> tuple[Any, int, tuple[int, ...]]:
    """Return the rule, the minimum number of grades, and the scale."""
    if not args.of:
        raise NotValid("the judge ensemble needs labels from other judges; name them with --of FILE FILE")
    least = JUDGE_OPTIONS["least"] if args.least is None else args.least
    if least < 1:
        raise NotValid(f"--least is {least}; use 1 or more")
    return args.rule or JUDGE_OPTIONS["rule"], least, scale_values(args.scale or DEFAULT)
