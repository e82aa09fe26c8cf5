"""COEC: clicks on a pair over the clicks expected at its ranks."""

from __future__ import annotations

from assay.clicks.click_model import Clicked, ClickModel, Estimate


def coec(clicked: Clicked, strength: float, level: float) -> Estimate:
    """Return clicks over expected clicks, smoothed.

    Examples
    --------
    >>> import numpy as np
    >>> pair = Clicked(np.array([12.0]), np.array([100.0]), np.array([7.0]), 0.1)
    >>> float(coec(pair, 5.0, 0.95).value[0])
    1.4166666666666667
    """
    from scipy.special import gammaincinv

    shape, rate = clicked.clicks + strength, clicked.expected + strength
    tail = (1 - level) / 2
    return Estimate(shape / rate, gammaincinv(shape, tail) / rate, gammaincinv(shape, 1 - tail) / rate)


COEC = ClickModel(
    name="coec",
    title="Clicks over expected clicks",
    description="1 means an average document at the same ranks, 2 means twice as many clicks; corrected for position.",
    strength=5.0,
    unit="expected clicks",
    usual=lambda overall: 1.0,
    estimate=coec,
)
