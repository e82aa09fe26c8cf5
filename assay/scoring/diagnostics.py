"""Diagnostics of a run: facts that affect the interpretation of its scores, and how far the order of tied documents and
missing judgments could move its means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import SPREAD, Texts
from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, Mask, Match
from assay.metrics.metric import TIE, BoundMetric, mean
from assay.metrics.metric_bounds import bounds, chosen, joined

if TYPE_CHECKING:
    from assay.scoring.results import Evaluation, RunScores
    from assay.significance.results import Comparison, PairComparison

TOP = 10
MOST_NAMED = 5


@dataclass(frozen=True)
class Depth:
    """Number of documents returned for the judged queries that the run answers."""

    min: int
    median: float
    max: int


@dataclass(frozen=True)
class Range:
    """The lowest and the highest mean."""

    low: float
    high: float


@dataclass(frozen=True)
class TiedRange(Range):
    """The lowest and the highest mean over all orders of tied documents."""

    queries: int = 0


@dataclass(frozen=True)
class Diagnostics:
    """Facts about a run that affect the interpretation of its scores."""

    rows: int
    ties: float
    duplicates: int
    queries_missing: int
    queries_unjudged: int
    queries_without_relevant: int
    holes: int
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    queries_negative: int = 0
    negative: int = 0
    least_judged: str | None = None
    float32_ties: int = 0
    depth: Depth | None = None
    ranks_contradicted: int = 0
    identical_to: tuple[str, ...] = ()
    fingerprint: int = 0
    ties_at: Mapping[str, TiedRange] = field(default_factory=dict)
    bounds: Mapping[str, Range] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the fields under the names of the JSON output."""
        depth = self.depth
        return {
            "rows": self.rows,
            "ties": self.ties,
            "duplicates": self.duplicates,
            "queries_missing": self.queries_missing,
            "queries_unjudged": self.queries_unjudged,
            "queries_without_relevant": self.queries_without_relevant,
            "queries_negative": self.queries_negative,
            "missing": list(self.missing),
            "unjudged": list(self.unjudged),
            "holes@10": self.holes,
            "negative@10": self.negative,
            "least_judged": self.least_judged,
            "float32_ties": self.float32_ties,
            "ranks_contradicted": self.ranks_contradicted,
            "identical_to": list(self.identical_to),
            "depth": depth and {"min": depth.min, "median": depth.median, "max": depth.max},
            "ties_at": {name: asdict(one) for name, one in self.ties_at.items()},
            "bounds": {name: asdict(one) for name, one in self.bounds.items()},
        }


@dataclass
class Findings:
    """Diagnostics of a run, collected while its parts are processed."""

    rows: int = 0
    tied: int = 0
    negative: int = 0
    float32_ties: int = 0
    fingerprint: int = 0
    unjudged: list[str] = field(default_factory=list)
    queries_unjudged: int = 0
    sizes: list[Integers] = field(default_factory=list)
    holes: list[Integers] = field(default_factory=list)
    codes: list[Integers] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """Return how many judged queries the run answers, as far as processed."""
        return sum(map(len, self.codes))

    def look(self, qrels: Qrels, run: Run, matched: Match) -> None:
        """Process some queries of the run."""
        rankings = matched.rankings
        top = rankings.ranks <= TOP
        self.rows += len(run)
        self.tied += run.tied_rows
        self.float32_ties += _float32_ties(run)
        self.negative += int(np.count_nonzero(rankings.grades[top] < 0))
        self.fingerprint = (self.fingerprint + _fingerprint(run)) % 2**64
        self.sizes.append(rankings.returned)
        self.holes.append(np.minimum(rankings.returned, TOP) - rankings.count(top))
        self.codes.append(matched.codes)
        foreign = run.queries - len(matched.codes)
        self.queries_unjudged += foreign
        if foreign:
            names = (query_id for query_id in run.query_ids if query_id not in qrels.codes)
            self.unjudged = sorted([*self.unjudged, *names])[:MOST_NAMED]

    def unanswered(self, qrels: Qrels) -> list[str]:
        """Return the judged queries that have not been processed."""
        if self.answered == qrels.queries:
            return []
        unanswered_mask = np.ones(qrels.queries, dtype=np.bool_)
        unanswered_mask[_joined(self.codes)] = False
        return [qrels.query_ids[at] for at in np.flatnonzero(unanswered_mask).tolist()]

    def diagnostics(self, qrels: Qrels) -> Diagnostics:
        """Return the diagnostics after the whole run was processed."""
        codes, sizes, holes = (_joined(parts) for parts in (self.codes, self.sizes, self.holes))
        missing = self.unanswered(qrels)
        best = qrels.highest
        return Diagnostics(
            rows=self.rows,
            ties=self.tied / self.rows if self.rows else 0.0,
            duplicates=qrels.duplicates,
            queries_missing=len(missing),
            queries_unjudged=self.queries_unjudged,
            queries_without_relevant=int(np.count_nonzero(best <= 0)),
            holes=int(holes.sum()),
            missing=tuple(missing[:MOST_NAMED]),
            unjudged=tuple(self.unjudged),
            queries_negative=int(np.count_nonzero(best < 0)),
            negative=self.negative,
            least_judged=_least_judged(qrels.query_ids, codes, sizes, holes),
            float32_ties=self.float32_ties,
            fingerprint=self.fingerprint,
            depth=Depth(int(sizes.min()), float(np.median(sizes)), int(sizes.max())) if len(sizes) else None,
        )


