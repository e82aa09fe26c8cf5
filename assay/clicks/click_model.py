"""Contract of a click model: its declaration, input and estimates."""

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
