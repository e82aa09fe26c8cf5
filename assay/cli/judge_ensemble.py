"""The ensemble judge of ``assay judge``: the labels of ``assay ensemble`` for the pairs of a file."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from assay.cli.files import stdin_once, write_out
from assay.cli.judge_pairs import read_pairs
from assay.cli.label_file import LabelFile
from assay.cli.scale import DEFAULT, scale_values
from assay.cli.spilled import pair_key
from judgments.core.errors import NotValid

NAME = "ensemble"
OWN: dict[str, Any] = {"of": None, "rule": "median", "least": 2, "apart": None}


def add_ensemble_options(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    from judgments.judges.ensemble import RULES

    group = parser.add_argument_group("ensemble: what other judges said")
    group.add_argument("--of", metavar="LABELS", nargs="+", help="labels.jsonl, of one judge or several each")
    group.add_argument("--rule", choices=list(RULES), help="how their grades become one; default median")
    group.add_argument("--least", type=int, metavar="N", help="grades that a label takes; default 2")
    group.add_argument("--apart", metavar="FILE", help="CSV of the pairs, those with the least agreement first")


def run(args: argparse.Namespace) -> int:
    """Read what judges said, put it together pair by pair, write labels.

    Raises
    ------
    NotValid
        No labels are named, they are one judge's, or none is of these pairs.
    """
    from assay.cli import ensemble
    from judgments.judges.ensemble import all_together

    rule, least, values = _how(args)
    stdin_once([args.pairs, *args.of])
    ensemble.tell_kin_of(every := ensemble.read_judged(args.of, values), args.under_test)
    pairs = [(row.query_id, row.doc_id) for row in read_pairs(args.pairs)]
    judged = {who: {pair: said[pair] for pair in pairs if pair in said} for who, said in every.items()}
    # In the order of the pairs, and as it comes back from the file.
    together = all_together(judged, values, rule, least=least)
    found = {pair: together[pair] for pair in pairs if pair in together}
    parameters = json.loads(json.dumps(ensemble.parameters_of(judged, rule, least)))
    if not found:
        raise NotValid(f"{args.pairs}: none of its pairs is in {' '.join(args.of)}; they must be of one collection")
    output = LabelFile(args.out)
    earlier = output.holds(NAME, parameters, mend=not args.dry_run) if args.resume else {}
    waiting = {pair: one for pair, one in found.items() if pair_key(*pair) not in earlier}
    counts = [f"judged already: {len(earlier)}", f"lacking something: {len(pairs) - len(found)}"]
    if args.dry_run:
        sys.stdout.write("\n".join([f"to judge: {len(waiting)}", *counts, "cost: 0 USD, the judges have answered\n"]))
        return 0
    with output.opened(append=args.resume) as add:
        add(ensemble.labels_of(waiting, parameters))
    if args.apart:
        write_out(ensemble.apart(found, judged), args.apart)
    lines = [ensemble.told(waiting, len(judged))]
    if earlier:
        lines.append(f"  left alone, judged already: {len(earlier)}")
    if len(found) < len(pairs):
        lines.append(f"  not judged: {len(pairs) - len(found)} of {args.pairs} that none of the judges answered")
    sys.stderr.write("\n".join(lines) + "\n")
    return 0


def _how(args: argparse.Namespace) -> tuple[Any, int, tuple[int, ...]]:
    """Rule, least number of grades, scale."""
    if not args.of:
        raise NotValid("the judge ensemble needs what other judges said; name their labels with --of FILE FILE")
    least = OWN["least"] if args.least is None else args.least
    if least < 1:
        raise NotValid(f"--least is {least}; give 1 or more")
    return args.rule or OWN["rule"], least, scale_values(args.scale or DEFAULT)
