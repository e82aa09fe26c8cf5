"""Evaluations as JSON, CSV, trec_eval output and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.csv_cells import csv_row, escape
from assay.metrics.metric import printed

if TYPE_CHECKING:
    from assay.scoring.results import Evaluation, RunScores, Summary

COLUMNS = ("run", "tier", "metric", "query_id", "value", "queries", "low", "high", "weighted")


@dataclass(frozen=True)
class ScoreReport:
    """An evaluation with the metadata of its files."""

    evaluation: Evaluation
    trec_names: Mapping[str, str]
    qrels: Mapping[str, Any]
    files: Sequence[Mapping[str, str]]
    settings: Mapping[str, Any]
    per_query: bool

    def queries(self, run: RunScores) -> dict[str, dict[str, float]]:
        """Return the scores of each query, if requested."""
        return self.evaluation.query_values(run) if self.per_query else {}


def as_json(report: ScoreReport) -> str:
    """Write numbers unrounded, null where undefined."""
    runs = [
        {"name": run["name"], **file, **{key: value for key, value in run.items() if key != "name"}}
        for run, file in zip(report.evaluation.as_json(), report.files, strict=True)
    ]
    document = {"qrels": report.qrels, "runs": runs, "settings": report.settings}
    import json

    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_csv(report: ScoreReport) -> str:
    """Write one line for each run, tier, metric and query; ``all`` is the mean."""
    rows = [list(COLUMNS)]
    for run in report.evaluation.runs:
        for tier, metrics in {"": run.metrics, **run.by_tier}.items():
            for name, one in metrics.items():
                cells = [one.mean, one.queries, one.low, one.high, one.weighted]
                texts = ["" if cell is None else repr(cell) for cell in cells]
                rows.append([escape(run.name), escape(tier), name, "all", *texts])
        for query_id, values in report.queries(run).items():
            for name, value in values.items():
                rows.append([escape(run.name), "", name, escape(query_id), repr(value), "", "", "", ""])
    return "".join(map(csv_row, rows))


def as_trec(report: ScoreReport) -> str:
    """Write NAME, query or ``all``, VALUE, separated by tabs; each run begins with its ``runid``."""
    lines = []
    for run in report.evaluation.runs:
        lines.append(f"runid\tall\t{_one_line(run.name)}\n")
        for query_id, values in report.queries(run).items():
            lines += [
                f"{report.trec_names[name]}\t{query_id}\t{printed(name, value)}\n" for name, value in values.items()
            ]
        lines += [f"{report.trec_names[name]}\tall\t{printed(name, one.mean)}\n" for name, one in run.metrics.items()]
    return "".join(lines)


def as_latex(report: ScoreReport) -> str:
    """Write a LaTeX table with booktabs rules, the best mean of each metric in bold, and intervals next to the
    means."""
    metrics, runs = report.evaluation.metrics, report.evaluation.runs
    best = {name: max((run.metrics[name].mean or 0.0 for run in runs), default=0.0) for name in metrics}
    lines = [
        rf"\begin{{tabular}}{{l{'r' * len(metrics)}}}",
        r"\toprule",
        " & ".join(["Run", *map(_escape, metrics)]) + r" \\",
        r"\midrule",
    ]
    for run in runs:
        cells = [_cell(name, run.metrics[name], run.metrics[name].mean == best[name]) for name in metrics]
        lines.append(" & ".join([_escape(run.name), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)

WRITERS: dict[str, Callable[[ScoreReport], str]] = {
    "json": as_json,
    "csv": as_csv,
    "trec": as_trec,
    "latex": as_latex,
}


def _escape(text: str) -> str:
    return _one_line(text).translate(LATEX)


def _one_line(text: str) -> str:
    """Return a name for a format that is separated by white space."""
    return " ".join(text.split())


def _cell(name: str, one: Summary, best: bool) -> str:
    mean = rf"\textbf{{{printed(name, one.mean)}}}" if best else printed(name, one.mean)
    return mean if one.low is None else f"{mean} [{printed(name, one.low)}, {printed(name, one.high)}]"
