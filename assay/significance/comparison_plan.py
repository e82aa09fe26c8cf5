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
    """How runs are compared.

    Parameters
    ----------
    test : str
        A member of ``assay.significance.TESTS``.
    correction : str, optional
        A member of ``assay.significance.CORRECTIONS``, or ``none``. By default Holm's, or nothing more where the
        test corrects itself.
    permutations : int
        Draws of a test that draws.
    seed : int
        Of these draws, and of the resamples of the interval.
    level : float
        Coverage of the interval of the difference.
    resamples : int
        Of that interval.
    interval : str, optional
        How it is found, a key of ``assay.significance.intervals.METHODS``; by default ``t`` for the test ``t``, so
        that both say the same, and ``bootstrap`` for all others.
    alpha : float
        Below which corrected p two runs are said to differ.

    Raises
    ------
    NotValid
        For a name or number that cannot be used.

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
            raise NotValid(f"the test {self.test} corrects for all pairs itself; leave out the correction")
        if self.interval not in (None, *METHODS):
            raise NotValid(f"there is no interval {self.interval!r}; give one of {', '.join(METHODS)}")
        if not 1 <= self.permutations <= MOST_PERMUTATIONS:
            raise NotValid(f"permutations is {self.permutations:,}; give a number from 1 to {MOST_PERMUTATIONS:,}")
        if not 1 <= self.resamples <= MOST_PERMUTATIONS:
            raise NotValid(f"resamples is {self.resamples:,}; give a number from 1 to {MOST_PERMUTATIONS:,}")
        if self.seed < 0:
            raise NotValid(f"the seed is {self.seed}; give a whole number from 0")
        if not 0 < self.level < 1:
            raise NotValid(f"the level is {self.level:g}; give a number between 0 and 1, such as 0.95")
        if not 0 < self.alpha < 1:
            raise NotValid(f"alpha is {self.alpha:g}; give a number between 0 and 1, such as 0.05")

    @property
    def interval_by(self) -> str:
        """Return how the interval of the difference is found."""
        return self.interval or ("t" if self.test == "t" else "bootstrap")

    @property
    def corrected_by(self) -> str:
        """Return the correction that is applied: a name of the family, ``none``, or the test itself."""
        if TESTS[self.test].corrects_itself:
            return BY_THE_TEST
        return self.correction or DEFAULT_CORRECTION
