"""CTR: the smoothed click-through rate of a pair."""

from __future__ import annotations

from assay.clicks.click_model import Clicked, ClickModel, Estimate


def ctr(clicked: Clicked, strength: float, level: float) -> Estimate:
    """Return the click-through rate, smoothed.

    Examples
    --------
    >>> import numpy as np
    >>> pair = Clicked(np.array([30.0]), np.array([80.0]), np.array([8.0]), 0.1)
    >>> float(ctr(pair, 20.0, 0.95).value[0])
    0.32
    """
    from scipy.special import betaincinv

    hits = clicked.clicks + strength * clicked.overall
    misses = clicked.impressions - clicked.clicks + strength * (1 - clicked.overall)
    tail = (1 - level) / 2
    return Estimate(hits / (hits + misses), betaincinv(hits, misses, tail), betaincinv(hits, misses, 1 - tail))


CTR = ClickModel(
    name="ctr",
    title="Click-through rate",
    description="The share of impressions that were clicked; not corrected for position, so it favors top ranks.",
    strength=20.0,
    unit="impressions",
    usual=lambda overall: overall,
    estimate=ctr,
)
