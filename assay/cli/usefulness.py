"""The command ``assay usefulness``: usefulness of retrieved documents for the answering system."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from assay.cli import number, option, text_table
from assay.cli.inputs.files import RUN_HELP, add_out, named_runs, print_warnings, stdin_once, write_out
from assay.core.errors import NotValid
from assay.core.text_rules import agree, amount

if TYPE_CHECKING:
    from assay.core.run import Run
    from assay.rag.usefulness import Correlation

EXAMPLE = "assay usefulness useful.jsonl bm25.run -k 5 --answers scores.csv"
# Metrics defined for values between 0 and 1; other metrics need labels that are 0 or 1.
OF_FRACTIONS = ("ndcg", "dcg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "labels LABELS", "labels.jsonl of the judge `downstream`")
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    option(parser, "-k K", "number of documents per query", 10)
    option(parser, "-m --metric METRIC", "additional metrics over the labels", action="append")
    option(parser, "--answers FILE", "CSV with query_id,score: the quality of the whole system's answers")
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Compute and print the usefulness of the runs."""
    runs = named_runs(args.runs)
    stdin_once([args.labels, *(path for _, path in runs)])
    from assay.formats.qrels_and_runs import open_run

    labels, failed = _labels(args.labels)
    answers = _answers(args.answers) if args.answers else None
    files = [open_run(Path(path), path, name, None) for name, path in runs]
    tables = [file.whole() for file in files]
    print_warnings([file.report for file in files])
    results = [run_values(labels, table, args.k, args.metric or [], answers) for table in tables]
    if args.format == "json":
        whole = {"k": args.k, "labels": len(labels), "failed": failed, "runs": results}
        write_out(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", args.out)
        return 0
    write_out(as_table(results, args.k, failed), args.out)
    return 0


def _labels(path: str) -> tuple[dict[tuple[str, str], float], int]:
    from assay.formats import labels_jsonl

    read = labels_jsonl.read(Path(path), path=path).strict()
    print_warnings([read.report])
    labels = {(row.query_id, row.doc_id): row.usefulness for row in read.rows if row.usefulness is not None}
    if not labels:
        raise NotValid(f"{path}: has no usefulness labels; create them with assay judge --judge downstream")
    return labels, len(read.rows) - len(labels)


def _answers(path: str) -> dict[str, float]:
    rows = csv.DictReader(io.StringIO(Path(path).read_text(encoding="utf-8-sig")))
    scores: dict[str, float] = {}
    for row in rows:
        try:
            scores[str(row["query_id"])] = float(row["score"])
        except (KeyError, TypeError, ValueError):
            raise NotValid(
                f"{path}:{rows.line_num}: expected the columns query_id,score with a number as score"
            ) from None
    return scores


def run_values(
    labels: dict[tuple[str, str], float], table: Run, k: int, metrics: list[str], answers: dict[str, float] | None
) -> dict[str, Any]:
    """Return the means of one run over its lists, and their correlation with the answers."""
    from assay.rag.usefulness import correlation, list_values

    values = list_values(labels, table, k)
    columns = {
        f"P@{k}": {query: one.precision for query, one in values.items() if one.precision is not None},
        f"Hit@{k}": {query: one.hit for query, one in values.items() if one.hit is not None},
        **_more(labels, table, metrics),
    }
    summary: dict[str, Any] = {
        "run": table.name,
        "queries": len(values),
        "unlabelled_queries": sum(one.unlabelled > 0 for one in values.values()),
        "metrics": {name: {"mean": fmean(column.values()) if column else None} for name, column in columns.items()},
    }
    if answers is not None:
        for name, column in columns.items():
            summary["metrics"][name] |= _plain(correlation(column, answers))
    return summary


def _more(labels: dict[tuple[str, str], float], table: Run, metrics: list[str]) -> dict[str, dict[str, float]]:
    """Return ranking metrics with the usefulness as the grade."""
    if not metrics:
        return {}
    from assay.core.qrels import Qrels
    from assay.scoring.evaluate import evaluate

    whole = all(value in (0, 1) for value in labels.values())
    wanted = [one for text in metrics for one in text.split()]
    if not whole and (odd := [one for one in wanted if not one.lower().startswith(OF_FRACTIONS)]):
        raise NotValid(f"{odd[0]} needs labels of 0 or 1, and these are fractions; use nDCG")
    scored = evaluate(Qrels.from_rows((query, doc, value) for (query, doc), value in labels.items()), table, wanted)
    one = scored.runs[0]
    return {name: dict(zip(scored.query_ids, map(float, one.per_query[name]), strict=True)) for name in one.metrics}


def _plain(result: Correlation) -> dict[str, Any]:
    from assay.rag.usefulness import REASONS

    plain = result.as_json()
    reason = plain.pop("reason")
    return plain | ({} if reason is None else {"reason": REASONS[reason]})


def as_table(results: list[dict[str, Any]], k: int, failed: int) -> str:
    """Return a table of runs and metrics, with notes on missing labels."""
    with_answers = any("tau" in one for result in results for one in result["metrics"].values())
    header = ["run", "metric", "mean", *(["tau", "rho", "queries"] if with_answers else [])]
    rows = []
    for result in results:
        for name, one in result["metrics"].items():
            more = [number(one["tau"], 3), number(one["rho"], 3), str(one["queries"])] if with_answers else []
            rows.append([result["run"], name, number(one["mean"]), *more])
    lines = [text_table(header, rows, left=2)]
    for result in results:
        if result["unlabelled_queries"]:
            share = f"{result['unlabelled_queries']} of {amount(result['queries'], 'query', 'queries')}"
            lines.append(
                f"note: {result['run']}: {share} {agree(result['unlabelled_queries'], 'lacks', 'lack')} a label "
                f"for a document in the top {k}, so P@{k} or Hit@{k} is missing\n"
            )
    reasons = {one["reason"] for result in results for one in result["metrics"].values() if "reason" in one}
    lines += [f"note: tau and rho are {reason}\n" for reason in sorted(reasons)]
    if failed:
        lines.append(f"note: {amount(failed, 'label has', 'labels have')} no usefulness, because the judge failed\n")
    return "".join(lines)
