"""Significance groups of the scored runs of a snapshot.

The test is that of ``assay compare``: a sign-flip test on the stored value of every query, with Holm's correction.
Without a baseline it covers all pairs of runs, and runs that share a letter do not differ significantly. With a
baseline, as in ``assay compare --baseline``, each other run is tested against it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evaluation.models import Score
from evaluation.scoring.metric_values import chance
from evaluation.scoring.scoring import SEED, drawn
from evaluation.scoring.stored_scores import mean_kind
from judgments.jobs.single_flight import compute_once
from judgments.models import Snapshot

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

ALPHA = 0.05
TEST, CORRECTION = "randomization", "holm"
NOTHING_IN_COMMON = "the runs have no queries in common"
MONTH = 30 * 24 * 3600


@dataclass(frozen=True)
class Against:
    """One run compared with another: the difference of their means with its interval and p-value."""

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    wins: int
    ties: int
    losses: int
    reason: str | None = None


@dataclass(frozen=True)
class SignificanceGroups:
    """Significance letters and differences of the runs of one table."""

    reference: str = ""
    baseline: bool = False
    letters: Mapping[str, str] = field(default_factory=dict)
    against: Mapping[str, Against] = field(default_factory=dict)
    queries: int = 0
    pairs: int = 0
    smallest_p: float | None = None
    reason: str = ""

    @property
    def blunt(self) -> bool:
        """Whether there are too few queries for any pair to pass the correction."""
        return self.smallest_p is not None and self.smallest_p * self.pairs >= ALPHA

    def in_words(self, run: str) -> str:
        """Return how a run compares with the reference, with its p-value; empty if nothing was tested."""
        if run == self.reference:
            return "baseline" if self.baseline else "highest mean"
        one = self.against.get(run)
        if one is None or one.p is None or one.difference is None:
            return ""
        other = "baseline" if self.baseline else self.reference
        p = f"(p {chance(one.p)})"
        if one.p >= ALPHA:
            return f"not significantly different from {other} {p}"
        return f"{'better' if one.difference > 0 else 'worse'} than {other} {p}"

    def as_json(self, metric: str) -> dict[str, Any]:
        """Return the letters as a dict, for the API."""
        plain = {"metric": metric, "letters": dict(self.letters), "queries": self.queries, "pairs": self.pairs}
        plain |= {"test": TEST, "correction": CORRECTION, "alpha": ALPHA}
        return plain | ({"reason": self.reason} if self.reason else {})

    def against_json(self, metric: str) -> dict[str, Any] | None:
        """Return every run compared with the baseline as a dict, for the API; None without a baseline."""
        if not self.baseline:
            return None
        runs = {name: {**asdict(one), "verdict": self.in_words(name)} for name, one in self.against.items()}
        plain = {"baseline": self.reference, "metric": metric, "runs": runs, "queries": self.queries}
        return plain | {"test": TEST, "correction": CORRECTION, "alpha": ALPHA}


def significance_groups(
    runs: Mapping[str, int],
    level: float,
    left_out: Collection[str] = (),
    traffic: Snapshot | None = None,
    baseline: str = "",
) -> SignificanceGroups:
    """Test every pair of runs, or each against the baseline, on the queries that all of them have."""
    if len(runs) < 2:
        return SignificanceGroups(reason="a single run cannot be compared")
    if baseline:
        runs = {baseline: runs[baseline], **runs}
    key_text = (
        f"{list(runs.items())} {list(_stamps(runs.values()))} {level} {sorted(left_out)} {traffic and traffic.pk}"
    )
    key_text += f" {baseline!r}"
    key = f"significance-groups:{hashlib.sha256(key_text.encode()).hexdigest()}"

    def tested() -> SignificanceGroups:
        return _tested(list(runs), _table(list(runs.values()), left_out, traffic), level, bool(baseline))

    return compute_once(key, tested, keep=MONTH)


def steps(pairs: Sequence[tuple[int, int]], left_out: Collection[str] = (), level: float = 0.95) -> list[Against]:
    """Compare given pairs of scores, second minus first, with Holm's correction over these pairs."""
    if not pairs:
        return []
    key_text = f"{pairs} {list(_stamps({pk for pair in pairs for pk in pair}))} {level} {sorted(left_out)}"
    key = f"steps:{hashlib.sha256(key_text.encode()).hexdigest()}"
    return compute_once(key, lambda: _stepped(pairs, left_out, level), keep=MONTH)


