"""How does an evaluation look as a table, JSON, CSV, trec_eval's lines or LaTeX?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.cli.text_table import counted, number, text_table
from judgments.core.cells import csv_row, escape

if TYPE_CHECKING:
    from evaluation.metrics.results import Diagnostics, Evaluation, RunScores, Summary


@dataclass(frozen=True)
class Output:
    """An evaluation with what the files say about themselves.

    Parameters
    ----------
    evaluation : Evaluation
        The scores.
    trec_names : dict of str to str
        Canonical metric name to trec_eval's.
    qrels : dict
        The object ``qrels`` of the JSON.
    files : sequence of dict
        ``path`` and ``sha256`` of each run.
    settings : dict
        What the numbers hang on beside the files: missing, condensed, level, seed.
    per_query : bool
        Whether the values of single queries are wanted too; JSON always has them.
    """

    evaluation: Evaluation
    trec_names: Mapping[str, str]
    qrels: Mapping[str, Any]
    files: Sequence[Mapping[str, str]]
    settings: Mapping[str, Any]
    per_query: bool


def as_json(output: Output) -> str:
    """Numbers unrounded, null where undefined."""
    runs = [
        {"name": run["name"], **file, **{key: value for key, value in run.items() if key != "name"}}
        for run, file in zip(output.evaluation.as_json(), output.files, strict=True)
    ]
    told = {"qrels": output.qrels, "runs": runs, "settings": output.settings}
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_csv(output: Output) -> str:
    """One line for each run, tier, metric and query; ``all`` is the mean."""
    rows = [["run", "tier", "metric", "query_id", "value", "queries", "low", "high", "weighted"]]
    for run in output.evaluation.runs:
        for tier, metrics in {"": run.metrics, **run.by_tier}.items():
            for name, one in metrics.items():
                cells = [one.mean, one.queries, one.low, one.high, one.weighted]
                told = ["" if cell is None else repr(cell) for cell in cells]
                rows.append([escape(run.name), escape(tier), name, "all", *told])
        for query_id, values in _queries(output, run).items():
            for name, value in values.items():
                rows.append([escape(run.name), "", name, escape(query_id), repr(value), "", "", "", ""])
    return "".join(map(csv_row, rows))


def as_trec(output: Output) -> str:
    """NAME, query or ``all``, VALUE with tabs between; each run begins with its ``runid``."""
    lines = []
    for run in output.evaluation.runs:
        lines.append(f"runid\tall\t{run.name}\n")
        for query_id, values in _queries(output, run).items():
            lines += [f"{output.trec_names[name]}\t{query_id}\t{value:.4f}\n" for name, value in values.items()]
        lines += [f"{output.trec_names[name]}\tall\t{number(one.mean)}\n" for name, one in run.metrics.items()]
    return "".join(lines)


def as_latex(output: Output) -> str:
    """A tabular with the rules of booktabs, the best mean of each metric in bold."""
    metrics, runs = output.evaluation.metrics, output.evaluation.runs
    best = {name: max((run.metrics[name].mean or 0.0 for run in runs), default=0.0) for name in metrics}
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}",
        r"\toprule",
        " & ".join(["Run", *map(_escape, metrics)]) + r" \\",
        r"\midrule",
    ]
    for run in runs:
        cells = [_bold(number(run.metrics[name].mean), run.metrics[name].mean == best[name]) for name in metrics]
        lines.append(" & ".join([_escape(run.name), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def as_table(output: Output) -> str:
    """Tables for people: means, weighted means, tiers, queries, and what to know about each run."""
    runs = output.evaluation.runs
    parts = [_table(output, {run.name: run.metrics for run in runs}, _mean)]
    if any(one.weighted is not None for run in runs for one in run.metrics.values()):
        parts.append("weighted by traffic\n" + _table(output, {run.name: run.metrics for run in runs}, _weighted))
    for tier in dict.fromkeys(tier for run in runs for tier in run.by_tier):
        parts.append(f"{tier}\n" + _table(output, {run.name: run.by_tier[tier] for run in runs}, _mean))
    if output.per_query:
        parts += [_query_table(output, run) for run in runs]
    parts.append(_notes(output))
    return "\n".join(parts)


LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)

FORMATS: dict[str, Callable[[Output], str]] = {
    "table": as_table,
    "json": as_json,
    "csv": as_csv,
    "trec": as_trec,
    "latex": as_latex,
}


def _queries(output: Output, run: RunScores) -> dict[str, dict[str, float]]:
    return output.evaluation.query_values(run) if output.per_query else {}


def _table(output: Output, rows: Mapping[str, Mapping[str, Summary]], cell: Callable[[Summary], str]) -> str:
    names = output.evaluation.metrics
    return text_table(["run", *names], [[run, *(cell(of[name]) for name in names)] for run, of in rows.items()])


def _mean(one: Summary) -> str:
    return number(one.mean) if one.low is None else f"{number(one.mean)} [{number(one.low)}, {number(one.high)}]"


def _weighted(one: Summary) -> str:
    told = number(one.weighted)
    return told if one.weighted_low is None else f"{told} [{number(one.weighted_low)}, {number(one.weighted_high)}]"


def _query_table(output: Output, run: RunScores) -> str:
    names = output.evaluation.metrics
    rows = [[query, *(number(of[name]) for name in names)] for query, of in _queries(output, run).items()]
    return f"{run.name}, query by query\n" + text_table(["query", *names], rows)


def _notes(output: Output) -> str:
    rule = "score 0" if output.settings["missing"] == "zero" else "are left out"
    lines = [
        f"{counted(output.qrels['queries'], 'query', 'queries')}, {counted(output.qrels['judgments'], 'judgment')}; "
        f"queries that a run does not answer {rule}\n"
    ]
    reasons = {one.reason: None for run in output.evaluation.runs for one in run.metrics.values() if one.reason}
    if output.settings["level"] is not None:
        told = "; ".join(reasons) or f"{output.settings['level']:.0%} bootstrap over queries"
        lines.append(f"interval: {told}, seed {output.settings['seed']}\n")
    if output.evaluation.effective_queries is not None:
        lines.append(f"the weights leave {output.evaluation.effective_queries:.1f} effective queries\n")
    return "".join([*lines, *(f"{run.name}: {_about(run.diagnostics)}\n" for run in output.evaluation.runs)])


def _about(found: Diagnostics) -> str:
    told = [counted(found.rows, "row"), f"{found.ties:.1%} tied", f"{counted(found.holes, 'hole')} in the top 10"]
    if found.queries_missing:
        told.append(counted(found.queries_missing, "judged query", "judged queries") + " not answered")
    if found.queries_unjudged:
        told.append(counted(found.queries_unjudged, "query", "queries") + " without judgments ignored")
    if found.queries_without_relevant:
        told.append(counted(found.queries_without_relevant, "query", "queries") + " without anything relevant")
    if found.duplicates:
        told.append(counted(found.duplicates, "identical judgment") + " kept once")
    return ", ".join(told)


def _escape(text: str) -> str:
    return text.translate(LATEX)


def _bold(text: str, best: bool) -> str:
    return rf"\textbf{{{text}}}" if best else text
