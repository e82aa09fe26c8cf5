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
    """What is known of some pairs: clicks, impressions, and the clicks that their ranks would bring any document."""

    clicks: Floats
    impressions: Floats
    expected: Floats
    overall: float  # clicks over impressions, of the whole log


class Estimate(NamedTuple):
    """A label for each pair, and the interval that holds it with the probability that was asked for."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class ClickModel:
    """A member of the family.

    Parameters
    ----------
    name, title, description : str
        The name in the API, its readable form, and one sentence on what a label of it says.
    strength : float
        How much the prior counts where nothing else is said.
    unit : str
        What the strength counts: expected clicks, impressions.
    usual : float
        The label of a pair that is as good as any other.
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
