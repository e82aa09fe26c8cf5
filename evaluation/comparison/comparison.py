"""Query-by-query comparison of two scored runs, with a test of the mean difference.

The numbers come from `assay.significance`, which ``assay compare`` also uses, so page and command cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotAllowed, NotValid
from assay.metrics.metric import TIE
from evaluation.freshness import freshness
from evaluation.models import Score, Scoring
from evaluation.scoring.scoring import Drawn, drawn
from evaluation.scoring.stored_scores import StoredDiagnostics, mean_kind
from judgments.jobs.single_flight import compute_once, hashed_key
from judgments.models.snapshot import FILES

if TYPE_CHECKING:
    from assay.scoring.results import Evaluation, SamplingDesign

OUTCOMES = ("better", "equal", "worse")
DAY = 24 * 3600
# Scoring primary key and metric to the scores by query id.
Values = dict[tuple[int, str], dict[str, float]]


@dataclass(frozen=True)
class Difference:
    """One query with its scores for both runs; ``value`` is b - a."""

    query_id: str
    a: float
    b: float

    @property
    def value(self) -> float:
        apart = self.b - self.a
        return 0.0 if abs(apart) <= TIE else apart

    @property
    def outcome(self) -> str:
        """Return ``better``, ``equal`` or ``worse``, for run b."""
        return "better" if self.value > 0 else "worse" if self.value < 0 else "equal"


@dataclass(frozen=True)
class Comparison:
    """Comparison of run b with run a under one metric."""

    metric: str
    a: Scoring
    b: Scoring
    differences: list[Difference]
    report: Mapping[str, Any]
    drawn: Drawn | None = None
    weighted: bool = False
    left_out: tuple[str, ...] = ()
    withheld: frozenset[str] = field(default_factory=frozenset)

    @property
    def pair(self) -> Mapping[str, Any]:
        """Difference, interval, p-value and effect size of b and a, as ``assay compare`` reports them."""
        pairs: list[dict[str, Any]] = self.report["pairs"]
        return next(pair for pair in pairs if (pair["a"], pair["b"]) == (self.a.run.name, self.b.run.name))

    @property
    def settings(self) -> Mapping[str, Any]:
        """Test, correction, number of draws, seed and level."""
        settings: dict[str, Any] = self.report["settings"]
        return settings

    @property
    def family(self) -> int:
        """Number of comparisons that are corrected together: all pairs of the snapshot's runs."""
        return int(self.settings["family"])

    @property
    def tiers(self) -> Mapping[str, str]:
        """Query id to tier; empty unless every query has a tier."""
        return self.drawn.design.tiers if self.drawn else {}

    @property
    def ordered(self) -> list[Difference]:
        """The differences in the order of the qrels, which the random draws depend on."""
        return sorted(self.differences, key=lambda one: one.query_id.encode())

    def count(self, outcome: str) -> int:
        """Count the queries that are ``better``, ``equal`` or ``worse`` for b."""
        return sum(one.outcome == outcome for one in self.differences)


def named(scorings: Sequence[Scoring], text: str) -> Scoring | None:
    """Return the scoring of the run with this id or name."""
    return next((one for one in scorings if text in (str(one.run.uuid), one.run.name)), None)


def compare(
    a: Scoring,
    b: Scoring,
    metric: str,
    *,
    others: Iterable[Scoring] = (),
    withheld: frozenset[str] = frozenset(),
    weighted: bool = False,
) -> Comparison:
    """Compare two runs query by query."""
    if a.snapshot_id != b.snapshot_id:
        raise NotValid("These runs have scores on different snapshots. Score both on the same one.")
    family = [a, b, *sorted((one for one in others if one not in (a, b)), key=lambda one: one.run.name)]
    values = values_of(family, [metric])
    for one in (a, b):
        if (one.pk, metric) not in values:
            raise NotValid(f"{one.run} has no score for {metric} on {one.snapshot}.")
    both = common(values, a, b, metric, withheld)
    if not both:
        raise _nothing_left(metric, withheld)
    draw = drawn(a.snapshot, both)
    if weighted and draw.reason:
        raise NotValid(f"No mean weighted by traffic: {draw.reason}.")
    first, second = values[a.pk, metric], values[b.pk, metric]
    differences = [Difference(query_id, first[query_id], second[query_id]) for query_id in both]
    columns = {
        one.run.name: [values[one.pk, metric][query_id] for query_id in both]
        for one in family
        if values.get((one.pk, metric), {}).keys() >= set(both)
    }
    return Comparison(
        metric=metric,
        a=a,
        b=b,
        differences=sorted(differences, key=lambda one: (-one.value, one.query_id.encode())),
        report=report(metric, both, columns, draw.design if weighted else None),
        drawn=draw,
        weighted=weighted,
        left_out=tuple(one.run.name for one in family if one.run.name not in columns),
        withheld=withheld,
    )


