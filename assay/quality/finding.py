"""Data classes of a check and its finding, and the wording of findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from assay.quality.rater_record import Record

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