def _joined(parts: Sequence[Integers]) -> Integers:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _fingerprint(run: Run) -> int:
    """Return a sum over all rows, which does not depend on the order of the queries."""
    sizes = run.offsets[1:] - run.offsets[:-1]
    keys = run.doc_ids.keys() + np.repeat(Texts.of(run.query_ids).keys(), sizes) * SPREAD
    keys ^= keys >> np.uint64(32)
    ranks = np.arange(len(run)) - np.repeat(run.offsets[:-1], sizes)
    return int((keys * (2 * ranks + 1).astype(np.uint64)).sum(dtype=np.uint64))


def with_twins(named: Sequence[tuple[str, Diagnostics]]) -> list[Diagnostics]:
    """Add to each run the names of other runs with the same rankings."""
    by_fingerprint: dict[int, list[str]] = {}
    for name, one in named:
        by_fingerprint.setdefault(one.fingerprint, []).append(name)
    with_names = []
    for name, one in named:
        twins = tuple(twin for twin in by_fingerprint[one.fingerprint] if twin != name)
        with_names.append(one if one.identical_to == twins else replace(one, identical_to=twins))
    return with_names


def _float32_ties(run: Run) -> int:
    with np.errstate(over="ignore"):
        cut = run.scores.astype(np.float32)
    equal = cut[1:] == cut[:-1]
    if not equal.any():
        return 0
    equal &= run.scores[1:] != run.scores[:-1]
    equal[run.offsets[1:-1] - 1] = False
    return int(np.count_nonzero(equal))


def _least_judged(query_ids: Sequence[str], codes: Integers, sizes: Integers, holes: Integers) -> str | None:
    if not len(codes) or not holes.any():
        return None
    shares = holes / np.minimum(sizes, TOP)
    worst = codes[shares == shares.max()]
    return query_ids[int(worst.min())]


# With equal scores, the order depends on the document ids, which are arbitrary.
@dataclass(frozen=True, eq=False)
class Orders:
    """The queries of a run whose judged documents are tied with others."""

    places: Integers
    worst: JudgedRankings
    best: JudgedRankings
    block_query: Integers
    block_first: Integers
    block_last: Integers

    def crossing(self, cutoff: int) -> Integers:
        """Return the queries, as positions in ``places``, in which a block with different grades spans a rank."""
        queries = self.block_query[(self.block_first <= cutoff) & (self.block_last > cutoff)]
        return queries[np.diff(queries, prepend=-1) > 0]


def orders(run: Run, matched: Match, deepest: int) -> Orders | None:
    """Sort the tied documents of a run into their worst and best order.

    Examples
    --------
    >>> from assay.metrics.judged_rankings import match
    >>> from assay.core.qrels import Qrels
    >>> run = Run.from_dict({"q1": {"a": 2.0, "b": 1.0, "c": 1.0}})
    >>> of = orders(run, match(Qrels.from_dict({"q1": {"c": 3}}), run), 10)
    >>> of.worst.ranks, of.best.ranks, of.crossing(2)
    (array([3]), array([2]), array([0]))
    """
    of = blocks(run, matched, deepest)
    return None if of is None else of.orders()


@dataclass(frozen=True, eq=False)
class Blocks:
    """The judged documents that are tied with others."""

    matched: Match
    slots: Integers
    first: Integers
    last: Integers

    def orders(self) -> Orders | None:
        """Sort the blocks into their worst and best order; None if no block has different grades."""
        return _orders(self.matched.rankings, self.slots, self.first, self.last)


