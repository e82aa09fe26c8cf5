"""Evaluation of runs against labels, by trec_eval's rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from evaluation.metrics import DEFAULT_METRICS
from evaluation.metrics.declaration import BoundMetric
from evaluation.metrics.design import SamplingDesign
from evaluation.metrics.diagnostics import Diagnostics, Findings, with_twins
from evaluation.metrics.judged_rankings import Floats, JudgedRankings
from evaluation.metrics.matching import match, shares_documents
from evaluation.metrics.means import effective_queries
from evaluation.metrics.names import parse_metrics
from evaluation.metrics.profile import Profile
from evaluation.metrics.results import Evaluation, RunScores
from evaluation.metrics.summaries import summarize, summarize_tiers
from judgments.core.errors import NotValid
from judgments.core.qrels import Qrels
from judgments.core.run import Run
from judgments.core.texts import Texts
from judgments.formats.run_files import Interleaved, RunFile

if TYPE_CHECKING:
    from evaluation.metrics.ranges import Ranges
    from judgments.core.report import Report

Scored = tuple[Floats, Diagnostics]
Metrics = str | Iterable[str | BoundMetric]
Missing = Literal["zero", "skip"]

MOST_WORKERS = 8
# Of fewer bytes the processes would take longer to start than to work.
LARGE = 4 << 20
# Grades above this are of no scale that people grade on.
MOST_USUAL = 100


def evaluate(
    qrels: Qrels | str | Path,
    runs: Run | RunFile | Iterable[Run | RunFile],
    metrics: Metrics = DEFAULT_METRICS,
    missing: Missing = "zero",
    *,
    level: float | None = None,
    method: str = "percentile",
    resamples: int = 10_000,
    seed: int = 0,
    design: SamplingDesign | None = None,
    scale_top: float | None = None,
    ranges: bool = True,
    overlap: bool = True,
    watch: Callable[[int], None] = lambda done: None,
    profile: Profile | None = None,
    processes: bool = False,
) -> Evaluation:
    """Score runs against labels, by trec_eval's rules.

    Documents stand by score descending, then id descending by bytes. The mean runs over the queries of the qrels;
    queries that only a run has are ignored and counted. An unjudged document gains 0.

    Parameters
    ----------
    qrels : Qrels or path
        The labels, or a file of them: qrels, or labels.jsonl of a judge, which the result names as ``machine``.
    runs : Run, RunFile or iterable of them
        The runs; their names must differ. A file is read in pieces and never held as a whole.
    metrics : str or iterable of str or BoundMetric
        Names such as ``"nDCG@10"``; one text may hold several.
    missing : {"zero", "skip"}
        A judged query that a run does not answer scores 0, or is left out of that run's mean.
    level : float, optional
        Coverage of an interval over queries, such as 0.95; none by default.
    method : {"percentile", "bca", "t"}
        How that interval is found.
    resamples, seed : int
        Of the bootstrap.
    design : SamplingDesign, optional
        Adds the weighted mean and the breakdown by tier.
    scale_top : float, optional
        The top grade of the scale, for metrics that ask for it; by default the largest grade of the qrels.
    ranges : bool
        Whether the diagnostics also tell how far ties and unjudged documents could move each mean, which takes about as
        long as the metrics themselves.
    overlap : bool
        Whether a run that has no document in common with the labels is refused. False where labels were taken out on
        purpose, and where the question is how much of a run is judged.
    watch : callable
        Called with the number of runs done, for a progress bar.
    profile : Profile, optional
        Takes down where the time goes.
    processes : bool
        Whether large files may be scored by processes that are forked from this one, rather than by threads.

    Returns
    -------
    Evaluation
        Means, values per query, diagnostics.

    Raises
    ------
    NotValid
        When two runs have one name, a metric is unknown, a run answers no judged query or has no judged document,
        or grades are beyond what can be computed with.
    UnreadableInput
        When a file cannot be read.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 3, "d2": 1, "d3": 0, "d4": 2, "d5": 0}})
    >>> bm25 = Run.from_dict({"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}, name="bm25")
    >>> result = evaluate(qrels, bm25, ["nDCG@3", "RR@3"])
    >>> round(result.runs[0].metrics["nDCG@3"].mean, 4)
    0.735
    """
    if isinstance(qrels, str | Path):
        qrels = _read_labels(str(qrels))
    if not isinstance(qrels, Qrels):
        raise NotValid(
            f"the labels must be Qrels or a path, not {type(qrels).__name__}; for a dict write Qrels.from_dict(...)"
        )
    many = [runs] if isinstance(runs, Run | RunFile) else list(runs)
    _check(qrels, many, missing)
    top = float(qrels.grades.max()) if scale_top is None else scale_top
    bound = tuple(metric.on_scale(top) for metric in bind(metrics))
    _check_top(bound, top)
    _check_subtopics(qrels, bound)
    grades = _grades(max(top, float(qrels.grades.max()))) if ranges else None
    clock = profile or Profile()
    scored = []
    task = _Task(qrels, bound, missing, grades, clock, overlap)
    for done, found in enumerate(_each(many, task, processes), 1):
        scored.append(found)
        watch(done)
    with clock.part("means"):
        return _summed_up(qrels, bound, many, scored, design or SamplingDesign(), (level, method, resamples, seed))


def _read_labels(path: str) -> Qrels:
    from judgments.formats.labels import load_labels

    return load_labels(path)[0]


def _each(runs: Sequence[Run | RunFile], task: _Task, processes: bool) -> Iterator[Scored]:
    """Score runs, several at once where they are files."""
    files = [run for run in runs if isinstance(run, RunFile)]
    workers = min(len(files), os.cpu_count() or 1, MOST_WORKERS) if len(files) > 1 else 1
    if workers < 2:
        yield from map(partial(_score, task), runs)
        return
    for file in files:
        file.threads = 1
    if processes and sum(file.size for file in files) > LARGE:
        from evaluation.metrics.in_processes import can_fork, shared_out

        if can_fork():
            # What all of them look up is made before they part.
            task.qrels.prepare()
            for run, (scored, report, seconds) in zip(
                runs, shared_out(runs, partial(_score_and_tell, task), workers), strict=True
            ):
                if isinstance(run, RunFile) and report is not None:
                    run.report = report
                task.clock.add(seconds)
                yield scored
            return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(workers)
    try:
        # numpy works outside of Python's lock.
        yield from pool.map(partial(_score, task), runs)
    finally:
        # An error in one file ends the work on all others.
        pool.shutdown(cancel_futures=True)


def _score_and_tell(task: _Task, run: Run | RunFile) -> tuple[Scored, Report | None, dict[str, float]]:
    """Score a run; return also what the process that asked does not see: the file's report, and where the time went."""
    own = replace(task, clock=Profile())
    scored = _score(own, run)
    return scored, run.report if isinstance(run, RunFile) else None, own.clock.seconds


def bind(metrics: Metrics) -> tuple[BoundMetric, ...]:
    """Return the metrics that names mean, each once.

    Raises
    ------
    NotValid
        When there is none, or a name cannot be read.
    """
    if isinstance(metrics, str):
        return parse_metrics(metrics)
    bound = [one for item in metrics for one in ((item,) if isinstance(item, BoundMetric) else parse_metrics(item))]
    if not bound:
        raise NotValid("no metric is named; write for example nDCG@10")
    return tuple({metric.name: metric for metric in bound}.values())


def _check(qrels: Qrels, runs: Sequence[Run | RunFile], missing: str) -> None:
    odd = next((run for run in runs if not isinstance(run, Run | RunFile)), None)
    if odd is not None:
        raise NotValid(f"a run is a Run or a RunFile, not {type(odd).__name__}; write Run.from_dict(...)")
    if missing not in ("zero", "skip"):
        raise NotValid(f"missing is zero or skip, not {missing!r}")
    if not qrels.query_ids:
        raise NotValid("the qrels hold no judgment; there is nothing to evaluate against")
    with np.errstate(over="ignore"):
        if not np.isfinite(np.abs(qrels.grades).sum()):
            raise NotValid("the grades of the qrels are too large to be added up; take grades of a scale")
    names = [run.name for run in runs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise NotValid(f"two runs are named {twice[0]!r}; give one of them another name, as in NAME=PATH")


def _check_top(metrics: Sequence[BoundMetric], top: float) -> None:
    """Let each metric refuse a top grade that it cannot compute with, whether or not a run returns its document."""
    if top > MOST_USUAL:
        for metric in metrics:
            if not metric.metric.by_subtopic:
                metric(JudgedRankings.of((1, {1: top}, [top])))


def _check_subtopics(qrels: Qrels, metrics: Sequence[BoundMetric]) -> None:
    needs = next((metric.name for metric in metrics if metric.metric.by_subtopic), None)
    if needs and qrels.subtopics is None:
        raise NotValid(
            f"the metric {needs} needs labels that tell subtopics apart, and these do not; take qrels with lines of "
            "query, subtopic, document, grade, and read them with --subtopics"
        )


@dataclass(frozen=True)
class _Task:
    """Everything but the run: what each run is scored with; without `grades` no ranges are computed."""

    qrels: Qrels
    metrics: Sequence[BoundMetric]
    missing: Missing
    grades: Floats | None
    clock: Profile
    overlap: bool


def _score(task: _Task, run: Run | RunFile) -> Scored:
    """Return the values, shape (queries, metrics), and what to know about the run."""
    if isinstance(run, Run):
        return _score_parts(task, run.name, [run])
    try:
        values, diagnostics = _score_parts(task, run.name, run.blocks())
    except Interleaved:
        values, diagnostics = _score_parts(task, run.name, [run.whole()])
    return values, replace(diagnostics, ranks_contradicted=run.report.codes.get("W40", 0))


def _score_parts(task: _Task, name: str, parts: Iterable[Run]) -> Scored:
    qrels, clock = task.qrels, task.clock
    values = np.full((qrels.queries, len(task.metrics)), np.nan if task.missing == "skip" else 0.0)
    findings, an_id, a_document, shared = Findings(), None, None, not task.overlap
    ranges = None if task.grades is None else _ranges(task.metrics, task.grades)
    for part in clock.each("reading", parts):
        with clock.part("matching"):
            found = match(qrels, part)
        with clock.part("metrics"):
            for at, metric in enumerate(task.metrics):
                values[found.codes, at] = metric(found.rankings)
        with clock.part("diagnostics"):
            findings.look(qrels, part, found)
            if ranges is not None:
                ranges.look(part, found)
            an_id = an_id or next(iter(part.query_ids), None)
            a_document = a_document or (part.doc_ids[0] if len(part.doc_ids) else None)
            shared = shared or bool(len(found.rows)) or shares_documents(qrels, part)
    if findings.answered == 0:
        raise NotValid(
            f"the run {name!r} answers none of the judged queries; "
            f"query ids look like {qrels.query_ids[0]!r} in the qrels and {an_id or 'none'!r} in the run"
        )
    if not shared and a_document is not None:
        raise NotValid(
            f"the run {name!r} returns none of the judged documents, for any query; document ids look like "
            f"{qrels.doc_ids[0]!r} in the qrels and {a_document!r} in the run; write both with the same ids"
        )
    with clock.part("diagnostics"):
        told = findings.diagnostics(qrels)
    if task.missing == "zero" and told.queries_missing:
        _score_unanswered(task, findings.unanswered(qrels), values)
    if ranges is not None:
        with clock.part("diagnostics"):
            told = replace(told, bounds=ranges.bounds(values), ties_at=ranges.ties(values))
    return values, told


def _grades(top: float) -> Floats:
    # Ranges are a dozen modules that a small evaluation without them need not import.
    from evaluation.metrics.bounds import scale_grades

    return scale_grades(top)


def _ranges(metrics: Sequence[BoundMetric], grades: Floats) -> Ranges:
    from evaluation.metrics.ranges import Ranges

    return Ranges(metrics, grades)


def _score_unanswered(task: _Task, query_ids: Sequence[str], values: Floats) -> None:
    """Score queries without results as empty rankings: 0 in all but counts of the labels and RBP's residual."""
    nothing = match(task.qrels, _empty(query_ids))
    for at, metric in enumerate(task.metrics):
        values[nothing.codes, at] = metric(nothing.rankings)


def _empty(query_ids: Sequence[str]) -> Run:
    """Return a run without documents."""
    return Run("", tuple(query_ids), np.zeros(len(query_ids) + 1, dtype=np.int64), Texts.of([]), np.zeros(0))


def _summed_up(
    qrels: Qrels,
    metrics: Sequence[BoundMetric],
    runs: Sequence[Run | RunFile],
    scored: Sequence[Scored],
    design: SamplingDesign,
    interval: tuple[float | None, str, int, int],
) -> Evaluation:
    level, method, resamples, seed = interval
    names, ids = [metric.name for metric in metrics], qrels.query_ids
    columns = np.concatenate([values for values, _ in scored], axis=1) if scored else np.zeros((qrels.queries, 0))
    kinds = [metric.metric.mean for metric in metrics] * len(scored)
    bounded = [metric.metric.bounded for metric in metrics] * len(scored)
    told = {"bounded": bounded, "level": level, "method": method, "resamples": resamples, "seed": seed}
    summaries = summarize(columns, kinds, ids, design=design, **told)  # type: ignore[arg-type]
    tiers = summarize_tiers(columns, kinds, ids, design=design, **told)  # type: ignore[arg-type]
    weights = design.weights_of(ids)
    found = []
    twins = with_twins([(run.name, diagnostics) for run, (_, diagnostics) in zip(runs, scored, strict=True)])
    for at, (run, (values, _), diagnostics) in enumerate(zip(runs, scored, twins, strict=True)):
        own = slice(at * len(names), (at + 1) * len(names))
        found.append(
            RunScores(
                name=run.name,
                metrics=dict(zip(names, summaries[own], strict=True)),
                per_query={name: values[:, place].copy() for place, name in enumerate(names)},
                diagnostics=diagnostics,
                by_tier={tier: dict(zip(names, of[own], strict=True)) for tier, of in tiers.items()},
            )
        )
    return Evaluation(
        query_ids=ids,
        metrics=tuple(names),
        runs=tuple(found),
        effective_queries=effective_queries(weights) if weights else None,
        bound=tuple(metrics),
        unreached=_unreached(qrels, metrics),
        machine=qrels.machine,
    )


def _unreached(qrels: Qrels, metrics: Sequence[BoundMetric]) -> dict[str, float]:
    """The metrics of which no grade reaches the threshold: they are 0 for every run, as for grades such as 0.37."""
    top = float(qrels.grades.max())
    levels = {metric.name: metric.parameters.get("rel") for metric in metrics}
    return {name: float(level) for name, level in levels.items() if isinstance(level, int | float) and top < level}
