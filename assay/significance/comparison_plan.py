"""Plan of a comparison: the test, the correction, the number of draws and the seed."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import NotValid
from assay.significance import CORRECTIONS, TESTS
from assay.significance.intervals import LEVEL, METHODS, RESAMPLES
from assay.significance.paired_differences import PERMUTATIONS
from assay.significance.power import ALPHA

NO_CORRECTION = "none"
BY_THE_TEST = "the test itself"
DEFAULT_CORRECTION = "holm"
MOST_PERMUTATIONS = 10_000_000


@dataclass(frozen=True)
class Plan:
    """Settings of a comparison.

    Examples
    --------
    >>> Plan().corrected_by, Plan(test="tukey").corrected_by
    ('holm', 'the test itself')
    """

    test: str = "randomization"
    correction: str | None = None
    permutations: int = PERMUTATIONS
    seed: int = 0
    level: float = LEVEL
    resamples: int = RESAMPLES
    alpha: float = ALPHA
    interval: str | None = None

    def __post_init__(self) -> None:
        if self.correction not in (None, NO_CORRECTION):
            CORRECTIONS[self.correction]
        if TESTS[self.test].corrects_itself and self.correction is not None:
            raise NotValid(f"the test {self.test} already corrects for all pairs; remove the correction")
        if self.interval not in (None, *METHODS):
            raise NotValid(f"unknown interval {self.interval!r}; known: {', '.join(METHODS)}")
        if not 1 <= self.permutations <= MOST_PERMUTATIONS:
            raise NotValid(f"permutations is {self.permutations:,}; use a number from 1 to {MOST_PERMUTATIONS:,}")
        if not 1 <= self.resamples <= MOST_PERMUTATIONS:
            raise NotValid(f"resamples is {self.resamples:,}; use a number from 1 to {MOST_PERMUTATIONS:,}")
        if self.seed < 0:
            raise NotValid(f"the seed is {self.seed}; use a whole number, 0 or more")
        if not 0 < self.level < 1:
            raise NotValid(f"the level is {self.level:g}; use a number between 0 and 1, such as 0.95")
        if not 0 < self.alpha < 1:
            raise NotValid(f"alpha is {self.alpha:g}; use a number between 0 and 1, such as 0.05")

    @property
    def interval_by(self) -> str:
        """Return the interval method of the difference."""
        return self.interval or ("t" if self.test == "t" else "bootstrap")

    @property
    def corrected_by(self) -> str:
        """Return the correction that is applied: a name of the family, ``none``, or the test itself."""
        if TESTS[self.test].corrects_itself:
            return BY_THE_TEST
        return self.correction or DEFAULT_CORRECTION