def blocks(run: Run, matched: Match, deepest: int) -> Blocks | None:
    """Find the blocks of equal scores with judged documents; parameters are those of `orders`."""
    tied = run.tied_with_next
    if not tied.any():
        return None
    behind = np.concatenate(([False], tied[:-1]))
    begins, ends = np.flatnonzero(tied & ~behind), np.flatnonzero(behind & ~tied)
    block = np.searchsorted(begins, matched.rows, side="right") - 1
    query = matched.rankings.query
    inside = (block >= 0) & (matched.rows <= ends[block])
    inside[inside] &= begins[block[inside]] - matched.starts[query[inside]] < deepest
    slots = np.flatnonzero(inside)
    if not len(slots):
        return None
    above = matched.starts[query[slots]] - 1
    return Blocks(matched, slots, begins[block[slots]] - above, ends[block[slots]] - above)


def _orders(rankings: JudgedRankings, slots: Integers, first: Integers, last: Integers) -> Orders | None:
    query, grades = rankings.query[slots], np.maximum(rankings.grades[slots], 0.0)
    heads = np.flatnonzero(np.diff(first, prepend=0) | np.diff(query, prepend=-1))
    sizes = np.diff(heads, append=len(slots))
    # A fully judged block may have a single grade; with an unjudged document its lowest grade is 0.
    lowest = np.where(sizes > last[heads] - first[heads], np.minimum.reduceat(grades, heads), 0.0)
    differ = np.maximum.reduceat(grades, heads) > lowest
    if not differ.any():
        return None
    # Slots are sorted by query, and so are blocks.
    of_block = query[heads][differ]
    new = np.diff(of_block, prepend=-1) > 0
    differing = np.repeat(differ, sizes)
    worst, best = _ordered(rankings, slots[differing], sizes[differ], first[differing], last[differing])
    places, ends = of_block[new], (first[heads][differ], last[heads][differ])
    return Orders(places, chosen(worst, places), chosen(best, places), np.cumsum(new) - 1, *ends)


def _ordered(
    rankings: JudgedRankings, slots: Integers, sizes: Integers, first: Integers, last: Integers
) -> Iterator[JudgedRankings]:
    """Yield the rankings with the grades of each block ascending, and then descending."""
    count = np.repeat(sizes, sizes)
    head = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(slots)) - head
    grades = rankings.grades[slots]
    ascending = grades[np.lexsort((grades, head))]
    for ordered, down in ((ascending, False), (ascending[head + count - 1 - place], True)):
        # Documents with a gain go to one end of the block and the other judged documents to the other end, with the
        # unjudged documents in between.
        upper = (ordered > 0) == down
        new_ranks, new_grades = rankings.ranks.copy(), rankings.grades.copy()
        new_ranks[slots] = np.where(upper, first + place, last + 1 - count + place)
        new_grades[slots] = ordered
        yield replace(rankings, ranks=new_ranks, grades=new_grades)


@dataclass
class Ranges:
    """Ranges of the means, collected while the parts of a run are processed.

    Only the ranks and grades of judged documents are kept, and evaluated together after the whole run.
    """

    metrics: Sequence[BoundMetric]
    grades: Floats
    _codes: list[Integers] = field(default_factory=list)
    _rankings: list[JudgedRankings] = field(default_factory=list)
    _tied: list[Blocks] = field(default_factory=list)

    def look(self, run: Run, matched: Match) -> None:
        """Process some queries of the run."""
        self._codes.append(matched.codes)
        self._rankings.append(matched.rankings)
        cutoffs = [one.cutoff for one in self.metrics if _is_cut(one)]
        tied = blocks(run, matched, int(max(cutoffs))) if cutoffs else None  # type: ignore[type-var, arg-type]
        if tied is not None:
            self._tied.append(tied)

    def bounds(self, values: Floats) -> dict[str, Range]:
        """Return the range of each mean over all grades of the unjudged documents that were returned within the
        cutoff."""
        codes, rankings = np.concatenate(self._codes), joined(self._rankings)
        by_metric = {}
        for at, metric in enumerate(self.metrics):
            of = bounds(metric, rankings, values[codes, at], self.grades)
            if of is not None and (means := _means(values[:, at], codes, of, metric)):
                by_metric[metric.name] = Range(*means)
        return by_metric

    def ties(self, values: Floats) -> dict[str, TiedRange]:
        """Return the range of each mean over all orders of tied documents, if they make a difference; as `bounds`."""
        tied = [(one.matched.codes, of) for one in self._tied if (of := one.orders()) is not None]
        if not tied:
            return {}
        codes = np.concatenate([codes[of.places] for codes, of in tied])
        worst, best = joined([of.worst for _, of in tied]), joined([of.best for _, of in tied])
        orders = [of for _, of in tied]
        by_metric = {}
        for at, metric in enumerate(self.metrics):
            if not _is_cut(metric):
                continue
            low, high = metric(worst), metric(best)
            if (high - low > TIE).any() and (means := _means(values[:, at], codes, (low, high), metric)):
                by_metric[metric.name] = TiedRange(*means, _crossing(orders, int(metric.cutoff or 0), high - low > TIE))
        return by_metric


