"""Terminal tables of ``assay evaluate``: means, tiers, queries, and notes on unjudged documents and ties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from assay.cli.output.machine_labels import machine_note
from assay.cli.output.text_table import counted, text_table
from assay.metrics.means import TIE
from assay.scoring.score_files import WRITERS, ScoreReport, printed

if TYPE_CHECKING:
    from assay.scoring.diagnostics import Diagnostics
    from assay.scoring.results import RunScores, Summary
    from assay.scoring.score_ranges import Range


def as_table(report: ScoreReport) -> str:
    """Return tables of means, weighted means, tiers and queries, with notes on each run."""
    runs = report.evaluation.runs
    parts = [_table(report, {run.name: run.metrics for run in runs}, _mean)]
    if any(one.weighted is not None for run in runs for one in run.metrics.values()):
        parts.append("weighted by traffic\n" + _table(report, {run.name: run.metrics for run in runs}, _weighted))
    for tier in dict.fromkeys(tier for run in runs for tier in run.by_tier):
        inside = {run.name: run.by_tier[tier] for run in runs}
        parts.append(f"{tier}\n" + _table(report, inside, _mean))
        if any(one.weighted is not None for metrics in inside.values() for one in metrics.values()):
            parts.append(f"{tier}, weighted by traffic\n" + _table(report, inside, _weighted))
    if report.per_query:
        parts += [_query_table(report, run) for run in runs]
    parts.append(_notes(report))
    return "\n".join(parts)


# Maximum number of means in the note on ties; JSON has all of them.
MAX_TIE_LINES = 6

FORMATS: dict[str, Callable[[ScoreReport], str]] = {"table": as_table, **WRITERS}


def _table(report: ScoreReport, rows: Mapping[str, Mapping[str, Summary]], cell: Callable[[str, Summary], str]) -> str:
    names = report.evaluation.metrics
    return text_table(["run", *names], [[run, *(cell(name, of[name]) for name in names)] for run, of in rows.items()])


def _mean(name: str, one: Summary) -> str:
    return _with_interval(*(printed(name, value) for value in (one.mean, one.low, one.high)))


def _weighted(name: str, one: Summary) -> str:
    return _with_interval(*(printed(name, value) for value in (one.weighted, one.weighted_low, one.weighted_high)))


def _with_interval(value: str, low: str, high: str) -> str:
    return value if low == "-" else f"{value} [{low}, {high}]"


def _query_table(report: ScoreReport, run: RunScores) -> str:
    names = report.evaluation.metrics
    rows = [[query, *(printed(name, of[name]) for name in names)] for query, of in report.queries(run).items()]
    return f"{run.name}, by query\n" + text_table(["query", *names], rows)


def _notes(report: ScoreReport) -> str:
    rule = "score 0" if report.settings["missing"] == "zero" else "are left out"
    machine = machine_note(report.qrels)
    lines = [
        *([f"{machine}\n"] if machine else []),
        (
            f"{counted(report.qrels['queries'], 'query', 'queries')}, "
            f"{counted(report.qrels['judgments'], 'judgment')}; unanswered queries {rule}\n"
        ),
    ]
    if report.settings["level"] is not None:
        lines += _about_intervals(report)
    if report.evaluation.effective_queries is not None:
        lines.append(f"the weights leave {report.evaluation.effective_queries:.1f} effective queries\n")
    lines += [f"{run.name}: {_about(run.diagnostics)}\n" for run in report.evaluation.runs]
    return "".join([*lines, *_about_holes(report), *_about_ties(report)])


def _about_holes(report: ScoreReport) -> list[str]:
    """Return the range of each mean over possible grades of unjudged documents."""
    return [
        f"{run.name}, range of scores if all documents within the cutoff were judged: {', '.join(bounds)}\n"
        for run in report.evaluation.runs
        if (bounds := [f"{name} {one.low:.4f} to {one.high:.4f}" for name, one in _open_bounds(run)])
    ]


def _open_bounds(run: RunScores) -> list[tuple[str, Range]]:
    return [(name, one) for name, one in run.diagnostics.bounds.items() if one.high - one.low > TIE]


def _about_ties(report: ScoreReport) -> list[str]:
    """Return the means that depend on the order of tied documents."""
    from assay.decisions.ranking_doubts import tie_doubts

    lines, doubts = [], tie_doubts(report.evaluation)
    for one in doubts[:MAX_TIE_LINES]:
        past = f", past {one.others[0]}" if one.others else ""
        past += f" and {len(one.others) - 1} more" if len(one.others) > 1 else ""
        where = f"{counted(one.queries, 'query', 'queries')} with a tie across the cutoff"
        bounds = f"{one.metric} is {one.low:.4f} to {one.high:.4f}{past}, depending on the order of tied documents"
        lines.append(f"{one.run}: {bounds}; {where}\n")
    if len(doubts) > MAX_TIE_LINES:
        lines.append(
            f"and {len(doubts) - MAX_TIE_LINES} more means that depend on ties; --format json lists all of them "
            "in ties_at\n"
        )
    return lines


HOW = {
    "percentile": "percentile bootstrap over queries, seed {seed}",
    "bca": "BCa bootstrap over queries, seed {seed}",
    "t": "Student's t over queries",
}


def _about_intervals(report: ScoreReport) -> list[str]:
    """Return the method of the intervals, and the reasons for missing ones."""
    missing: dict[tuple[str, str], dict[str, None]] = {}
    for tier, metrics in (pair for run in report.evaluation.runs for pair in ({"": run.metrics} | run.by_tier).items()):
        place = f" of {tier}" if tier else ""
        for name, one in metrics.items():
            if one.reason:
                missing.setdefault((place, one.reason), {})[name] = None
            if one.weighted_reason and one.weighted_reason != one.reason:
                missing.setdefault((f"{place}, weighted", one.weighted_reason), {})[name] = None
    how = HOW[report.settings["method"]].format(seed=report.settings["seed"])
    method = f"interval: {report.settings['level']:.0%} {how}\n"
    return [method, *(f"no interval for {' '.join(names)}{at}: {why}\n" for (at, why), names in missing.items())]


def _about(diagnostics: Diagnostics) -> str:
    parts = [
        counted(diagnostics.rows, "row"),
        f"{diagnostics.ties:.1%} tied",
        f"{counted(diagnostics.holes, 'unjudged document')} in the top 10",
    ]
    if diagnostics.queries_missing:
        parts.append(counted(diagnostics.queries_missing, "judged query", "judged queries") + " unanswered")
    if diagnostics.queries_unjudged:
        parts.append(counted(diagnostics.queries_unjudged, "query", "queries") + " without judgments ignored")
    if diagnostics.queries_without_relevant:
        parts.append(counted(diagnostics.queries_without_relevant, "query", "queries") + " without relevant documents")
    if diagnostics.identical_to:
        parts.append(f"same ranking as {', '.join(diagnostics.identical_to)}")
    if diagnostics.ranks_contradicted:
        parts.append(counted(diagnostics.ranks_contradicted, "rank") + " against the scores")
    if diagnostics.float32_ties:
        parts.append(counted(diagnostics.float32_ties, "pair") + " that only float64 distinguishes")
    if diagnostics.duplicates:
        parts.append(counted(diagnostics.duplicates, "identical judgment") + " kept once")
    return ", ".join(parts)
