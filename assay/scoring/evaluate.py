"""Evaluation of runs against labels, by trec_eval's rules."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NoReturn, TypeVar

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import Texts
from assay.formats.trec_run import Interleaved, RunFile
from assay.metrics import DEFAULT_METRICS
from assay.metrics.judged_rankings import Floats, JudgedRankings, match, shares_documents
from assay.metrics.metric import BoundMetric, effective_queries, parse_metrics
from assay.metrics.metric_bounds import scale_grades
from assay.scoring.diagnostics import Diagnostics, Findings, Ranges, with_twins
from assay.scoring.results import Evaluation, Profile, RunScores, SamplingDesign, summarize, summarize_tiers

if TYPE_CHECKING:
    from assay.core.read_report import Report


Item = TypeVar("Item")
Result = TypeVar("Result")

# Maximum number of results that a process may have ready in advance.
ROOM = 1 << 20
F_SETPIPE_SZ = 1031


# Work shared among processes: a forked process for each share, without copying data. Python threads wait for each
# other outside numpy, where runs of a few thousand rows spend most of their time. The calling process also takes a
# share.
def can_fork() -> bool:
    """Return whether this process may be forked; a fork of a process with several threads can deadlock."""
    return sys.platform == "linux" and threading.active_count() == 1


def shared_out(items: Sequence[Item], work: Callable[[Item], Result], processes: int) -> Iterator[Result]:
    """Yield the result of the work on each item, in order; errors are raised at their position."""
    sys.stdout.flush()
    sys.stderr.flush()
    children: list[tuple[int, BinaryIO]] = []
    try:
        for share in range(1, min(processes, len(items))):
            children.append(_child(items[share::processes], work, [pipe for _, pipe in children]))
        for place, item in enumerate(items):
            share = place % processes
            yield work(item) if share == 0 else _received(children[share - 1][1], item, work)
    finally:
        for process, pipe in children:
            pipe.close()
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _child(items: Sequence[Item], work: Callable[[Item], Result], others: list[BinaryIO]) -> tuple[int, BinaryIO]:
    """Start a process with a share; return its id and the source of its results."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        for pipe in others:
            pipe.close()
        _work_off(items, work, write)
    os.close(write)
    return process, os.fdopen(read, "rb")


def _work_off(items: Sequence[Item], work: Callable[[Item], Result], write: int) -> NoReturn:
    try:
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(write, F_SETPIPE_SZ, ROOM)
        with os.fdopen(write, "wb") as pipe:
            for item in items:
                try:
                    payload = pickle.dumps((True, work(item)), pickle.HIGHEST_PROTOCOL)
                except Exception as error:
                    payload = pickle.dumps((False, error))
                pipe.write(payload)
                pipe.flush()
    finally:
        # Exit without ending or flushing anything of the forked process.
        os._exit(0)


def _received(pipe: BinaryIO, item: Item, work: Callable[[Item], Result]) -> Result:
    """Return the next result of a process; if it has died, do its work here."""
    try:
        fine, payload = pickle.load(pipe)  # noqa: S301 - our own process wrote it
    except (EOFError, pickle.UnpicklingError):
        return work(item)
    if not fine:
        raise payload
    result: Result = payload
    return result


Scored = tuple[Floats, Diagnostics]
Metrics = str | BoundMetric | Iterable[Any]
Missing = Literal["zero", "skip"]

MOST_WORKERS = 8
# For smaller files, starting the processes would take longer than the work.
LARGE = 4 << 20
# Grades above this do not belong to a human scale.
MOST_USUAL = 100