def _crossing(tied: Sequence[Orders], cutoff: int, differs: Mask) -> int:
    """Return how many queries have a block across the cutoff whose order makes a difference."""
    first = np.cumsum([0, *(len(one.places) for one in tied)])
    return sum(
        int(np.count_nonzero(differs[begin + one.crossing(cutoff)]))
        for begin, one in zip(first[:-1].tolist(), tied, strict=True)
    )


def _is_cut(metric: BoundMetric) -> bool:
    return isinstance(metric.cutoff, int) and metric.response is not None


def _means(
    values: Floats, codes: Integers, of: tuple[Floats, Floats], metric: BoundMetric
) -> tuple[float, float] | None:
    """Return the means with other values for some queries; NaN if a query does not count."""
    bounds = []
    for changed in of:
        column = values.copy()
        column[codes] = changed
        bounds.append(mean(column[~np.isnan(column)].tolist(), metric.metric.mean))
    low, high = bounds
    return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class TieDoubt:
    """A mean that depends strongly on the order of tied documents."""

    run: str
    metric: str
    low: float
    high: float
    queries: int
    others: tuple[str, ...]


def tie_doubts(evaluation: Evaluation) -> list[TieDoubt]:
    """Find the means that the order of tied documents can move by over half of their interval, or past another run.

    Examples
    --------
    >>> from evaluation import evaluate
    >>> from assay.core import Qrels, Run
    >>> tied = Run.from_dict({"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, "tied")
    >>> plain = Run.from_dict({"q": {"b": 2.0, "a": 1.0}}, "plain")
    >>> found = evaluate(Qrels.from_dict({"q": {"a": 1}}), [tied, plain], "RR@10")
    >>> [(one.run, one.others) for one in tie_doubts(found)]
    [('tied', ('plain',))]
    """
    doubts = []
    for run in evaluation.runs:
        for metric, tied in run.diagnostics.ties_at.items():
            others = tuple(other.name for other in evaluation.runs if other is not run and _swap(run, other, metric))
            if others or tied.high - tied.low > _half_width(run, metric):
                doubts.append(TieDoubt(run.name, metric, tied.low, tied.high, tied.queries, others))
    return doubts


def _half_width(run: RunScores, metric: str) -> float:
    one = run.metrics[metric]
    return float("inf") if one.low is None or one.high is None else (one.high - one.low) / 2


def _swap(run: RunScores, other: RunScores, metric: str) -> bool:
    """Return whether other orders of both runs' tied documents could reverse the order of the runs."""
    first, second = run.metrics[metric].mean, other.metrics[metric].mean
    if first is None or second is None:
        return False
    mine, theirs = _range(run, metric, first), _range(other, metric, second)
    return mine[0] < theirs[1] if first > second else mine[1] > theirs[0]


def _range(run: RunScores, metric: str, mean: float) -> tuple[float, float]:
    tied = run.diagnostics.ties_at.get(metric)
    return (mean, mean) if tied is None else (tied.low, tied.high)


@dataclass(frozen=True)
class OpenPair:
    """Two runs that differ significantly although their bounds overlap."""

    pair: PairComparison
    a: Range
    b: Range

    @property
    def sentence(self) -> str:
        """Return the finding as a sentence."""
        ranges = [f"{one.low:.4f} to {one.high:.4f}" for one in (self.a, self.b)]
        return (
            f"{self.pair.a}, {self.pair.b}: {self.pair.metric} differs, but depending on the grades of "
            f"unjudged documents, the scores range from {ranges[0]} and from {ranges[1]}; these ranges overlap"
        )


def open_pairs(comparison: Comparison, evaluation: Evaluation, alpha: float) -> list[OpenPair]:
    """Find the pairs that differ at `alpha` although missing judgments could reverse the difference."""
    bounds = {run.name: run.diagnostics.bounds for run in evaluation.runs}
    open_ones = []
    for pair in comparison.pairs:
        first, second = bounds[pair.a].get(pair.metric), bounds[pair.b].get(pair.metric)
        if pair.differs(alpha) and first and second and first.low < second.high and second.low < first.high:
            open_ones.append(OpenPair(pair, first, second))
    return open_ones
