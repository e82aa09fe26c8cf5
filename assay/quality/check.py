"""Checks of raters: the answers that they read, their declaration, and their findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def ints(values: Sequence[int] | Ints = ()) -> Ints:
    """Return the numbers as an integer array; None as an empty one."""
    return np.asarray(values, dtype=np.int64).reshape(-1)


def floats(values: Sequence[float] | Floats = ()) -> Floats:
    """Return the numbers as a float array; unknown values are NaN."""
    return np.asarray(values, dtype=np.float64).reshape(-1)


def units(pair: Ints, called_in: Bools) -> Ints:
    """Number the pairs of the answers; each additional rating that was requested later is a separate unit.

    An additional rater is requested if two grades differ. A rater who answers only such pairs would be far from the
    others on all of them, however well they grade.

    Examples
    --------
    >>> units(ints([7, 7, 9, 9, 9]), np.array([False, False, False, False, True])).tolist()
    [0, 0, 1, 1, 2]
    """
    numbers = np.unique(pair, return_inverse=True)[1].reshape(-1).astype(np.int64)
    numbers[called_in] = numbers.max(initial=-1) + 1 + np.arange(int(called_in.sum()))
    return numbers


@dataclass(frozen=True, eq=False)
class Timed:
    """Timed answers with the length of the shown text.

    Attributes
    ----------
    rater : int array, shape (answers,)
        Positions in ``Record.raters``.
    seconds : array, shape (answers,)
        Active seconds.
    characters : array, shape (answers,)
        Length of title and text as shown.
    """

    rater: Ints = field(default_factory=ints)
    seconds: Floats = field(default_factory=floats)
    characters: Floats = field(default_factory=floats)


@dataclass(frozen=True, eq=False)
class GradeComparisons:
    """Expected and given grades of gold pairs, or first and second grades of repeats.

    Attributes
    ----------
    rater, expected, given : int arrays, shape (answers,)
        The rater's position in ``Record.raters``, the expected grade, and the rater's grade.
    """

    rater: Ints = field(default_factory=ints)
    expected: Ints = field(default_factory=ints)
    given: Ints = field(default_factory=ints)


@dataclass(frozen=True, eq=False)
class Record:
    """The grades of a round that count, in order of time.

    Attributes
    ----------
    raters : tuple of str
        The raters, by pseudonym.
    scale : tuple of int
        The grades of the scale, ascending.
    rater, unit, query, grade : int arrays, shape (grades,)
        The rater, pair (see `units`), query and value of each grade.
    seconds : array, shape (grades,)
        Duration; NaN if not measured.
    timed, gold, repeats : Timed, GradeComparisons, GradeComparisons
        Some answers with the length of the text, answers to gold pairs, and answers to repeats.
    within : int
        Number of steps from the gold grade that still count as correct.
    """

    raters: tuple[str, ...]
    scale: tuple[int, ...]
    rater: Ints
    unit: Ints
    query: Ints
    grade: Ints
    seconds: Floats
    timed: Timed = field(default_factory=Timed)
    gold: GradeComparisons = field(default_factory=GradeComparisons)
    repeats: GradeComparisons = field(default_factory=GradeComparisons)
    within: int = 0

    @property
    def size(self) -> int:
        """Return the number of raters, by which significance thresholds are divided."""
        return len(self.raters)

    @cached_property
    def counts(self) -> Ints:
        """Return the number of grades of each rater, shape (raters,)."""
        return np.bincount(self.rater, minlength=self.size).astype(np.int64)

    @cached_property
    def place(self) -> Ints:
        """Return the position of each grade on the scale, shape (grades,)."""
        return np.searchsorted(np.asarray(self.scale), self.grade).astype(np.int64)

    @cached_property
    def by_unit(self) -> Ints:
        """Return how often each pair received each grade, shape (units, grades of the scale)."""
        units = int(self.unit.max(initial=-1)) + 1
        flat = np.bincount(self.unit * len(self.scale) + self.place, minlength=units * len(self.scale))
        return flat.reshape(units, len(self.scale)).astype(np.int64)

    @cached_property
    def others(self) -> Ints:
        """Return how many other raters graded the same pair, shape (grades,)."""
        return np.asarray(self.by_unit.sum(axis=1)[self.unit] - 1, dtype=np.int64)

    @cached_property
    def bias(self) -> Floats:
        """Return each grade minus the mean of the others on the same pair, shape (grades,); NaN if there are no
        others.
        """
        totals = (self.by_unit @ np.asarray(self.scale, dtype=np.int64))[self.unit] - self.grade
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.grade - totals / np.where(self.others > 0, self.others, np.nan))

    @cached_property
    def twos(self) -> tuple[Ints, Ints]:
        """Return the rows of every two grades of one pair; the rater with the lower code comes first."""
        order = np.lexsort((self.rater, self.unit))
        unit = self.unit[order]
        first, second = [ints()], [ints()]
        shift = 1
        # Rows of a pair are adjacent, so their distance is at most the number of its grades.
        while shift < len(unit) and len(rows := np.flatnonzero(unit[:-shift] == unit[shift:])):
            first.append(order[rows])
            second.append(order[rows + shift])
            shift += 1
        return np.concatenate(first), np.concatenate(second)

    def without(self, raters: Sequence[int]) -> Record:
        """Return the record without the grades of these raters; the list of raters stays the same."""
        remaining = ~np.isin(self.rater, list(raters))
        columns = {name: getattr(self, name)[remaining] for name in ("rater", "unit", "query", "grade", "seconds")}
        return replace(self, **columns)

    def of(self, rater: int) -> Ints:
        """Return the rows of one rater in order of time."""
        return self._rows[rater]

    @cached_property
    def _rows(self) -> list[Ints]:
        order = np.argsort(self.rater, kind="stable")
        return np.split(order, np.cumsum(self.counts)[:-1])


# Where a check's value causes an alert: at or above its threshold, below it, or at the same distance on either side of
# zero.
Side = Literal["above", "below", "either"]

# The value must be 50% further beyond the threshold, and further out by this share of the threshold.
FURTHER, OF_THE_LINE = 1.5, 0.1


@dataclass(frozen=True)
class Numbers:
    """Numbers behind an alert: the value with its interval and threshold, and how much the rater had graded."""

    graded: int
    value: float | None
    low: float | None
    high: float | None
    threshold: float | None


def grown(then: Numbers, now: Numbers, side: Side) -> bool:
    """Return whether the numbers have grown clearly: twice as many grades, or a value clearly further out. Clearly
    means 50% further beyond the threshold, at least a tenth of the threshold, and outside the earlier interval, if
    there was one. An unchanged value deserves another review after twice as many grades, because earlier feedback had
    no effect.

    Examples
    --------
    >>> then = Numbers(100, 0.30, 0.22, 0.39, 0.2)
    >>> grown(then, Numbers(120, 0.33, 0.25, 0.42, 0.2), "above")
    False
    >>> grown(then, Numbers(120, 0.50, 0.41, 0.59, 0.2), "above")
    True
    >>> grown(then, Numbers(200, 0.30, 0.24, 0.37, 0.2), "above")
    True
    """
    if now.graded >= 2 * max(then.graded, 1):
        return True
    before, after = _beyond(then, side), _beyond(now, side)
    if before is None or after is None or now.graded == then.graded:
        return False
    if then.low is not None and then.high is not None and now.value is not None and then.low <= now.value <= then.high:
        return False
    before = max(before, 0.0)
    return after >= FURTHER * before and after - before >= OF_THE_LINE * abs(then.threshold or 0.0)


def _beyond(numbers: Numbers, side: Side) -> float | None:
    """Return how far the value lies beyond the threshold."""
    if numbers.value is None or numbers.threshold is None:
        return None
    if side == "below":
        return numbers.threshold - numbers.value
    return (abs(numbers.value) if side == "either" else numbers.value) - numbers.threshold


State = Literal["fine", "alarm", "too little"]
# "serious" requires action now, "mild" a conversation.
Severity = Literal["serious", "mild"]

# A check raises a chance alert in at most one of this many rounds, regardless of the number of raters.
ROUNDS = 20
Z = 1.959963984540054


@dataclass(frozen=True)
class Finding:
    """Result of one check for one rater.

    Attributes
    ----------
    check, rater : str
        The check's name, and the rater's pseudonym.
    state : {"fine", "alarm", "too little"}
        ``too little`` means not enough data.
    n, needed : int
        Number of observations, and number needed.
    message : str
        A sentence with the numbers.
    value, low, high : float or None
        The statistic with its 95% interval, if there is one.
    threshold : float or None
        The threshold of the value.
    chance : float or None
        The probability of a value this large by chance, for one rater.
    others : tuple of str
        Other raters concerned.
    """

    check: str
    rater: str
    state: State
    n: int
    needed: int
    message: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    chance: float | None = None
    others: tuple[str, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def alarm(self) -> bool:
        return self.state == "alarm"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields under their API names, in which the message is ``said``."""
        return {"said" if name == "message" else name: value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Finding:
        """Return the finding from the result of `to_dict`."""
        values = {"message" if name == "said" else name: value for name, value in row.items()}
        return cls(**{**values, "others": tuple(row["others"])})


@dataclass(frozen=True)
class Check:
    """Declaration of a check that runs for every rater.

    Attributes
    ----------
    name, title : str
        Name for programs, and title for people.
    asks : str
        What it checks, in a sentence.
    advice : str
        What to do about an alert.
    severity : {"serious", "mild"}
        Severity of an alert.
    needed : int
        Minimum number of observations.
    unit : str
        Unit of the observations.
    find : callable
        ``find(record)``: a finding for each rater, in the record's order.
    rings : {"above", "below", "either"}
        The side of the threshold on which a value causes an alert; "either" means the same distance on both sides of
        zero.
    turn : int
        Checks run in turns: later turns do not compare with raters who have a serious alert.
    """

    name: str
    title: str
    asks: str
    advice: str
    severity: Severity
    needed: int
    unit: str
    find: Callable[[Record], list[Finding]]
    turn: int = 3
    rings: Side = "above"


def percent(share: float) -> str:
    """Format a share as a percentage.

    Examples
    --------
    >>> percent(0.266)
    '27%'
    """
    return f"{100 * share:.0f}%"


def too_little(check: str, rater: str, n: int, needed: int, **more: Any) -> Finding:
    """Return the finding for insufficient data."""
    return Finding(check, rater, "too little", n, needed, f"Not enough data ({n:,} of {needed:,}).", **more)


def state_of(rings: bool) -> State:
    """Return the state if there is enough data."""
    return "alarm" if rings else "fine"


def beyond_chance(chance: float, record: Record) -> bool:
    """Return whether a probability is significant in a round with this many raters."""
    return chance * max(record.size, 1) * ROUNDS < 1
