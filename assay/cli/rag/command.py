"""The command ``assay rag``: metrics of RAG systems over samples and outputs."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.inputs.files import add_out, named_runs, print_warnings, stdin_once, write_out
from assay.cli.options.unused import warn_no_effect
from assay.cli.rag import critic as rag_critic
from assay.cli.rag import retrieval
from assay.cli.rag.output import FORMATS, Output, warn_left_out
from assay.core.errors import NotValid
from assay.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.core.read_report import Report
    from assay.rag import Metric
    from assay.significance.comparison_plan import Plan

NAME = "rag"
EXAMPLE = "assay rag samples.jsonl old.jsonl new.jsonl -m 'TokenF1 RecallAtK(k=5)' --baseline old"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("samples", metavar="SAMPLES", help="samples.jsonl: questions, reference answers, labels")
    parser.add_argument(
        "outputs",
        metavar="OUTPUTS",
        nargs="*",
        help="outputs.jsonl of a system, or a run, or NAME=PATH; may be repeated",
    )
    parser.add_argument(
        "-m",
        "--metric",
        metavar="METRIC",
        action="append",
        help=(
            "a class name such as TokenF1 or RecallAtK(k=5), a name such as recall@5, or a quoted list; see "
            "docs/rag.md; default: a selection that needs no model"
        ),
    )
    parser.add_argument(
        "--missing",
        choices=["error", "skip", "zero"],
        default="error",
        help="samples without an output: an error (default), left out, or counted as 0",
    )
    parser.add_argument(
        "--slice",
        metavar="LABEL",
        action="append",
        default=[],
        help="also report each value of a label separately; may be repeated",
    )
    parser.add_argument("--per-sample", action="store_true", help="also print the score of each sample")
    parser.add_argument("--baseline", metavar="NAME", help="compare each of the other systems with this one")
    parser.add_argument("--compare", action="store_true", help="compare all pairs of systems")
    parser.add_argument("--test", choices=list(TESTS), help="test for comparisons, default randomization")
    parser.add_argument(
        "--correction",
        choices=[*CORRECTIONS, "none"],
        help="correction for multiple comparisons within a metric, default holm",
    )
    parser.add_argument(
        "--permutations", type=int, metavar="N", help="number of random draws for the test, default 100000"
    )
    parser.add_argument(
        "--people",
        metavar="FILE",
        help=(
            "CSV with sample_id,system,rater,grade: compare a metric with human grades, and use them to correct "
            "its mean"
        ),
    )
    parser.add_argument(
        "--people-metric", metavar="METRIC", help="metric to compare; default: the metric of -m, if there is only one"
    )
    parser.add_argument("--scale", metavar="MIN:MAX", help="scale of the human grades, default 0:2")
    parser.add_argument(
        "--ci", metavar="LEVEL", type=float, default=0.95, help="confidence level of the intervals, default 0.95"
    )
    parser.add_argument(
        "--resamples", metavar="N", type=int, default=10_000, help="number of bootstrap resamples, default 10000"
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed for the bootstrap and the test, default 0"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="default: table")
    add_out(parser)
    retrieval.add_retrieval_options(parser)
    rag_critic.add_model_options(parser, "the critic of LLMFaithfulnessScore and LLMAnswerQuality, or the judge")


def run(args: argparse.Namespace) -> int:
    """Read, measure, print."""
    systems = named_runs(args.outputs)
    stdin_once([args.samples, *(path for _, path in systems), args.people or ""])
    from assay.cli.options.scale import scale_values
    from assay.rag import compare, compare_with_people, evaluate
    from assay.rag.evaluation import DEFAULT
    from assay.rag.human_grades import read_grades
    from assay.rag.metric_names import parse_metrics

    # A mistake in the options is reported before files are read.
    metrics = parse_metrics(args.metric or DEFAULT)
    plan = _plan(args)
    if args.compare and args.baseline:
        raise NotValid("--baseline compares with one system, --compare compares all pairs; use only one of them")
    if not systems and not retrieval.retrieves(args):
        raise NotValid("no outputs were given; name a file, or use --retriever or --engine to retrieve documents")
    if (args.compare or args.baseline) and len(systems) + len(args.retriever) + bool(args.engine) < 2:
        raise NotValid("a comparison needs the outputs of two systems")
    judged = _people_metric(args, metrics)
    asking = [metric for metric in metrics if rag_critic.needs_critic(metric)]
    calls = None
    if asking or retrieval.needs_model(args):
        calls = rag_critic.model_calls(
            args, f"the critic of {asking[0].label}" if asking else f"the judge {args.judge}"
        )
    else:
        rag_critic.warn_unused(args, also=retrieval.has_limit(args))
    critic = rag_critic.critic_of(args, calls) if asking and calls else None
    judge = retrieval.judge_of(args, calls)
    samples, outputs, reports = read(args.samples, systems)
    files = {name: _about(report) for name, report in zip(("samples", *outputs), reports, strict=True)}
    notes: list[str] = []
    if retrieval.retrieves(args) or judge is not None or args.documents:
        samples, outputs, notes = retrieval.prepared(args, samples, outputs, judge)
        if calls is not None and not calls.complete:
            return rag_critic.report_calls(calls)
    if args.dry_run:
        if critic is not None:
            evaluate(samples, outputs, asking, missing=args.missing, resamples=1, critic=critic)
        sys.stdout.write("no model is needed\n" if calls is None else str(calls.plan))
        return 0
    evaluation = evaluate(
        samples,
        outputs,
        metrics,
        missing=args.missing,
        critic=critic,
        slices=args.slice,
        level=args.ci,
        resamples=args.resamples,
        seed=args.seed,
    )
    evaluation = replace(evaluation, notes=(*notes, *evaluation.notes))
    compared = compare(evaluation, baseline=args.baseline, plan=plan) if args.baseline or args.compare else []
    people = None
    if judged is not None:
        values = scale_values(args.scale or "0:2")
        grades, report = read_grades(args.people, values)
        people = compare_with_people(evaluation, judged, grades, values, level=args.ci, seed=args.seed)
        print_warnings([report])
    print_warnings(reports)
    output = Output(evaluation, compared, files, args.per_sample, people)
    if args.format == "csv":
        warn_left_out(output)
    write_out(FORMATS[args.format](output), args.out)
    return rag_critic.report_calls(calls)


def _plan(args: argparse.Namespace) -> Plan:
    """Return how systems are compared."""
    from assay.significance.comparison_plan import Plan

    chosen = {name: getattr(args, name) for name in ("test", "correction", "permutations")}
    given = {name: value for name, value in chosen.items() if value is not None}
    if given and not (args.compare or args.baseline):
        warn_no_effect(f"--{next(iter(given))}", "there is no comparison; add --baseline NAME or --compare")
    return Plan(seed=args.seed, level=args.ci, resamples=args.resamples, **given)


def _people_metric(args: argparse.Namespace, metrics: Sequence[Metric]) -> str | None:
    """Return the label of the metric that human grades are compared with."""
    if args.people is None:
        for option, given in (("--people-metric", args.people_metric), ("--scale", args.scale)):
            if given is not None:
                raise NotValid(f"{option} needs --people FILE")
        return None
    from assay.rag.metric_names import parse_metrics

    if args.people_metric is None and len(metrics) == 1:
        return metrics[0].label
    if args.people_metric is None:
        raise NotValid(f"name one of the {len(metrics)} metrics with --people-metric")
    (chosen,) = parse_metrics([args.people_metric])
    return chosen.label


def read(samples: str, systems: list[tuple[str, str]]) -> tuple[list[Any], dict[str, list[Any]], list[Report]]:
    """Return the samples, the outputs of each system, and the reports on all files."""
    from assay.rag import outputs_jsonl, samples_jsonl

    cases = samples_jsonl.read(Path(samples), path=samples)
    reports = [cases.report]
    outputs: dict[str, list[Any]] = {}
    for name, path in systems:
        if (run := retrieval.run_as_outputs(path, name)) is not None:
            outputs[name], report = run
            reports.append(report)
            continue
        rows = outputs_jsonl.read(Path(path), path=path)
        outputs[name] = list(rows.rows)
        reports.append(rows.report)
    for report in reports:
        report.raise_if_errors()
    return list(cases.rows), outputs, reports


def _about(report: Report) -> dict[str, Any]:
    return {"path": report.path, "sha256": report.sha256, "rows": report.accepted}
