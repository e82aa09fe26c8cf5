"""The command ``assay erag``: usefulness of retrieved documents to the model or function that answers with them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from assay.cli import number, option
from assay.cli.inputs.files import add_out, named_runs, print_warnings, stdin_once, write_out
from assay.cli.rag import critic, retrieval
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.rag.erag import Task, Usefulness
    from assay.rag.metric import Metric
    from assay.rag.prompt_calls import PromptCalls
    from assay.rag.records import SystemOutputs

EXAMPLE = "assay erag samples.jsonl new.jsonl --documents contents.jsonl --task reader:answer -k 2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "samples SAMPLES", "samples.jsonl: questions and reference answers")
    option(parser, "outputs OUTPUTS", "outputs.jsonl of a system with texts, or a run, or NAME=PATH", nargs="*")
    option(parser, "--task MODULE:FUNCTION", "function(query, texts) that answers the query; default: --model answers")
    option(parser, "--task-metric METRIC", "a metric of docs/rag.md between 0 and 1", "TokenF1")
    option(parser, "--template FILE", "prompt template with {query} and {document}")
    option(parser, "-k K", "number of documents per list", 10)
    option(parser, "-m --metric METRIC", "ranking metrics over the labels; default: nDCG@K", action="append")
    option(
        parser,
        "--end-to-end N",
        "number of questions to answer from the whole list, drawn with --seed; default: all; 0 for none",
        type=int,
    )
    option(parser, "--seed N", "seed for the draw of --end-to-end", 0)
    option(parser, "--labels-out FILE", "write labels.jsonl, for assay usefulness")
    option(parser, "--outputs-out FILE", "write outputs.jsonl with the answers from the whole lists")
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    add_out(parser)
    retrieval.add_source_options(parser)
    critic.add_model_options(parser, "model that answers, or the critic of the task's metric")


def run(args: argparse.Namespace) -> int:
    """Retrieve, answer, score and print the usefulness of the documents."""
    systems = named_runs(args.outputs)
    stdin_once([args.samples, *(path for _, path in systems)])
    from assay.cli.rag.command import read
    from assay.metrics.metric import parse_metrics
    from assay.rag.erag import usefulness
    from assay.rag.metric_names import parse_metric, with_services

    if args.metric:
        # Otherwise a misspelled name is reported only after the model was paid.
        parse_metrics(args.metric)
    if not systems and not retrieval.retrieves(args):
        raise NotValid("no outputs were given; name a file, or use --retriever or --engine to retrieve documents")
    metric = parse_metric(args.task_metric)
    asks = critic.needs_critic(metric)
    calls = None
    if asks or not args.task:
        calls = critic.model_calls(args, "the task" if not args.task else f"the critic of {metric.label}")
    else:
        critic.warn_unused(args, also=True)
    if asks and calls:
        metric = with_services(metric, {"critic": critic.critic_of(args, calls)})
    if args.dry_run and calls is None:
        sys.stdout.write("no model is needed\n")
        return 0
    samples, outputs, reports = read(args.samples, systems)
    samples, outputs, _ = retrieval.prepared(args, samples, outputs, None)
    if args.outputs_out and len(outputs) > 1:
        raise NotValid(f"--outputs-out takes one system, and {len(outputs)} were given; run each system separately")
    result = usefulness(
        samples,
        outputs,
        _task(args, calls),
        metric,
        k=args.k,
        end_to_end=args.end_to_end,
        seed=args.seed,
    )
    print_warnings(reports)
    if args.dry_run:
        sys.stdout.write(str(calls.plan) if calls else "")
        return 0
    if calls is not None and not calls.complete:
        return critic.report_calls(calls)
    if not result.labels:
        raise NotValid(f"no document has a label: {_reasons(result) or 'nothing was retrieved'}")
    _write_files(args, result, outputs, metric, calls)
    write_out(_output(args, result, outputs, metric), args.out)
    return critic.report_calls(calls)


def _task(args: argparse.Namespace, calls: PromptCalls | None) -> Task:
    from assay.rag.erag import MOST_TOKENS, FunctionTask, ModelTask

    if args.task:
        if args.template:
            raise NotValid("--template sets the prompt of --model and does not apply to --task; remove one of them")
        return FunctionTask(args.task, retrieval.seconds(args))
    from assay.cli.judge.prompt_options import template
    from assay.llm.judges.usefulness import DOWNSTREAM_TEMPLATE, PLACES

    assert calls is not None  # noqa: S101 (without --task there is a model)
    words = DOWNSTREAM_TEMPLATE
    if args.template:
        words = template(args.template, DOWNSTREAM_TEMPLATE, PLACES, PLACES)
    return ModelTask(calls, template=words, most_tokens=critic.most_tokens(args, MOST_TOKENS))


def _output(
    args: argparse.Namespace, result: Usefulness, outputs: dict[str, list[SystemOutputs]], metric: Metric
) -> str:
    from assay.cli.usefulness import as_table, run_values
    from assay.core.run import Run

    runs = []
    for name, given in outputs.items():
        ranked = {one.sample_id: _ranks(one, args.k) for one in given}
        answers = result.end_to_end.get(name, {})
        values = run_values(
            result.labels,
            Run.from_dict(ranked, name),
            args.k,
            args.metric or [f"nDCG@{args.k}"],
            answers if args.end_to_end != 0 else None,
        )
        values["end_to_end"] = {"mean": fmean(answers.values()) if answers else None, "queries": len(answers)}
        runs.append(values)
    if args.format == "json":
        whole = {
            "k": args.k,
            "task": args.task or args.model,
            "task_metric": metric.label,
            "labels": len(result.labels),
            "unlabeled": result.unlabeled,
            "left_out": result.left_out,
            "runs": runs,
        }
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    lines = [as_table(runs, args.k, 0)]
    for values in runs:
        if values["end_to_end"]["queries"]:
            queries = amount(values["end_to_end"]["queries"], "query", "queries")
            lines.append(
                f"{values['run']}: answers from the whole list score "
                f"{number(values['end_to_end']['mean'])}, {queries}\n"
            )
    lines.append(f"labels: {metric.label} of {args.task or args.model} for {amount(len(result.labels), 'document')}\n")
    if reasons := _reasons(result):
        lines.append(f"note: {reasons}\n")
    return "".join(lines)


def _ranks(output: SystemOutputs, k: int) -> dict[str, float]:
    """Return the first k documents with decreasing scores; a duplicate counts at its first rank."""
    return {one.doc.doc_id: -float(place) for place, one in reversed([*enumerate(output.retrieved[:k])])}


def _reasons(result: Usefulness) -> str:
    from assay.rag.metric import REASONS

    words = REASONS | {"no_answer": "there was no answer"}
    reasons = [f"{amount(number, 'sample')} skipped: {words.get(why, why)}" for why, number in result.left_out.items()]
    reasons += [
        f"{amount(count, 'document')} without a label: {words.get(why, why)}" for why, count in result.unlabeled.items()
    ]
    return "; ".join(reasons)


def _write_files(
    args: argparse.Namespace,
    result: Usefulness,
    outputs: dict[str, list[SystemOutputs]],
    metric: Metric,
    calls: PromptCalls | None,
) -> None:
    from assay.formats import labels_jsonl
    from assay.formats.labels_jsonl import MachineLabel
    from assay.rag import outputs_jsonl
    from assay.rag.records import Answer, SystemOutputs

    if args.labels_out:
        parameters: dict[str, Any] = {"task": args.task or "model", "task_metric": metric.label}
        model = calls.endpoint.model if calls is not None and not args.task else ""
        with Path(args.labels_out).open("wb") as stream:
            labels_jsonl.write(
                (
                    MachineLabel(
                        sample_id,
                        doc_id,
                        "graded",
                        judge="downstream",
                        model=model,
                        parameters=parameters,
                        usefulness=value,
                    )
                    for (sample_id, doc_id), value in result.labels.items()
                ),
                stream,
            )
    if args.outputs_out:
        ((name, given),) = outputs.items()
        answers = result.responses.get(name, {})
        with Path(args.outputs_out).open("wb") as stream:
            outputs_jsonl.write(
                (
                    SystemOutputs(one.sample_id, one.retrieved[: args.k], Answer(answers[one.sample_id]))
                    for one in given
                    if one.sample_id in answers
                ),
                stream,
            )
