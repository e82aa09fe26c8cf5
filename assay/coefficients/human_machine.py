"""Agreement of a machine judge with people, and the reliability of each of its grades.

Agreement says little about the meaning of a machine grade. The share of pairs with this grade to which people gave the
same grade says more. It is reported for each grade with an interval, because it differs between collections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from assay.coefficients.coefficient import Agreement, Floats, Ints
from assay.coefficients.cohen import cohen_kappa
from assay.coefficients.intervals import draws
from assay.coefficients.krippendorff import krippendorff_alpha
from assay.core.errors import NotValid

OffScale = Literal["leave-out", "clip"]
WEIGHTS = ("unweighted", "linear", "quadratic")
LEVELS = ("nominal", "ordinal", "interval")
RESAMPLES = 1_000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """A share of pairs with its interval; no value if there are no pairs."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Worth:
    """Reliability of one grade of a machine judge."""

    grade: int
    same: Share
    relevant: Share


@dataclass(frozen=True)
class Calibrated:
    """Calibration of a machine judge, on the pairs that people also graded."""

    values: tuple[int, ...]
    pairs: int
    queries: int
    only_people: int
    only_machine: int
    off_people: int
    off_machine: int
    off_scale: str
    kappa: dict[str, Agreement]
    alpha: dict[str, Agreement]
    confusion: list[list[int]]
    worth: list[Worth]
    bias: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``assay calibrate --format json``."""
        plain = {**asdict(self), "values": list(self.values)}
        for name in ("kappa", "alpha"):
            plain[name] = {key: agreement.as_json() for key, agreement in getattr(self, name).items()}
        return plain


def against_people(
    people: Mapping[tuple[str, str], float],
    machine: Mapping[tuple[str, str], float],
    values: Sequence[int],
    *,
    relevant_from: float = 1,
    off_scale: OffScale = "leave-out",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Calibrated:
    """Compare machine grades with human grades.

    Parameters
    ----------
    people, machine : mapping of (query_id, doc_id) to float
        The grades. Pairs that only one side graded are counted and left out.
    values : sequence of int
        The scale, ascending.
    relevant_from : float
        The lowest grade that people consider relevant.
    off_scale : {"leave-out", "clip"}
        Whether to leave out pairs with a grade off the scale, or use the nearest grade on the scale; both are counted.
    resamples, seed : int
        Number of resamples and seed of the bootstrap over queries; 0 resamples for no intervals.

    Returns
    -------
    Calibrated
        Kappas and alphas for two raters. Sources: see each coefficient.

    Raises
    ------
    NotValid
        `off_scale` is unknown, or the scale has fewer than two grades.

    Examples
    --------
    >>> people = {("q1", "a"): 3, ("q1", "b"): 0, ("q2", "a"): 1, ("q2", "b"): 0}
    >>> machine = {("q1", "a"): 3, ("q1", "b"): 1, ("q2", "a"): 1, ("q2", "c"): 0}
    >>> found = against_people(people, machine, (0, 1, 2, 3), resamples=0)
    >>> found.pairs, found.only_people, found.only_machine, found.worth[1].same.value
    (3, 1, 1, 0.5)
    """
    if off_scale not in ("leave-out", "clip"):
        raise NotValid(f"unknown treatment of grades off the scale: {off_scale!r}; use leave-out or clip")
    scale = np.asarray(values, dtype=np.float64)
    if len(scale) < 2:
        raise NotValid("a scale needs at least two grades")
    common = sorted(people.keys() & machine.keys(), key=lambda pair: (pair[0].encode(), pair[1].encode()))
    ours, off_people = _on_scale([people[pair] for pair in common], scale)
    theirs, off_machine = _on_scale([machine[pair] for pair in common], scale)
    if off_scale == "leave-out":
        on_scale = ~(off_people | off_machine)
        common = [pair for pair, keep in zip(common, on_scale, strict=True) if keep]
        ours, theirs = ours[on_scale], theirs[on_scale]
    _, clusters = np.unique([query_id for query_id, _ in common], return_inverse=True)
    clusters = clusters.astype(np.int64)
    given: dict[str, Any] = {"values": scale, "clusters": clusters, "resamples": resamples, "seed": seed}
    units = np.arange(len(common))
    table = _tables(ours, theirs, scale, clusters)
    whole = table.sum(axis=0) if len(table) else np.zeros((len(scale), len(scale)))
    return Calibrated(
        values=tuple(int(value) for value in values),
        pairs=len(common),
        queries=len(table),
        only_people=len(people.keys() - machine.keys()),
        only_machine=len(machine.keys() - people.keys()),
        off_people=int(off_people.sum()),
        off_machine=int(off_machine.sum()),
        off_scale=off_scale,
        kappa={weights: cohen_kappa(ours, theirs, weights, **given) for weights in WEIGHTS},
        alpha={
            level: krippendorff_alpha(
                np.concatenate([units, units]),
                np.concatenate([ours, theirs]),
                level,
                **{**given, "clusters": np.concatenate([clusters, clusters])},
            )
            for level in LEVELS
        },
        confusion=whole.astype(int).tolist(),
        worth=_worth(table, scale, relevant_from, resamples, seed),
        bias=float((theirs - ours).mean()) if len(common) else None,
    )


def _on_scale(grades: Sequence[float], scale: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the grades, moved to the nearest grade on the scale, and which grades were off the scale."""
    given = np.asarray(grades, dtype=np.float64)
    if not len(given):
        return given, np.zeros(0, dtype=bool)
    nearest = scale[np.argmin(np.abs(given[:, None] - scale[None, :]), axis=1)]
    return nearest, nearest != given


def _tables(ours: Floats, theirs: Floats, scale: Floats, clusters: Ints) -> Floats:
    """Count each combination of human and machine grade, shape (queries, grades, grades)."""
    size = len(scale)
    number = int(clusters.max()) + 1 if len(clusters) else 0
    cells = np.searchsorted(scale, ours) * size + np.searchsorted(scale, theirs)
    counted = np.bincount(clusters * size * size + cells, minlength=number * size * size)
    return counted.reshape(number, size, size).astype(np.float64)


def _worth(table: Floats, scale: Floats, relevant_from: float, resamples: int, seed: int) -> list[Worth]:
    """Return the shares of each machine grade, with intervals from draws of queries."""
    queries, size = len(table), len(scale)
    given = table.sum(axis=1)
    same = np.einsum("qgg->qg", table) if queries else np.zeros((0, size))
    relevant = table[:, scale >= relevant_from, :].sum(axis=1)
    drawn = np.concatenate(list(draws(queries, resamples, seed))) if queries and resamples else None
    return [
        Worth(
            int(grade),
            _share(same[:, place], given[:, place], drawn),
            _share(relevant[:, place], given[:, place], drawn),
        )
        for place, grade in enumerate(scale)
    ]


def _share(part: Floats, whole: Floats, drawn: Floats | None) -> Share:
    n = int(whole.sum())
    if not n:
        return Share(None, None, None, 0)
    value = float(part.sum() / n)
    # With a single query with this grade, there is nothing to resample.
    if drawn is None or int((whole > 0).sum()) < 2:
        return Share(value, None, None, n)
    below = drawn @ whole
    shares = (drawn @ part)[below > 0] / below[below > 0]
    low, high = np.quantile(shares, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Share(value, float(low), float(high), n)
