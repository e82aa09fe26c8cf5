"""Comparison of a metric with human grades of answers: their agreement, and the metric's mean corrected by the
grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from assay.rag.evaluation import LEVEL, RagEvaluation

if TYPE_CHECKING:
    from assay.coefficients.human_machine import Calibrated
    from assay.core.read_report import Report
    from assay.estimators.prediction_powered import Powered

Grades = Mapping[tuple[str, str], float]
COLUMNS = {"query_id": "sample_id", "doc_id": "system"}
RESAMPLES = 1_000


@dataclass(frozen=True)
class Corrected:
    """The mean of a metric of a system, corrected by human grades of some of its answers."""

    system: str
    metric: str
    metric_mean: float | None
    estimate: Powered | None
    reason: str | None = None
    with_metric: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class PeopleComparison:
    """A metric compared with human grades of the same answers.

    Parameters
    ----------
    metric : str
        The label of the metric.
    calibration : Calibrated
        Kappa, alpha, confusion and bias over all systems, with the metric rounded to the nearest grade of the scale.
    systems : tuple of Corrected
        The corrected means, one per system.
    """

    metric: str
    calibration: Calibrated
    systems: tuple[Corrected, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "calibration": self.calibration.as_json(),
            "systems": [one.to_dict() for one in self.systems],
        }


def read_grades(path: str | Path, values: Sequence[int]) -> tuple[dict[tuple[str, str], int], Report]:
    """Read human grades of answers."""
    from assay.formats import ratings_csv

    ratings = ratings_csv.read(Path(path), path=str(path), grades=tuple(values), columns=COLUMNS).strict()
    grades: dict[tuple[str, str], list[int]] = {}
    for row in ratings.rows:
        if row.grade is not None:
            grades.setdefault((row.query_id, row.doc_id), []).append(int(row.grade))
    return {key: median_low(some) for key, some in grades.items()}, ratings.report


def compare_with_people(
    evaluation: RagEvaluation,
    metric: str,
    grades: Grades,
    values: Sequence[int],
    *,
    level: float = LEVEL,
    seed: int = 0,
) -> PeopleComparison:
    """Compare a metric with human grades, and correct its mean.

    Parameters
    ----------
    evaluation : RagEvaluation
        The evaluation with the metric.
    metric : str
        Label of the metric, which must have a value between 0 and 1 for each sample, as critics do.
    grades : mapping of (sample_id, system) to number
        Human grades. The graded samples of a system must be a random sample of all samples.
    values : sequence of int
        The grades of the scale, ascending.
    level, seed : float, int
        Level and seed of the intervals.

    Returns
    -------
    PeopleComparison
        Kappa, alpha and bias; and for each system the prediction-powered mean (Angelopoulos et al. 2023).

    Raises
    ------
    NotValid
        When the metric was not measured or cannot be compared, or the grades match no answer.

    Examples
    --------
    >>> from assay.rag import evaluate
    >>> samples = [{"id": str(n), "question": "Where?", "ground_truth": "in the box"} for n in range(20)]
    >>> outputs = [{"id": str(n), "answer": "in the box" if n % 2 else "no idea"} for n in range(20)]
    >>> people = {(str(n), "system"): 2 * (n % 2) for n in range(6)}
    >>> found = compare_with_people(evaluate(samples, outputs, "TokenF1"), "TokenF1", people, (0, 1, 2))
    >>> found.calibration.kappa["quadratic"].value, found.systems[0].estimate.queries
    (1.0, 6)
    """
    if all(metric != one.label for one in evaluation.metrics):
        raise NotValid(f"{metric} was not measured; metrics: {', '.join(one.label for one in evaluation.metrics)}")
    known = {
        (sample, system.name): value
        for system in evaluation.systems
        for sample, value in system.per_sample_of(metric).items()
        if value is not None
    }
    ids = {sample.sample_id for sample in evaluation.samples}
    names = {system.name for system in evaluation.systems}
    strange = [key for key in grades if key[0] not in ids or key[1] not in names]
    if len(strange) == len(grades):
        what = f"no grade matches an answer; systems: {', '.join(sorted(names))}"
        raise NotValid(
            f"{what}, but the grades are, for example, for sample {strange[0]}" if strange else "there are no grades"
        )
    return compare_values(
        metric, [one.name for one in evaluation.systems], known, grades, values, level=level, seed=seed
    )


def compare_values(
    metric: str,
    systems: Sequence[str],
    known: Grades,
    grades: Grades,
    values: Sequence[int],
    *,
    level: float = LEVEL,
    seed: int = 0,
) -> PeopleComparison:
    """Compare the values of a metric, by (sample_id, system), with human grades, as `compare_with_people` does."""
    from assay.coefficients.human_machine import against_people

    if len(values) < 2:
        raise NotValid("the scale needs at least two grades")
    if any(not 0 <= value <= 1 for value in known.values()):
        raise NotValid(f"{metric} has values outside 0 to 1, which cannot be compared with grades")
    nearest = {key: _nearest(value, values) for key, value in known.items()}
    calibration = against_people(grades, nearest, values, resamples=RESAMPLES, seed=seed)
    corrected = tuple(_corrected(name, metric, known, grades, values, level) for name in systems)
    return PeopleComparison(metric, calibration, corrected)


def _nearest(value: float, values: Sequence[int]) -> int:
    """Return the grade whose position on the scale, from 0 to 1, is nearest; the lower grade in a tie."""
    low, high = values[0], values[-1]
    return min(values, key=lambda grade: (abs((grade - low) / (high - low) - value), grade))


def _corrected(
    system: str,
    metric: str,
    known: Grades,
    grades: Grades,
    values: Sequence[int],
    level: float,
) -> Corrected:
    from assay.estimators.prediction_powered import powered_mean

    low, high = values[0], values[-1]
    own = {sample: value for (sample, name), value in known.items() if name == system}
    people = {
        sample: (grade - low) / (high - low)
        for (sample, name), grade in grades.items()
        if name == system and sample in own
    }
    mean = sum(own.values()) / len(own) if own else None
    if len(people) < 3:
        why = f"people graded {len(people)} answers for which the metric has a value; the comparison needs at least 3"
        return Corrected(system, metric, mean, None, why, len(own))
    both = list(people)
    rest = [value for sample, value in own.items() if sample not in people]
    estimate = powered_mean(
        [people[one] for one in both], [own[one] for one in both], rest, level=level
    ).within_bounds()
    return Corrected(system, metric, mean, estimate, None, len(own))