def as_json(comparison: Comparison, *, every_pair: bool = False) -> dict[str, Any]:
    """Return the format of ``assay compare --format json`` with the snapshot's id."""
    snapshot = comparison.a.snapshot
    family = Scoring.objects.filter(snapshot=snapshot, run__name__in=comparison.report["runs"]).select_related("run")
    files = {one.run.name: {"path": one.run.filename, "sha256": one.run.sha256} for one in family}
    entry = snapshot.entry(FILES["trec-qrels"])
    return {
        "snapshot": str(snapshot.uuid),
        **comparison.report,
        "pairs": comparison.report["pairs"] if every_pair else [comparison.pair],
        "qrels": {
            "path": entry["path"],
            "sha256": entry["sha256"],
            "queries": snapshot.summary["queries"],
            "judgments": snapshot.summary["labels"],
        },
        "files": {name: files[name] for name in comparison.report["runs"]},
        "left_out": len(comparison.withheld),
        "freshness": freshness.look(snapshot).as_json(),
    }


def values_of(scorings: Sequence[Scoring], metrics: Sequence[str]) -> Values:
    """Return the score of each query that has one."""
    rows = Score.objects.filter(scoring__in=scorings, metric__in=metrics)
    return {
        (scoring, metric): {query_id: value for query_id, value in values.items() if value is not None}
        for scoring, metric, values in rows.values_list("scoring_id", "metric", "per_query")
    }


def common(values: Values, a: Scoring, b: Scoring, metric: str, withheld: frozenset[str]) -> list[str]:
    """Return the queries that both runs have scores for, in the order of the qrels."""
    first, second = (values.get((one.pk, metric), {}) for one in (a, b))
    return sorted((first.keys() & second.keys()) - withheld, key=str.encode)


def report(
    metric: str, query_ids: Sequence[str], columns: Mapping[str, Sequence[float]], design: SamplingDesign | None = None
) -> dict[str, Any]:
    """Return the report of ``assay compare --format json``, cached because it takes a hundred thousand draws."""
    weights = [design.weights_of(query_ids), design.strata_of(query_ids)] if design else []

    def compare() -> dict[str, Any]:
        from assay.significance.compare import compare_scores

        return compare_scores(_evaluation(metric, query_ids, columns), design=design).as_json()

    return compute_once(
        hashed_key("compare", metric, list(columns), list(columns.values()), weights), compare, keep=DAY
    )


def tested(metric: str, values: Sequence[float]) -> Any:
    """Return the values whose plain mean is compared: logarithms if the metric's mean is geometric."""
    import numpy as np

    from assay.metrics.metric import GEOMETRIC_FLOOR

    array = np.asarray(values, dtype=np.float64)
    return np.log(np.maximum(array, GEOMETRIC_FLOOR)) if mean_kind(metric) == "geometric" else array


def _nothing_left(metric: str, withheld: frozenset[str]) -> NotAllowed | NotValid:
    if not withheld:
        return NotValid(f"No query has a value of {metric} for both runs.")
    return NotAllowed(
        "You may still have to grade documents of every query of this comparison, and its numbers would reveal other "
        "raters' grades. You can see them after you have finished rating, or after the round is closed."
    )


def _evaluation(metric: str, query_ids: Sequence[str], columns: Mapping[str, Sequence[float]]) -> Evaluation:
    """Build an evaluation from the stored values, with the parts that a comparison reads."""
    import numpy as np

    from assay.metrics.metric import parse_metrics
    from assay.scoring.results import Evaluation, RunScores

    nothing: Any = StoredDiagnostics({})
    runs = [RunScores(name, {}, {metric: np.array(values)}, nothing) for name, values in columns.items()]
    return Evaluation(tuple(query_ids), (metric,), tuple(runs), bound=tuple(parse_metrics(metric)))
