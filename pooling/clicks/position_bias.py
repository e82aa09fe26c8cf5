"""Position bias: the expected click rate of each rank, whatever document is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from pooling.clicks.evidence import Evidence
    from pooling.clicks.model import Floats

# Stands for rows that name no position: they are a place of their own.
UNKNOWN = 0


@dataclass(frozen=True, slots=True)
class RankRate:
    """A rank with what was shown and clicked on there; the rate is the one that is expected. Rank 0 is unknown."""

    rank: int
    impressions: int
    clicks: int
    rate: float


def rank_rates(evidence: Evidence, baseline: Sequence[float] = ()) -> tuple[RankRate, ...]:
    """Return the rate of each rank that came up.

    Parameters
    ----------
    evidence : Evidence
        What was shown and clicked on.
    baseline : sequence of float, optional
        The rates from rank 1 on, where they are known from elsewhere, such as from results in random order; otherwise
        the mean rate of the log at each rank. That one holds the relevance of what usually stands there, too.

    Raises
    ------
    NotValid
        When a given rate is no share, or there is none for a rank of the log.
    """
    shown = np.bincount(evidence.rank, weights=evidence.impressions)
    clicked = np.bincount(evidence.rank, weights=evidence.clicks)
    ranks = np.flatnonzero(shown)
    rates = _given(baseline, ranks.tolist()) if baseline else clicked[ranks] / shown[ranks]
    return tuple(
        RankRate(int(rank), int(shown[rank]), int(clicked[rank]), float(rate))
        for rank, rate in zip(ranks, rates, strict=True)
    )


def checked_baseline(rates: Sequence[float]) -> tuple[float, ...]:
    """Return the rates, each of them a share.

    Raises
    ------
    NotValid
        For one that is none.
    """
    if wrong := [rate for rate in rates if not 0 <= rate <= 1]:
        message = f"the baseline has the rate {wrong[0]:g}; give shares from rank 1 on, such as 0.4,0.2,0.15"
        raise NotValid(message, {"baseline": message})
    return tuple(float(rate) for rate in rates)


def _given(baseline: Sequence[float], ranks: list[int]) -> Floats:
    rates = np.array(checked_baseline(baseline))
    if missing := [rank for rank in ranks if not 1 <= rank <= len(rates)]:
        where = "rows without a position" if missing[-1] == UNKNOWN else f"the rank {missing[-1]}"
        message = f"the baseline has rates for ranks 1 to {len(rates)}, and the log has {where}; give a rate for each"
        raise NotValid(message, {"baseline": message})
    found: Floats = rates[np.array(ranks, dtype=np.int64) - 1]
    return found
