"""Click models: their interface, and the built-in ones, clicks over expected clicks and click-through rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing import TypeAlias

    Floats: TypeAlias = npt.NDArray[np.float64]
    Ints: TypeAlias = npt.NDArray[np.int64]


class Clicked(NamedTuple):
    """The counts of some pairs: clicks, impressions, and the clicks of an average document at their ranks."""

    clicks: Floats
    impressions: Floats
    expected: Floats
    overall: float  # clicks over impressions, of the whole log


class Estimate(NamedTuple):
    """A label for each pair, with an interval at the requested level."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class ClickModel:
    """A click model.

    Parameters
    ----------
    name, title, description : str
        The name in the API, its readable form, and one sentence on the meaning of its labels.
    strength : float
        The default weight of the prior.
    unit : str
        The unit of the strength: expected clicks, impressions.
    usual : float
        The label of an average pair.
    estimate : callable
        ``estimate(clicked, strength, level) -> Estimate``; with all else fixed, more clicks never lower a label.
    """

    name: str
    title: str
    description: str
    strength: float
    unit: str
    usual: Callable[[float], float]
    estimate: Callable[[Clicked, float, float], Estimate]


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
