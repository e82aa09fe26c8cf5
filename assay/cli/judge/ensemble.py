"""The ensemble judge of ``assay judge``: the labels of ``assay ensemble`` for the pairs of a file."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from assay.cli import option
from assay.cli.inputs.files import DEFAULT, scale_values, stdin_once, write_out
from assay.cli.inputs.judge_pairs import read_pairs
from assay.cli.judge.labels_file import LabelFile
from assay.core.counted_nouns import amount
from assay.core.disk_mapping import pair_key
from assay.core.errors import NotValid

NAME = "ensemble"
OWN: dict[str, Any] = {"of": None, "rule": "median", "least": 2, "apart": None}


def add_ensemble_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the ensemble judge."""
    from assay.llm.judges.ensemble import RULES

    group = parser.add_argument_group("ensemble of other judges' labels")
    option(group, "--of LABELS", "labels.jsonl from one or more judges", nargs="+")
    option(group, "--rule", "rule that combines the grades; default: median", choices=list(RULES))
    option(group, "--least N", "minimum number of grades for a label; default: 2", type=int)
    option(group, "--apart FILE", "write the pairs as CSV, least agreement first")


def run(args: argparse.Namespace) -> int:
    """Combine the labels of the judges pair by pair and write the result."""
    from assay.cli import ensemble
    from assay.llm.judges.ensemble import all_together

    rule, least, values = _rule_options(args)
    stdin_once([args.pairs, *args.of])
    ensemble.warn_same_family_judges(every := ensemble.read_judged(args.of, values), args.under_test)
    pairs = [(row.query_id, row.doc_id) for row in read_pairs(args.pairs)]
    judged = {who: {pair: outcomes[pair] for pair in pairs if pair in outcomes} for who, outcomes in every.items()}
    # In the order of the pairs, with the types that reading the file gives.
    together = all_together(judged, values, rule, least=least)
    combined = {pair: together[pair] for pair in pairs if pair in together}
    parameters = json.loads(json.dumps(ensemble.parameters_of(judged, rule, least)))
    if not combined:
        raise NotValid(
            f"{args.pairs}: none of its pairs is in {' '.join(args.of)}; use labels from the same collection"
        )
    output = LabelFile(args.out)
    earlier = output.holds(NAME, parameters, repair=not args.dry_run) if args.resume else {}
    waiting = {pair: one for pair, one in combined.items() if pair_key(*pair) not in earlier}
    counts = [f"already judged: {len(earlier)}", f"without labels: {len(pairs) - len(combined)}"]
    if args.dry_run:
        sys.stdout.write("\n".join([f"to judge: {len(waiting)}", *counts, "cost: 0 USD, no model is called\n"]))
        return 0
    with output.opened(append=args.resume) as add:
        add(ensemble.labels_of(waiting, parameters))
    if args.apart:
        write_out(ensemble.apart(combined, judged), args.apart)
    lines = [ensemble.summary_line(waiting, len(judged))]
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
    least = OWN["least"] if args.least is None else args.least
    if least < 1:
        raise NotValid(f"--least is {least}; use 1 or more")
    return args.rule or OWN["rule"], least, scale_values(args.scale or DEFAULT)