def _stepped(pairs: Sequence[tuple[int, int]], left_out: Collection[str], level: float) -> list[Against]:
    from assay.significance.corrections import corrected
    from assay.significance.paired_differences import paired_p_values

    tables = [_table(pair, left_out) for pair in pairs]
    tested = [paired_p_values(table.scores, [(0, 1)], test=TEST, seed=SEED).values[0] for table in tables]
    adjusted = corrected(tested, CORRECTION)
    return [_against(table, [(0, 1)], [p], level)[0] for table, p in zip(tables, adjusted, strict=True)]


def _stamps(scores: Collection[int]) -> Any:
    return Score.objects.filter(pk__in=scores).order_by("pk").values_list("pk", "computed_at")


@dataclass(frozen=True, eq=False)
class _Table:
    """The tested values of shape (queries, runs), with the weight and the tier of each query."""

    scores: Floats
    weights: list[float] | None = None
    strata: list[str] | None = None


def _table(scores: Sequence[int], left_out: Collection[str], traffic: Snapshot | None = None) -> _Table:
    """Return the values of shape (queries, runs) over the queries that all runs have scores for."""
    import numpy as np

    from assay.metrics.metric import GEOMETRIC_FLOOR

    rows = Score.objects.in_bulk(scores)
    columns: list[dict[str, Any]] = [rows[pk].per_query for pk in scores]
    common = sorted(set.intersection(*(set(column) for column in columns)) - set(left_out), key=str.encode)
    table = np.array([[column[query_id] for column in columns] for query_id in common]).reshape(-1, len(columns))
    geometric = mean_kind(rows[scores[0]].metric) == "geometric"
    values = np.log(np.maximum(table, GEOMETRIC_FLOOR)) if geometric else table
    if traffic is None:
        return _Table(values)
    design = drawn(traffic, common).design
    return _Table(values, design.weights_of(common), design.strata_of(common))


def _tested(names: Sequence[str], table: _Table, level: float, baseline: bool) -> SignificanceGroups:
    """Test the first run against the others and, without a baseline, the others against each other."""
    from assay.significance.corrections import corrected
    from assay.significance.paired_differences import paired_p_values
    from assay.significance.results import letters

    if not len(table.scores):
        return SignificanceGroups(reference=names[0], baseline=baseline, reason=NOTHING_IN_COMMON)
    firsts = [(0, at) for at in range(1, len(names))]
    pairs = firsts if baseline else list(combinations(range(len(names)), 2))
    p_values = paired_p_values(table.scores, pairs, test=TEST, seed=SEED, weights=table.weights, strata=table.strata)
    family = dict(zip(pairs, corrected(p_values.values, CORRECTION), strict=True))
    reason = next((reason for reason in p_values.reasons if reason), "")
    differing = {frozenset({names[a], names[b]}) for (a, b), p in family.items() if p is not None and p < ALPHA}
    return SignificanceGroups(
        reference=names[0],
        baseline=baseline,
        letters={} if reason or baseline else letters(names, differing),
        against=dict(zip(names[1:], _against(table, firsts, [family[pair] for pair in firsts], level), strict=True)),
        queries=len(table.scores),
        pairs=len(pairs),
        smallest_p=p_values.smallest,
        reason=reason,
    )


def _against(
    table: _Table, pairs: Sequence[tuple[int, int]], p_values: Sequence[float | None], level: float
) -> list[Against]:
    """Compare the given pairs of columns, second minus first."""
    from assay.significance.intervals import difference_intervals
    from assay.significance.results import effect

    if not len(table.scores):
        return [Against(None, None, None, None, 0, 0, 0, NOTHING_IN_COMMON)] * len(pairs)
    comparisons = []
    how: dict[str, Any] = {"level": level, "seed": SEED, "weights": table.weights, "strata": table.strata}
    intervals = difference_intervals(table.scores, pairs, **how)
    for (first, second), interval, p in zip(pairs, intervals, p_values, strict=True):
        size = effect(table.scores[:, first], table.scores[:, second], table.weights)
        fields = (size.difference, interval.low, interval.high, p, size.wins, size.ties, size.losses, interval.reason)
        comparisons.append(Against(*fields))
    return comparisons