def evaluate(
    qrels: Any,
    runs: Any,
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

    Documents are sorted by score descending, then id descending by bytes. The mean runs over the queries of the qrels;
    queries that only a run has are ignored and counted. An unjudged document gains 0.

    Parameters
    ----------
    qrels : path, dict, DataFrame, iterable or Qrels
        The labels, in any form that `assay.read_qrels` accepts. A file may be labels.jsonl of a judge, which the result
        reports as ``machine``.
    runs : path, dict, DataFrame, Run, RunFile, or several of them in a sequence or by name in a dict
        The runs, in any form that `assay.formats.qrels_and_runs.read_runs` accepts; their names must differ. A file is
        read in pieces and never kept in memory as a whole.
    metrics : str, BoundMetric, metric of ir_measures, or iterable of them
        Names such as ``"nDCG@10"``; a text may contain several.
    missing : {"zero", "skip"}
        Whether a judged query that a run does not answer scores 0 or is left out of that run's mean.
    level : float, optional
        Coverage of an interval over queries, such as 0.95; none by default.
    method : {"percentile", "bca", "t"}
        Interval method.
    resamples, seed : int
        Number of resamples and seed of the bootstrap.
    design : SamplingDesign, optional
        Adds the weighted mean and the breakdown by tier.
    scale_top : float, optional
        The top grade of the scale, for metrics that need it; by default the largest grade of the qrels.
    ranges : bool
        Whether to compute how far ties and unjudged documents could move each mean, which takes about as long as the
        metrics themselves.
    overlap : bool
        Whether to reject a run that answers no judged query, or has no documents in common with the labels. False if
        labels were removed on purpose, or to measure how much of a run is judged.
    watch : callable
        Called with the number of runs done, for a progress bar.
    profile : Profile, optional
        Records the time of each step.
    processes : bool
        Whether to score large files in forked processes instead of threads.

    Returns
    -------
    Evaluation
        Means, scores per query, and diagnostics.

    Raises
    ------
    NotValid
        When two runs have the same name, a metric is unknown, a run answers no judged query or has no judged document,
        or grades are too large to compute with.
    UnreadableInput
        When a file cannot be read.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 3, "d2": 1, "d3": 0, "d4": 2, "d5": 0}})
    >>> bm25 = Run.from_dict({"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}, name="bm25")
    >>> result = evaluate(qrels, bm25, ["nDCG@3", "RR@3"])
    >>> round(result.runs[0].metrics["nDCG@3"].mean, 4)
    0.735
    >>> evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d2": 2.0, "d1": 1.0}}}, "RR").to_rows()[0]["mean"]
    0.5
    """
    qrels, many = _read(qrels, runs)
    _check(qrels, many, missing)
    highest = float(qrels.highest.max())
    top = highest if scale_top is None else scale_top
    bound = tuple(metric.on_scale(top) for metric in bind(metrics))
    _check_top(bound, top)
    _check_subtopics(qrels, bound)
    grades = scale_grades(max(top, highest)) if ranges else None
    clock = profile or Profile()
    scored = []
    task = _Task(qrels, bound, missing, grades, clock, overlap)
    for done, part in enumerate(_each(many, task, processes), 1):
        scored.append(part)
        watch(done)
    with clock.part("means"):
        return _summed_up(qrels, bound, many, scored, design or SamplingDesign(), (level, method, resamples, seed))


def _read(qrels: Any, runs: Any) -> tuple[Qrels, list[Run | RunFile]]:
    if isinstance(qrels, Qrels) and isinstance(runs, list) and all(isinstance(run, Run | RunFile) for run in runs):
        return qrels, runs
    from assay.formats.qrels_and_runs import read_qrels, read_runs

    return read_qrels(qrels), read_runs(runs)


def _each(runs: Sequence[Run | RunFile], task: _Task, processes: bool) -> Iterator[Scored]:
    """Score runs, several at once if they are files."""
    files = [run for run in runs if isinstance(run, RunFile)]
    workers = min(len(files), os.cpu_count() or 1, MOST_WORKERS) if len(files) > 1 else 1
    if workers < 2:
        yield from map(partial(_score, task), runs)
        return
    for file in files:
        file.threads = 1
    if processes and sum(file.size for file in files) > LARGE and can_fork():
        # Build shared lookup tables before forking.
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
        # numpy releases Python's global lock.
        yield from pool.map(partial(_score, task), runs)
    finally:
        # An error in one file ends the work on all others.
        pool.shutdown(cancel_futures=True)


def _score_and_tell(task: _Task, run: Run | RunFile) -> tuple[Scored, Report | None, dict[str, float]]:
    """Score a run; also return the file's report and the time of each step for the calling process."""
    own = replace(task, clock=Profile())
    scored = _score(own, run)
    return scored, run.report if isinstance(run, RunFile) else None, own.clock.seconds


def bind(metrics: Metrics) -> tuple[BoundMetric, ...]:
    """Return the distinct metrics with these names."""
    if isinstance(metrics, str):
        return parse_metrics(metrics)
    if isinstance(metrics, BoundMetric) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    # A metric of ir_measures is written as its name.
    bound = [
        one for item in metrics for one in ((item,) if isinstance(item, BoundMetric) else parse_metrics(str(item)))
    ]
    if not bound:
        raise NotValid("no metric was named; write a metric such as nDCG@10")
    return tuple({metric.name: metric for metric in bound}.values())


def _check(qrels: Qrels, runs: Sequence[Run | RunFile], missing: str) -> None:
    if missing not in ("zero", "skip"):
        raise NotValid(f"missing must be zero or skip, not {missing!r}")
    if not qrels.query_ids:
        raise NotValid("the qrels contain no judgments, so there is nothing to evaluate against")
    if not qrels.summable:
        raise NotValid("the grades of the qrels are too large to add up; use grades on a scale")
    names = [run.name for run in runs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise NotValid(f"two runs are named {twice[0]!r}; rename one of them, as in NAME=PATH")


def _check_top(metrics: Sequence[BoundMetric], top: float) -> None:
    """Let each metric reject a top grade that it cannot compute with, even if no run returns such a document."""
    if top > MOST_USUAL:
        for metric in metrics:
            if not metric.metric.by_subtopic:
                metric(JudgedRankings.of((1, {1: top}, [top])))


def _check_subtopics(qrels: Qrels, metrics: Sequence[BoundMetric]) -> None:
    needs = next((metric.name for metric in metrics if metric.metric.by_subtopic), None)
    if needs and qrels.subtopics is None:
        raise NotValid(
            f"the metric {needs} needs labels by subtopic, but these labels have no subtopics; use qrels with "
            "lines of query, subtopic, document and grade, and read them with --subtopics"
        )


@dataclass(frozen=True)
class _Task:
    """Everything needed to score a run; without `grades` no ranges are computed."""

    qrels: Qrels
    metrics: Sequence[BoundMetric]
    missing: Missing
    grades: Floats | None
    clock: Profile
    overlap: bool


def _score(task: _Task, run: Run | RunFile) -> Scored:
    """Return the values, shape (queries, metrics), and the diagnostics of the run."""
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
    ranges = None if task.grades is None else Ranges(task.metrics, task.grades)
    for part in clock.each("reading", parts):
        with clock.part("matching"):
            matched = match(qrels, part)
        with clock.part("metrics"):
            for at, metric in enumerate(task.metrics):
                values[matched.codes, at] = metric(matched.rankings)
        with clock.part("diagnostics"):
            findings.look(qrels, part, matched)
            if ranges is not None:
                ranges.look(part, matched)
            an_id = an_id or next(iter(part.query_ids), None)
            a_document = a_document or (part.doc_ids[0] if len(part.doc_ids) else None)
            shared = shared or bool(len(matched.rows)) or shares_documents(qrels, part)
    if findings.answered == 0 and task.overlap:
        raise NotValid(
            f"the run {name!r} answers none of the judged queries; "
            f"query ids look like {qrels.query_ids[0]!r} in the qrels and {an_id or 'none'!r} in the run"
        )
    if not shared and a_document is not None:
        raise NotValid(
            f"the run {name!r} returns none of the judged documents, for any query; document ids look like "
            f"{qrels.doc_ids[0]!r} in the qrels and {a_document!r} in the run; use the same ids in both"
        )
    with clock.part("diagnostics"):
        diagnostics = findings.diagnostics(qrels)
    if task.missing == "zero" and diagnostics.queries_missing:
        _score_unanswered(task, findings.unanswered(qrels), values)
    if ranges is not None:
        with clock.part("diagnostics"):
            diagnostics = replace(diagnostics, bounds=ranges.bounds(values), ties_at=ranges.ties(values))
    return values, diagnostics


def _score_unanswered(task: _Task, query_ids: Sequence[str], values: Floats) -> None:
    """Score queries without results as empty rankings: 0 except for counts of labels and RBP's residual."""
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
    settings = {"bounded": bounded, "level": level, "method": method, "resamples": resamples, "seed": seed}
    summaries = summarize(columns, kinds, ids, design=design, **settings)  # type: ignore[arg-type]
    tiers = summarize_tiers(columns, kinds, ids, design=design, **settings)  # type: ignore[arg-type]
    weights = design.weights_of(ids)
    runs_scored = []
    twins = with_twins([(run.name, diagnostics) for run, (_, diagnostics) in zip(runs, scored, strict=True)])
    for at, (run, (values, _), diagnostics) in enumerate(zip(runs, scored, twins, strict=True)):
        own = slice(at * len(names), (at + 1) * len(names))
        runs_scored.append(
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
        runs=tuple(runs_scored),
        effective_queries=effective_queries(weights) if weights else None,
        bound=tuple(metrics),
        unreached=_unreached(qrels, metrics),
        machine=qrels.machine,
    )


def _unreached(qrels: Qrels, metrics: Sequence[BoundMetric]) -> dict[str, float]:
    """Return the metrics whose threshold no grade reaches, so that they are 0 for every run, as with grades such as
    0.37."""
    top = float(qrels.highest.max())
    levels = {metric.name: metric.parameters.get("rel") for metric in metrics}
    return {name: float(level) for name, level in levels.items() if isinstance(level, int | float) and top < level}
