"""The command ``assay calibrate``: compare a machine's labels with human labels."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import number, option, text_table
from assay.cli.inputs.files import (
    add_out,
    add_scale,
    named_runs,
    print_warnings,
    scale_values,
    stdin_once,
    warn_no_effect,
    write_out,
)
from assay.cli.options.provider import add_family, kin_of_runs
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.cli.inputs.files import MachineLabels
    from assay.coefficients.coefficient import Agreement
    from assay.coefficients.human_machine import Calibrated, Share
    from assay.estimators.judge_bias import Biases
    from assay.llm.judges.model_families import Kin

EXAMPLE = "assay calibrate qrels.txt labels.jsonl bm25.run neural.run -m nDCG@10"
DEFAULT_METRIC = "nDCG@10"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "human HUMAN", "human labels: qrels, or ratings CSV (aggregated by the median)")
    option(parser, "labels LABELS", "machine labels: labels.jsonl or qrels")
    option(parser, "runs RUN", "runs to score with both sets of labels", nargs="*")
    option(parser, "-m --metric METRIC", f"metric; default: {DEFAULT_METRIC}", action="append")
    option(parser, "--judge NAME", "the judge or model to use, if LABELS has several")
    add_family(parser)
    add_scale(parser)
    parser.add_argument(
        "--off-scale",
        choices=["leave-out", "clip"],
        default="leave-out",
        help="if a grade is not on the scale: leave out the pair, or use the nearest grade; default: leave-out",
    )
    option(parser, "--relevant GRADE", "lowest relevant grade", 1, type=float)
    option(parser, "--bootstrap N", "number of bootstrap resamples of the queries", 1_000)
    option(parser, "--seed", "seed for the bootstrap", 0)
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Compare both sets of labels and print the result."""
    if args.bootstrap < 0:
        raise NotValid(f"--bootstrap is {args.bootstrap}; use 0 or more")
    runs = named_runs(args.runs)
    stdin_once([args.human, args.labels, *(path for _, path in runs)])
    if args.metric and not runs:
        warn_no_effect(f"-m {args.metric[0]}", "no RUN was given")
    from assay.cli.inputs.files import read_human_labels, read_machine_labels
    from assay.coefficients.human_machine import against_people

    values = scale_values(args.scale)
    machine = read_machine_labels(args.labels, args.judge)
    people, machine = machine.beside_examples(read_human_labels(args.human, values))
    calibration = against_people(
        people,
        machine.grades,
        values,
        relevant_from=args.relevant,
        off_scale=args.off_scale,
        resamples=args.bootstrap,
        seed=args.seed,
    )
    if not calibration.pairs:
        but = f" except {machine.left_out:,} that were shown to the judge as examples" if machine.left_out else ""
        what = f"{args.human} and {args.labels} have no pairs in common{but}"
        raise NotValid(f"{what}; use labels from the same collection")
    biases = _biases(args, people, machine, runs) if runs else None
    kin = kin_of_runs(machine.judge, [name for name, _ in runs], args.family)
    text = (
        _as_json(calibration, machine, biases, kin)
        if args.format == "json"
        else _as_table(calibration, machine, biases, kin)
    )
    write_out(text, args.out)
    return 0


def _biases(
    args: argparse.Namespace,
    people: dict[tuple[str, str], float],
    machine: MachineLabels,
    runs: list[tuple[str, str]],
) -> Biases:
    from assay.core.qrels import Qrels
    from assay.estimators.judge_bias import metric_bias
    from assay.formats.qrels_and_runs import open_run

    files = [open_run(Path(path), path, name, None) for name, path in runs]
    tables = [file.whole() for file in files]
    print_warnings(file.report for file in files)
    labels = Qrels.from_rows((query_id, doc_id, grade) for (query_id, doc_id), grade in people.items())
    return metric_bias(labels, machine.qrels(), tables, args.metric or [DEFAULT_METRIC])


