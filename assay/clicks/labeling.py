"""Labels from clicks, with intervals, the rules that produce them, and the expected click rate of each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.clicks.click_model import Clicked
from assay.clicks.grade_cuts import checked_cuts, grades_of
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.clicks.click_counts import Evidence
    from assay.clicks.click_model import Floats, Ints

# The rank of rows without a position: they are treated as a rank of their own.
UNKNOWN = 0


@dataclass(frozen=True, slots=True)
class RankRate:
    """A rank with its impressions, clicks and expected rate. Rank 0 means unknown."""

    rank: int
    impressions: int
    clicks: int
    rate: float


def rank_rates(evidence: Evidence, baseline: Sequence[float] = ()) -> tuple[RankRate, ...]:
    """Return the rate of each rank in the log."""
    shown = np.bincount(evidence.rank, weights=evidence.impressions)
    clicked = np.bincount(evidence.rank, weights=evidence.clicks)
    ranks = np.flatnonzero(shown)
    rates = _given(baseline, ranks.tolist()) if baseline else clicked[ranks] / shown[ranks]
    return tuple(
        RankRate(int(rank), int(shown[rank]), int(clicked[rank]), float(rate))
        for rank, rate in zip(ranks, rates, strict=True)
    )


def checked_baseline(rates: Sequence[float]) -> tuple[float, ...]:
    """Return the rates, each of which must be a share."""
    if wrong := [rate for rate in rates if not 0 <= rate <= 1]:
        message = f"The baseline has the rate {wrong[0]:g}. List shares from rank 1, such as 0.4,0.2,0.15."
        raise NotValid(message, "baseline")
    return tuple(float(rate) for rate in rates)


def _given(baseline: Sequence[float], ranks: list[int]) -> Floats:
    rates = np.array(checked_baseline(baseline))
    if missing := [rank for rank in ranks if not 1 <= rank <= len(rates)]:
        where = "rows without a position" if missing[-1] == UNKNOWN else f"the rank {missing[-1]}"
        message = (
            f"The baseline has rates for ranks 1 to {len(rates)}, but the log has {where}. Add a rate for each rank."
        )
        raise NotValid(message, "baseline")
    selected: Floats = rates[np.array(ranks, dtype=np.int64) - 1]
    return selected


LEAST_IMPRESSIONS = 30
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Rules:
    """How clicks become labels."""

    model: str = "coec"
    least_impressions: int = LEAST_IMPRESSIONS
    strength: float | None = None
    baseline: tuple[float, ...] = ()
    cuts: tuple[float, ...] = ()
    level: float = LEVEL

    def as_json(self) -> dict[str, Any]:
        """Return every value as JSON, including the model's default strength."""
        from assay.clicks import CLICK_MODELS

        strength = CLICK_MODELS[self.model].strength if self.strength is None else self.strength
        return {**asdict(self), "strength": strength, "baseline": list(self.baseline), "cuts": list(self.cuts)}


@dataclass(frozen=True, eq=False, slots=True)
class ClickLabels:
    """The labels, by query and document in the order of the evidence."""

    query: Ints
    document: Ints
    impressions: Ints
    clicks: Ints
    expected: Floats
    value: Floats
    low: Floats
    high: Floats
    grade: Ints | None
    ranks: tuple[RankRate, ...]
    overall: float
    few: int

    def __len__(self) -> int:
        return len(self.query)

    @property
    def labels(self) -> Floats | Ints:
        """Return the stored values, which are grades if there are cuts."""
        return self.value if self.grade is None else self.grade


def label(evidence: Evidence, rules: Rules) -> ClickLabels:
    """Return a label for each pair with enough impressions."""
    from assay.clicks import CLICK_MODELS

    model = CLICK_MODELS[rules.model]
    _check(rules)
    shown, clicked = int(evidence.impressions.sum()), int(evidence.clicks.sum())
    _check_log(shown, clicked)
    ranks = rank_rates(evidence, rules.baseline)
    pairs, impressions, clicks, expected = _by_pair(evidence, ranks)
    enough = impressions >= rules.least_impressions
    known = Clicked(clicks[enough], impressions[enough], expected[enough], clicked / shown)
    estimate = model.estimate(known, model.strength if rules.strength is None else rules.strength, rules.level)
    return ClickLabels(
        evidence.query[pairs][enough],
        evidence.document[pairs][enough],
        known.impressions.astype(np.int64),
        known.clicks.astype(np.int64),
        known.expected,
        *estimate,
        grade=grades_of(estimate.value, rules.cuts) if rules.cuts else None,
        ranks=ranks,
        overall=known.overall,
        few=int((~enough).sum()),
    )


def _by_pair(evidence: Evidence, ranks: Sequence[RankRate]) -> tuple[Ints, Floats, Floats, Floats]:
    """Return the first cell of each pair, and its sums over all ranks."""
    fresh = (np.diff(evidence.query, prepend=-1) != 0) | (np.diff(evidence.document, prepend=-1) != 0)
    first = np.flatnonzero(fresh)
    pair = np.cumsum(fresh) - 1
    rates = np.zeros(1 + max(rank.rank for rank in ranks))
    rates[[rank.rank for rank in ranks]] = [rank.rate for rank in ranks]
    weights = (evidence.impressions, evidence.clicks, evidence.impressions * rates[evidence.rank])
    impressions, clicks, expected = (np.bincount(pair, weights=weight).astype(np.float64) for weight in weights)
    return first.astype(np.int64), impressions, clicks, expected


def _check(rules: Rules) -> None:
    checked_cuts(rules.cuts)
    checked_baseline(rules.baseline)
    if rules.least_impressions < 1:
        raise NotValid(f"least_impressions is {rules.least_impressions}. Use 1 or more.", "least_impressions")
    if rules.strength is not None and not 0 < rules.strength < float("inf"):
        raise NotValid(f"strength is {rules.strength:g}. Use a number above 0, such as 5.", "strength")
    if not 0 < rules.level < 1:
        raise NotValid(f"level is {rules.level:g}. Use a number between 0 and 1, such as 0.95.", "level")


def _check_log(shown: int, clicked: int) -> None:
    if not shown:
        raise NotValid("The log has no impressions.", {"file": "Upload a log with impressions, not only clicks."})
    if clicked in (0, shown):
        what = "no clicks" if not clicked else "a click on every impression"
        fix = "Upload a log that also has the results that were shown but not clicked. Clicks alone are not enough."
        raise NotValid(f"The log has {what}. {fix}", {"file": fix})
