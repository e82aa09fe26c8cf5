"""Output formats of ``assay rag``: table, Markdown, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.cli.options.unused import warn_no_effect
from assay.cli.output.text_table import counted, text_table
from assay.core.csv_cells import escape

if TYPE_CHECKING:
    from assay.rag import PeopleComparison, RagComparison, RagEvaluation, Score

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
        yield f"{people.metric} and human grades", ["agreement", "value", "answers"], rows
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
    lines = [f"{counted(len(evaluation.samples), 'sample')}; {intervals}\n"]
    for metric in evaluation.metrics:
        for system in evaluation.systems:
            details = system.scores[metric.label].result.details
            who = f"{metric.label}, {system.name}" if len(evaluation.systems) > 1 else metric.label
            if not details["defined"]:
                lines.append(f"{who}: {NOT_MEASURED}: {details['reason']}\n")
            elif skipped := {key: count for key, count in details["skipped"].items() if key != "not_selected"}:
                from assay.rag.metric import REASONS

                why = ", ".join(f"{count:,} because {REASONS.get(key, key)}" for key, count in skipped.items())
                lines.append(f"{who}: skipped {why}\n")
    # As in the tables of `assay compare`: why a cell of the comparison is "-".
    lines += [f"-: {reason}\n" for reason in dict.fromkeys(one.reason for one in output.compared) if reason]
    return [*lines, *(f"{note}\n" for note in evaluation.notes)]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
