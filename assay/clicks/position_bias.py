"""Position bias: the expected click rate of each rank, independent of the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.clicks.click_counts import Evidence
    from assay.clicks.click_model import Floats

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
