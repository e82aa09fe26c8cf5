"""Agreement between click labels and human labels on the pairs that have both."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from django.db.models import Max

from assay.clicks.grade_cuts import fitted_cuts, grades_of
from assay.coefficients import REASONS, Agreement, cohen_kappa
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility
from judgments.models import Adjudication, ImportedLabel, Judgment, LabelSource, Round, User
from judgments.models.snapshot import HUMAN
from judgments.snapshots.final_labels import compute_labels

RULE = "median"
DAY = 24 * 3600
RESAMPLES = 1_000
NO_CUTS = "no thresholds give these labels the same distribution as the human grades"
NO_GRADES = "the source's grades are not on the scale of the rounds"
NO_PAIR = "no pair has both a click label and a human label"


@dataclass(frozen=True, slots=True)
class GradeRow:
    """The pairs with one human grade."""

    grade: int
    pairs: int
    middle: float
    by_clicks: tuple[int, ...]  # the number of pairs per click grade; empty without thresholds


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparison of click labels with human labels."""

    rounds: tuple[str, ...] = ()
    pairs: int = 0
    kappa: Agreement | None = None
    reason: str = ""
    cuts: tuple[float, ...] = ()
    fitted: bool = False
    scale: tuple[int, ...] = ()
    rows: tuple[GradeRow, ...] = ()

    @property
    def value(self) -> float | None:
        return self.kappa.value if self.kappa else None


def compare(source: LabelSource, *, reader: User) -> Compared:
    """Compare a label source with the human labels of closed rounds."""
    rounds = _rounds(source)
    if not rounds:
        return Compared(reason=NO_PAIR)
    hidden = grade_visibility.hidden_keys(reader, source.collection)
    key = _key(source, rounds, hidden)
    return compute_once(key, partial(_compare, source, rounds, hidden), keep=DAY)


def _compare(source: LabelSource, rounds: list[Round], hidden: set[tuple[str, str]]) -> Compared:
    people = _people(source, rounds, hidden)
    rows = ImportedLabel.objects.filter(source=source)
    both = [
        (query_id, people[query_id, doc_id], value)
        for query_id, doc_id, value in rows.values_list("query__query_id", "document__doc_id", "value")
        if (query_id, doc_id) in people
    ]
    names, scale = tuple(round_.name for round_ in rounds), tuple(rounds[0].scale.values())
    if not both:
        return Compared(names, reason=NO_PAIR, scale=scale)
    both.sort()
    queries, grades, values = zip(*both, strict=True)
    return _compared(names, scale, queries, np.array(grades), np.array(values), tuple(source.report["rules"]["cuts"]))


def _rounds(source: LabelSource) -> list[Round]:
    """Return the closed rounds on the scale of the newest one."""
    closed = source.collection.rounds.filter(state=Round.State.CLOSED).select_related("scale", "guidelines")
    closed_rounds = list(closed.order_by("-created_at", "-pk"))
    return [round_ for round_ in closed_rounds if round_.scale.values() == closed_rounds[0].scale.values()]


def _key(source: LabelSource, rounds: list[Round], hidden: set[tuple[str, str]]) -> str:
    """Return the cache key: the source, the closed rounds in their current state and the hidden pairs."""
    judged = Judgment.objects.filter(pair__round__in=rounds).aggregate(newest=Max("pk"))["newest"]
    settled = Adjudication.objects.filter(pair__round__in=rounds).aggregate(newest=Max("pk"))["newest"]
    state = [source.pk, [round_.pk for round_ in rounds], judged, settled, sorted(hidden)]
    return f"clicks:{hashlib.sha256(json.dumps(state).encode()).hexdigest()}"


def _people(source: LabelSource, rounds: list[Round], hidden: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    settled = compute_labels(source.collection, rounds, rule=RULE, merge="newest", sources=["human"])
    return {
        (label.query_id, label.doc_id): label.grade
        for label in settled.labels
        if label.column == HUMAN and (label.query_id, label.doc_id) not in hidden
    }


def _compared(
    names: tuple[str, ...],
    scale: tuple[int, ...],
    queries: tuple[str, ...],
    grades: np.ndarray,
    values: np.ndarray,
    own: tuple[float, ...],
) -> Compared:
    cuts = own or fitted_cuts(values, grades, scale)
    places = np.searchsorted(np.array(scale), grades)
    clicked = values.astype(np.int64) if own else grades_of(values, cuts)
    reason = "" if cuts else NO_CUTS
    if clicked.max(initial=0) >= len(scale):
        cuts, reason = (), NO_GRADES
    kappa = None
    if cuts:
        clusters = np.unique(np.array(queries), return_inverse=True)[1]
        on = np.arange(len(scale))
        kappa = cohen_kappa(places, clicked, "quadratic", values=on, clusters=clusters, resamples=RESAMPLES, seed=0)
        reason = REASONS[kappa.reason] if kappa.reason else ""
    rows = tuple(
        _row(place, grade, places, values, clicked, len(scale), bool(cuts)) for place, grade in enumerate(scale)
    )
    return Compared(names, len(values), kappa, reason, cuts, bool(cuts) and not own, scale, rows)


def _row(
    place: int, grade: int, places: np.ndarray, values: np.ndarray, clicked: np.ndarray, size: int, cut: bool
) -> GradeRow:
    chosen = places == place
    middle = median(values[chosen].tolist()) if chosen.any() else float("nan")
    counts = tuple(np.bincount(clicked[chosen], minlength=size).tolist()) if cut else ()
    return GradeRow(grade, int(chosen.sum()), middle, counts)


def checked_scale(cuts: tuple[float, ...], scale: tuple[int, ...]) -> None:
    """Refuse thresholds that make more grades than the scale has."""
    if scale and len(cuts) >= len(scale):
        message = (
            f"{amount(len(cuts), 'threshold makes', 'thresholds make')} {amount(len(cuts) + 1, 'grade')}, but the "
            f"scale has {len(scale)}. Give at most {amount(len(scale) - 1, 'threshold')}"
        )
        raise NotValid(message, "cuts")
