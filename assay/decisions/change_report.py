"""Report of a change for a pull request: the queries whose results changed, ranked by expected loss, with both lists,
the unjudged newcomers, and the decision with its interval.

The loss of a query is the baseline's value of the metric minus the candidate's. It is observed if every returned
document is judged. Otherwise it is expected: each unjudged document gets grades at random, as often as the judged
documents at similar ranks of the two runs have them, and the losses are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_rules import amount
from assay.decisions.decision_critical import SECONDS, Turning, metric_of, turning
from assay.decisions.gate_rules import Rule
from assay.decisions.gate_verdicts import GateResult
from assay.decisions.judging_task import Candidates, candidates
from assay.metrics.judged_rankings import Floats, Integers
from assay.metrics.metric import TIE, BoundMetric, parse_metric
from assay.metrics.metric_bounds import Grading, graded
from assay.scoring.evaluate import evaluate
from assay.significance.compare import Plan, compare_scores
from assay.significance.results import PairComparison

DEFAULT_METRIC = "nDCG@10"
DEPTH = 10
# Random grades of all unjudged documents; the standard error of a query's loss is below a tenth of its range.
DRAWS = 100
# Grades are counted in these ranges of ranks.
RANKS = np.array([1, 2, 3, 5, 10, 20, 50])
# The overall shares of the grades count as this many documents in each range.
PRIOR = 5.0
BASELINE, CANDIDATE = "baseline", "candidate"


@dataclass(frozen=True)
class Result:
    """One document in a list: its grade, None if unjudged, and its rank in the other list, None if it is not there."""

    doc_id: str
    rank: int
    grade: float | None
    other_rank: int | None


@dataclass(frozen=True)
class ChangedQuery:
    """A query whose first documents differ."""

    query_id: str
    weight: float
    baseline: float
    candidate: float
    expected_loss: float
    before: tuple[Result, ...]
    after: tuple[Result, ...]

    @property
    def loss(self) -> float:
        """Return the loss with unjudged documents counted as not relevant."""
        return self.baseline - self.candidate

    @property
    def newcomers(self) -> list[Result]:
        """Return the unjudged documents that only the candidate returns here."""
        return [one for one in self.after if one.grade is None and one.other_rank is None]


@dataclass(frozen=True)
class ChangeReport:
    """What a change does to the results of a search system."""

    gate: GateResult
    metric: str
    depth: int
    comparison: PairComparison
    level: float
    alpha: float
    means: tuple[float, float]
    expected_loss: float
    changed: tuple[ChangedQuery, ...]
    queries: int
    unlabeled: int
    turning: Turning | None
    seconds: float = SECONDS
    weighted: bool = False
    names: tuple[str, str] = (BASELINE, CANDIDATE)
    query_texts: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def newcomers(self) -> list[tuple[ChangedQuery, Result]]:
        """Return the unjudged newcomers, those of the queries with the largest expected losses first."""
        return [(query, result) for query in self.changed for result in query.newcomers]

    @property
    def unjudged(self) -> tuple[int, int]:
        """Return the number of unjudged documents in the lists of the baseline and of the candidate."""
        lists = ([query.before for query in self.changed], [query.after for query in self.changed])
        before, after = (sum(result.grade is None for results in run for result in results) for run in lists)
        return before, after

    @property
    def minutes(self) -> float:
        """Return the time that one rater needs to judge the newcomers."""
        return len(self.newcomers) * self.seconds / 60

    @property
    def verdict(self) -> str:
        """Return ``better``, ``worse`` or ``not significantly different``, by the metric."""
        if not self.comparison.differs(self.alpha):
            return "not significantly different"
        return "better" if (self.comparison.effect.difference or 0.0) > 0 else "worse"


def change_report(
    gate: GateResult,
    qrels: Qrels,
    baseline: Run,
    candidate: Run,
    *,
    metric: str | None = None,
    missing: Literal["zero", "skip"] = "zero",
    scale_top: float | None = None,
    weights: Mapping[str, float] | None = None,
    query_texts: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
    seed: int = 0,
) -> ChangeReport:
    """Compare the results of two runs query by query.

    Parameters
    ----------
    gate : GateResult
        The verdict, which the report states.
    metric : str, optional
        The metric of the losses; by default that of the first rule on a drop, or of the first rule, or nDCG@10.
    weights : dict, optional
        Weight of each query, such as its share of the traffic; by default all queries weigh the same.
    query_texts, titles : dict, optional
        Texts of queries and titles of documents by id.
    seconds : float
        Seconds per judgment.
    seed : int
        Seed of the random grades.

    Examples
    --------
    >>> from assay.decisions.gate import gate
    >>> qrels = Qrels.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"a": 1}})
    >>> old = Run.from_dict({"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}, "old")
    >>> new = Run.from_dict({"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}, "new")
    >>> report = change_report(gate(qrels, old, new, "drop(RR) <= 0.1"), qrels, old, new)
    >>> [(query.query_id, query.loss, query.expected_loss) for query in report.changed], report.means
    ([('q1', 0.5, 0.5)], (1.0, 0.75))
    """
    if not 0 < seconds < float("inf"):
        raise NotValid(f"the seconds per judgment are {seconds:g}; use a number above 0")
    names, level = (baseline.name, candidate.name), Plan().level
    if baseline.name == candidate.name:
        names = (f"{baseline.name} ({BASELINE})", f"{candidate.name} ({CANDIDATE})")
    old, new = baseline.named(BASELINE), candidate.named(CANDIDATE)
    one = _metric(metric, [verdict.rule for verdict in gate.verdicts])
    top = float(qrels.grades.max(initial=0.0)) if scale_top is None else scale_top
    scored = evaluate(qrels, [old, new], [one], missing, scale_top=scale_top, ranges=False)
    comparison = compare_scores(scored, baseline=BASELINE, plan=Plan(seed=seed))
    (pair,) = comparison.pairs
    values = np.column_stack([run.per_query[one.name] for run in scored.runs])
    depth = int(one.cutoff) if one.cutoff is not None else DEPTH
    pool = candidates(qrels, (old, new), depth if one.cutoff is not None else None)
    expected = _expected_losses(one.on_scale(top), pool, seed) if one.response is not None else None
    known = {query_id: place for place, query_id in enumerate(scored.query_ids)}
    share = _shares(scored.query_ids, weights)
    changed, losses, labels = [], 0.0, qrels.to_dict()
    for query_id in qrels.query_ids:
        place = known[query_id]
        if np.isnan(values[place]).any():
            continue
        before, after = old.ranking(query_id)[:depth], new.ranking(query_id)[:depth]
        first, second = values[place].tolist()
        loss = first - second if expected is None else float(expected[qrels.codes[query_id]])
        losses += share[query_id] * loss
        if before != after:
            lists = (_results(labels[query_id], *both) for both in ((before, after), (after, before)))
            changed.append(ChangedQuery(query_id, share[query_id], first, second, loss, *lists))
    changed.sort(key=lambda query: (-query.weight * query.expected_loss, query.query_id))
    return ChangeReport(
        gate=gate,
        metric=one.name,
        depth=depth,
        comparison=pair,
        level=level,
        alpha=Plan().alpha,
        means=(comparison.runs[BASELINE][one.name], comparison.runs[CANDIDATE][one.name]),
        expected_loss=losses,
        changed=tuple(changed),
        queries=qrels.queries,
        unlabeled=_changed_without_labels(qrels, old, new, depth),
        turning=_turning(one, qrels, old, new, missing, scale_top),
        seconds=seconds,
        weighted=weights is not None,
        names=names,
        query_texts=query_texts or {},
        titles=titles or {},
    )


def _metric(name: str | None, rules: Sequence[Rule]) -> BoundMetric:
    """Return the metric of the losses."""
    if name is not None:
        return parse_metric(name)
    ordered = [*(rule for rule in rules if rule.drop), *(rule for rule in rules if not rule.drop)]
    bound = [rule.metric for rule in ordered if isinstance(rule.metric, BoundMetric)]
    return next((one for one in bound if one.response is not None), parse_metric(DEFAULT_METRIC))


def _shares(query_ids: Sequence[str], weights: Mapping[str, float] | None) -> dict[str, float]:
    """Return the weights, which sum to 1."""
    given = {query_id: 1.0 if weights is None else weights.get(query_id, 0.0) for query_id in query_ids}
    total = sum(given.values())
    if not total > 0:
        raise NotValid("the weights of the judged queries sum to 0; give each query a weight above 0, or no weights")
    return {query_id: weight / total for query_id, weight in given.items()}


def _results(grades: Mapping[str, float], doc_ids: Sequence[str], others: Sequence[str]) -> tuple[Result, ...]:
    place = {doc_id: rank for rank, doc_id in enumerate(others, 1)}
    return tuple(Result(doc_id, rank, grades.get(doc_id), place.get(doc_id)) for rank, doc_id in enumerate(doc_ids, 1))


def _expected_losses(metric: BoundMetric, pool: Candidates, seed: int) -> Floats:
    """Return the loss of each query, averaged over random grades of its unjudged documents."""
    first, second = pool.rankings
    if not len(pool.query):
        observed: Floats = metric(first) - metric(second)
        return observed
    grades, shares = _shares_of_grades(pool)
    best = np.where(pool.ranks > 0, pool.ranks, np.iinfo(np.int64).max).min(axis=0)
    limits = np.cumsum(shares, axis=1)[_range_of(best)]
    chance = np.random.default_rng(seed)
    total = np.zeros(first.queries)
    for _ in range(DRAWS):
        drawn = (chance.random(len(best))[:, np.newaxis] >= limits[:, :-1]).sum(axis=1)
        new = [Grading(pool.query, ranks, grades[drawn]) for ranks in pool.ranks]
        total += metric(graded(first, new[0])) - metric(graded(second, new[1]))
    mean: Floats = total / DRAWS
    return mean


def _range_of(ranks: Integers) -> Integers:
    return np.minimum(np.searchsorted(RANKS, ranks), len(RANKS) - 1)


def _shares_of_grades(pool: Candidates) -> tuple[Floats, Floats]:
    """Return the grades, and their shares among the judged documents in each range of ranks."""
    ranks = np.concatenate([one.ranks for one in pool.rankings])
    labels = np.maximum(np.concatenate([one.grades for one in pool.rankings]), 0.0)
    near = ranks <= RANKS[-1]
    # If the runs return no judged document, every unjudged document counts as not relevant.
    grades, codes = np.unique(labels[near] if near.any() else np.zeros(1), return_inverse=True)
    counts = np.zeros((len(RANKS), len(grades)))
    if near.any():
        np.add.at(counts, (_range_of(ranks[near]), codes), 1.0)
    overall = counts.sum(axis=0) if near.any() else np.ones(1)
    counts += PRIOR * overall / overall.sum()
    return grades, counts / counts.sum(axis=1, keepdims=True)


def _changed_without_labels(qrels: Qrels, old: Run, new: Run, depth: int) -> int:
    """Count the changed queries that no metric can score."""
    others = {*old.query_ids, *new.query_ids} - set(qrels.query_ids)
    return sum(old.ranking(query_id)[:depth] != new.ranking(query_id)[:depth] for query_id in others)


def _turning(
    metric: BoundMetric, qrels: Qrels, old: Run, new: Run, missing: Literal["zero", "skip"], scale_top: float | None
) -> Turning | None:
    """Return the decision-critical pairs; None for metrics that have none."""
    try:
        metric_of(metric)
        return turning(qrels, old, new, metric, missing=missing, scale_top=scale_top)
    except NotValid:
        return None


def direction(query: ChangedQuery) -> Literal["loss", "gain", "even"]:
    """Return whether a query is expected to lose, to gain, or to stay the same."""
    if abs(query.expected_loss) <= TIE:
        return "even"
    return "loss" if query.expected_loss > 0 else "gain"


def decision(report: ChangeReport) -> str:
    """Return the decision in one line: the verdict of the gate, and the difference with its interval."""
    gate = report.gate
    verdict = "Passed" if gate.passed else f"Failed by {amount(gate.failures, 'rule')}"
    return f"{verdict}. {report.names[1]} is {report.verdict} by {report.metric}: {difference(report)}"


def difference(report: ChangeReport) -> str:
    """Return both means, and the difference with its interval, p and number of queries."""
    pair, (before, after) = report.comparison, report.means
    inside = [f"p {pair.p:.3g}"] if pair.p is not None else []
    if pair.low is not None and pair.high is not None:
        inside.insert(0, f"{report.level:.0%} CI {points(pair.low)} to {points(pair.high)}")
    about = ", ".join([*inside, amount(pair.queries, "query", "queries")])
    change = pair.effect.difference
    return f"{before:.4f} to {after:.4f}, {points(change) if change is not None else 'undefined'} ({about})"


def summary(report: ChangeReport) -> list[str]:
    """Return sentences about the changed queries, the newcomers and what judging them could do."""
    changed, newcomers = report.changed, len(report.newcomers)
    judged = amount(report.queries, "judged query", "judged queries")
    lines = [f"The first {report.depth} results differ for {len(changed):,} of {judged}."]
    if report.unlabeled:
        others = amount(report.unlabeled, "query", "queries")
        lines[0] += f" They also differ for {others} without labels, which no metric covers."
    if report.comparison.reason:
        lines.append(f"{report.comparison.reason[:1].upper()}{report.comparison.reason[1:]}.")
    if changed:
        weights = " weighted by traffic" if report.weighted else ""
        assumption = ", if unjudged documents have the grades of judged documents at similar ranks"
        lines.append(
            f"Expected change of {report.metric}{weights}: {points(-report.expected_loss)}"
            f"{assumption if any(report.unjudged) else ''}.{_favored(report)}"
        )
    if newcomers:
        entered, them = amount(newcomers, "unjudged document"), "it" if newcomers == 1 else "them"
        cost = f"about {minutes(report)} at {report.seconds:g} s each"
        lines.append(f"{entered} entered the results. Judging {them} takes {cost}.")
    if report.turning is not None and (report.turning.pairs or report.turning.reason):
        sentence = report.turning.sentence(report.seconds)
        lines.append(f"{sentence[:1].upper()}{sentence[1:]}.")
    return lines


def _favored(report: ChangeReport) -> str:
    """Return a sentence on the run that random grades favor: that with more unjudged documents."""
    old, new = report.unjudged
    if old == new or all(query.expected_loss == query.loss for query in report.changed):
        return ""
    name, (fewer, more) = report.names[new > old], sorted((old, new))
    return (
        f" They usually have lower grades, so this favors {name}, with {more:,} unjudged documents against {fewer:,}."
    )


def minutes(report: ChangeReport) -> str:
    """Return the time to judge the newcomers."""
    number = report.minutes
    return "1 minute" if number <= 1 else f"{number:,.0f} minutes"


def points(value: float) -> str:
    """Return a signed difference with four decimals and a true minus sign.

    Examples
    --------
    >>> points(-0.25), points(0.0), points(0.1)
    ('−0.2500', '0.0000', '+0.1000')
    """
    text = f"{value:+.4f}"
    return "0.0000" if float(text) == 0 else text.replace("-", "−")


def grade(result: Result) -> str:
    """Return the grade of a result."""
    return "unjudged" if result.grade is None else f"grade {result.grade:g}"


def move(result: Result, alone: str) -> str:
    """Return where the result is in the other list: the given word if it is not there, nothing at the same rank.

    Examples
    --------
    >>> move(Result("d1", 3, None, None), "new"), move(Result("d1", 3, 1.0, 1), "new")
    ('new', 'other rank 1')
    """
    if result.other_rank is None:
        return alone
    return "" if result.other_rank == result.rank else f"other rank {result.other_rank}"
