"""The command ``assay rag``: metrics of RAG systems over samples and outputs."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option, text_table
from assay.cli.inputs.files import (
    add_out,
    named_runs,
    print_warnings,
    scale_values,
    stdin_once,
    warn_no_effect,
    write_out,
)
from assay.cli.rag import critic as rag_critic
from assay.cli.rag import retrieval
from assay.core.csv_cells import escape
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.rag import Metric, PeopleComparison, RagComparison, RagEvaluation, Score
    from assay.significance.compare import Plan


EXAMPLE = "assay rag samples.jsonl old.jsonl new.jsonl -m 'TokenF1 RecallAtK(k=5)' --baseline old"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "samples SAMPLES", "samples.jsonl: questions, reference answers, labels")
    option(parser, "outputs OUTPUTS", "outputs.jsonl of a system, or a run, or NAME=PATH; may be repeated", nargs="*")
    option(
        parser,
        "-m --metric METRIC",
        "metric: a class name such as TokenF1 or RecallAtK(k=5), a name such as recall@5, or a quoted list; see "
        "docs/rag.md; default: a selection that needs no model",
        action="append",
    )
    parser.add_argument(
        "--missing",
        choices=["error", "skip", "zero"],
        default="error",
        help="treat samples without an output as an error, leave them out, or count them as 0; default: error",
    )
    option(
        parser,
        "--slice LABEL",
        "also report the samples of each value of this label separately; may be repeated",
        action="append",
        default=[],
    )
    option(parser, "--per-sample", "also print the score of each sample", action="store_true")
    option(parser, "--baseline NAME", "compare each of the other systems with this one")
    option(parser, "--compare", "compare all pairs of systems", action="store_true")
    option(parser, "--test", "significance test; default: randomization", choices=list(TESTS))
    parser.add_argument(
        "--correction",
        choices=[*CORRECTIONS, "none"],
        help="correction for multiple comparisons within a metric; default: holm",
    )
    option(parser, "--permutations N", "number of random draws for the test; default: 100000", type=int)
    option(
        parser,
        "--people FILE",
        "CSV with sample_id,system,rater,grade: compare a metric with human grades, and use them to correct its mean",
    )
    option(parser, "--people-metric METRIC", "metric to compare; default: the metric of -m, if there is only one")
    option(parser, "--scale MIN:MAX", "scale of the human grades; default: 0:2")
    option(parser, "--ci LEVEL", "confidence level of the intervals", 0.95)
    option(parser, "--resamples N", "number of bootstrap resamples", 10_000)
    option(parser, "--seed N", "seed for the bootstrap and the test", 0)
    option(parser, "--format", "output format", "table", choices=list(FORMATS))
    add_out(parser)
    retrieval.add_retrieval_options(parser)
    rag_critic.add_model_options(parser, "the critic of LLMFaithfulnessScore and LLMAnswerQuality, or the judge")


def run(args: argparse.Namespace) -> int:
    """Read, measure, print."""
    systems = named_runs(args.outputs)
    stdin_once([args.samples, *(path for _, path in systems), args.people or ""])
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
    from assay.significance.compare import Plan

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


NOT_MEASURED = "not measured"
Table = tuple[str, list[str], list[list[str]]]


@dataclass(frozen=True)
class Output:
    """An evaluation with everything else that is printed."""

    evaluation: RagEvaluation
    compared: Sequence[RagComparison]
    files: Mapping[str, Any]
    per_sample: bool
    people: PeopleComparison | None


def as_table(output: Output) -> str:
    """Return the results as text tables."""
    parts = [f"{title}\n{text_table(header, rows)}" if title else text_table(header, rows)
             for title, header, rows in _tables(output)]  # fmt: skip
    return "\n".join([*parts, "".join(_notes(output))])


def as_markdown(output: Output) -> str:
    """Return the same tables in Markdown."""
    parts = []
    for title, header, rows in _tables(output):
        lines = [f"### {title}\n"] if title else []
        lines.append("| " + " | ".join(map(_cell, header)) + " |")
        lines.append("| --- |" + " ---: |" * (len(header) - 1))
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
        parts.append("\n".join(lines) + "\n")
    # A line of notes is a paragraph of Markdown.
    return "\n".join([*parts, *_notes(output)])


def as_json(output: Output) -> str:
    """Return all results as JSON, with numbers unrounded."""
    whole = output.evaluation.to_dict(per_sample=output.per_sample)
    whole["files"] = dict(output.files)
    if output.compared:
        whole["comparisons"] = [one.to_dict() for one in output.compared]
    if output.people is not None:
        whole["people"] = output.people.to_dict()
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def as_csv(output: Output) -> str:
    """Return CSV with a row per system, slice and metric, or per system, sample and metric with ``per_sample``."""
    evaluation = output.evaluation
    if output.per_sample:
        rows = [
            {"system": system.name, "sample_id": sample, "metric": metric, "value": value}
            for system in evaluation.systems
            for sample, values in system.per_sample().items()
            for metric, value in values.items()
        ]
    else:
        rows = evaluation.to_rows()
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["system"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: escape(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows
    )
    return text.getvalue()


def warn_left_out(output: Output) -> None:
    """Print on standard error which results CSV leaves out."""
    for note in output.evaluation.notes:
        sys.stderr.write(f"note: {note}\n")
    whole = "use --format table, markdown or json"
    if output.compared:
        warn_no_effect("--baseline or --compare", f"CSV has no comparisons; {whole}")
    if output.people is not None:
        warn_no_effect("--people", f"CSV has no corrected means; {whole}")
    if output.per_sample and any(system.slices for system in output.evaluation.systems):
        warn_no_effect("--slice", f"CSV with --per-sample has no slices; {whole}")


FORMATS: dict[str, Callable[[Output], str]] = {
    "table": as_table,
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
}


def _tables(output: Output) -> Iterable[Table]:
    evaluation, people = output.evaluation, output.people
    names = [system.name for system in evaluation.systems]
    yield "", ["metric", *names], _rows(evaluation, [system.scores for system in evaluation.systems])
    for label in dict.fromkeys(label for system in evaluation.systems for label in system.slices):
        values = dict.fromkeys(value for system in evaluation.systems for value in system.slices[label])
        for value in sorted(values, key=lambda text: (not text, text)):
            title = f"{label} = {value}" if value else f"{label} is not set"
            yield (
                title,
                ["metric", *names],
                _rows(evaluation, [one.slices[label].get(value, {}) for one in evaluation.systems]),
            )
    if output.compared:
        header = ["metric", "a", "b", "b - a", "interval", "p", "corrected p", "wins/ties/losses", "samples"]
        yield "Comparison", header, [_compared(one) for one in output.compared]
    if people is not None:
        header = ["system", people.metric, "corrected mean", "human only", "graded answers"]
        yield "Corrected with human grades", header, [_corrected(one) for one in people.systems]
        calibration = people.calibration
        rows = [[f"kappa, {name}", _number(one.value), f"{one.n:,}"] for name, one in calibration.kappa.items()]
        rows += [[f"alpha, {name}", _number(one.value), f"{one.n:,}"] for name, one in calibration.alpha.items()]
        rows.append(["bias in grades (metric minus human)", _number(calibration.bias), f"{calibration.pairs:,}"])
        yield f"Agreement of {people.metric} with human grades", ["agreement", "value", "answers"], rows
    if output.per_sample:
        for system in evaluation.systems:
            header = ["sample", *(metric.label for metric in evaluation.metrics)]
            rows = [
                [sample, *(_number(values.get(metric.label)) for metric in evaluation.metrics)]
                for sample, values in system.per_sample().items()
            ]
            yield f"{system.name}, by sample", header, rows


def _rows(evaluation: RagEvaluation, systems: Sequence[Mapping[str, Score]]) -> list[list[str]]:
    return [[metric.label, *(_score(scores.get(metric.label)) for scores in systems)] for metric in evaluation.metrics]


def _score(score: Score | None) -> str:
    if score is None or not score.defined:
        return NOT_MEASURED
    ends = "" if score.low is None else f" [{_number(score.low)}, {_number(score.high)}]"
    return f"{_number(score.value)}{ends} n={score.result.details['num_samples']:,}"


def _corrected(one: Any) -> list[str]:
    estimate = one.estimate
    if estimate is None:
        return [one.system, _number(one.metric_mean), one.reason, "-", "-"]
    parts = [(estimate.estimate, estimate.low, estimate.high), estimate.human_only]
    cells = [f"{_number(value)} [{_number(low)}, {_number(high)}]" for value, low, high in parts]
    return [one.system, _number(one.metric_mean), *cells, f"{estimate.queries:,}"]


def _compared(one: RagComparison) -> list[str]:
    ends = "-" if one.low is None else f"[{_number(one.low)}, {_number(one.high)}]"
    counts = "-" if one.wins is None else f"{one.wins}/{one.ties}/{one.losses}"
    p, corrected = ("-" if value is None else f"{value:.4g}" for value in (one.p, one.p_corrected))
    return [one.metric, one.a, one.b, _number(one.difference), ends, p, corrected, counts, f"{one.samples:,}"]


def _notes(output: Output) -> list[str]:
    from assay.rag.evaluation import FEWEST

    evaluation = output.evaluation
    scores = [score for system in evaluation.systems for score in system.scores.values()]
    intervals = (
        f"[low, high] is a {evaluation.level:.0%} bootstrap interval"
        if any(score.low is not None for score in scores)
        else f"intervals need {FEWEST} samples with a value"
    )
    lines = [f"{amount(len(evaluation.samples), 'sample')}; {intervals}\n"]
    for metric in evaluation.metrics:
        for system in evaluation.systems:
            details = system.scores[metric.label].result.details
            who = f"{metric.label}, {system.name}" if len(evaluation.systems) > 1 else metric.label
            if not details["defined"]:
                lines.append(f"{who}: {NOT_MEASURED}: {details['reason']}\n")
            elif skipped := {key: count for key, count in details["skipped"].items() if key != "not_selected"}:
                from assay.rag.metric import REASONS

                why = ", ".join(f"{count:,} because {REASONS.get(key, key)}" for key, count in skipped.items())
                lines.append(f"{who}: samples skipped: {why}\n")
    # As in the tables of `assay compare`: why a cell of the comparison is "-".
    lines += [f"-: {reason}\n" for reason in dict.fromkeys(one.reason for one in output.compared) if reason]
    return [*lines, *(f"{note}\n" for note in evaluation.notes)]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