def _as_json(calibration: Calibrated, machine: MachineLabels, biases: Biases | None, kin: list[Kin]) -> str:
    whole: dict[str, Any] = {
        "judge": machine.judge,
        "examples_left_out": machine.left_out,
        **calibration.as_json(),
        "outcomes": machine.outcomes,
        "cost_usd": machine.cost_usd,
        "cost_per_1000": machine.cost_per_thousand,
        "metrics": None if biases is None else biases.as_json(),
        "kin": [asdict(one) for one in kin],
    }
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _as_table(calibration: Calibrated, machine: MachineLabels, biases: Biases | None, kin: list[Kin]) -> str:
    from assay.llm.judges.model_families import warning

    queries = amount(calibration.queries, "query", "queries")
    pairs = f"{amount(calibration.pairs, 'pair')} of {queries} graded by people and the machine"
    parts = [f"{machine.judge}: {pairs}\n", *_left_out(calibration, machine)]
    rows = [[f"kappa, {name}", *_cells(one)] for name, one in calibration.kappa.items()]
    rows += [[f"alpha, {name}", *_cells(one)] for name, one in calibration.alpha.items()]
    parts.append("\n" + text_table(["agreement", "value", "95% interval"], rows))
    header = ["machine grade", "pairs", "same human grade", "95% interval", "relevant by human grade", "95% interval"]
    worth = [[str(one.grade), str(one.same.n), *_share(one.same), *_share(one.relevant)] for one in calibration.worth]
    parts.append("\n" + text_table(header, worth))
    cells = [
        [f"human {value}", *map(str, row)] for value, row in zip(calibration.values, calibration.confusion, strict=True)
    ]
    parts.append("\n" + text_table(["confusion", *(f"machine {value}" for value in calibration.values)], cells))
    parts.append(f"\nmean difference, machine minus human: {number(calibration.bias)}\n")
    if biases is not None:
        parts.append("\n" + _bias_table(biases))
    if kin:
        parts.append(f"\nwarning: {warning(kin)}\n")
    if machine.cost_per_thousand is not None:
        parts.append(f"\ncost: {machine.cost_per_thousand:.4f} USD per 1,000 graded pairs\n")
    return "".join(parts)


def _left_out(calibration: Calibrated, machine: MachineLabels) -> list[str]:
    lines = [
        (
            f"graded only by people: {amount(calibration.only_people, 'pair')}; only by the machine: "
            f"{calibration.only_machine:,}\n"
        )
    ]
    if machine.left_out:
        lines.append(f"left out: {amount(machine.left_out, 'pair')} shown to the judge as examples\n")
    if calibration.off_people or calibration.off_machine:
        done = "left out" if calibration.off_scale == "leave-out" else "clipped to the nearest grade"
        lines.append(
            f"off the scale: {calibration.off_people:,} human and {calibration.off_machine:,} machine grades; {done}\n"
        )
    failed = {name: times for name, times in machine.outcomes.items() if name != "graded"}
    if failed:
        outcomes = ", ".join(f"{times:,} {name}" for name, times in failed.items())
        lines.append(f"without a grade: {outcomes}\n")
    return lines


def _cells(one: Agreement) -> list[str]:
    if one.value is None:
        return ["-", one.reason or ""]
    return [number(one.value), "-" if one.low is None else f"{number(one.low)} to {number(one.high)}"]


def _share(one: Share) -> list[str]:
    return [number(one.value), "-" if one.low is None else f"{number(one.low)} to {number(one.high)}"]


def _bias_table(biases: Biases) -> str:
    rows = [
        [
            one.run,
            one.metric,
            number(one.people),
            number(one.machine),
            number(one.difference),
            "-" if one.low is None else f"{number(one.low)} to {number(one.high)}",
            number(one.correlation),
        ]
        for one in biases.rows
    ]
    header = ["run", "metric", "human labels", "machine labels", "difference", "95% interval", "correlation"]
    order = "".join(
        f"rank correlation of the runs by {name}: tau {number(tau)}\n"
        for name, tau in biases.tau.items()
        if tau is not None
    )
    return text_table(header, rows, left=2) + order
