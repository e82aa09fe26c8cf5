"""Data classes of a check and its finding, and the wording of findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from judgments.quality.grown import Side
from judgments.quality.record import Record

State = Literal["fine", "alarm", "too little"]
# "serious" asks for an act now, "mild" for a talk.
Severity = Literal["serious", "mild"]

# A check rings by chance in at most one round in so many, however many raters it has.
ROUNDS = 20
Z = 1.959963984540054


@dataclass(frozen=True)
class Finding:
    """What one check found about one rater.

    Attributes
    ----------
    check, rater : str
        The check's name, and the rater's pseudonym.
    state : {"fine", "alarm", "too little"}
        With too little nothing is said either way.
    n, needed : int
        How much it rests on, and how much it takes.
    said : str
        A sentence with the numbers.
    value, low, high : float or None
        The statistic with its 95 % interval, where there is one.
    threshold : float or None
        What the value is held against.
    chance : float or None
        How likely as much would be by chance alone, for one rater.
    others : tuple of str
        Raters whom it is about too.
    """

    check: str
    rater: str
    state: State
    n: int
    needed: int
    said: str
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


@dataclass(frozen=True)
class Check:
    """A question that is asked of every rater.

    Attributes
    ----------
    name, title : str
        For programs and for people.
    asks : str
        What it looks at, in a sentence.
    advice : str
        What to do when it rings.
    severity : {"serious", "mild"}
        How much it takes to act on it.
    needed : int
        How much it takes before it says anything.
    unit : str
        What is counted there.
    find : callable
        ``find(record)``: a finding for each rater, in the record's order.
    rings : {"above", "below", "either"}
        On which side of its threshold a value rings; "either" is as far to either side of zero.
    turn : int
        Checks are asked in turns: for whom a serious one rings is none of the others that later turns compare with.
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
    """A share in words, as pages write it.

    Examples
    --------
    >>> percent(0.266)
    '27 %'
    """
    return f"{100 * share:.0f} %"


def too_little(check: str, rater: str, n: int, needed: int, **more: Any) -> Finding:
    """The finding where nothing can be said yet."""
    return Finding(check, rater, "too little", n, needed, f"Too little to tell ({n:,} of {needed:,}).", **more)


def state_of(rings: bool) -> State:
    """The state where there is enough to tell."""
    return "alarm" if rings else "fine"


def beyond_chance(chance: float, record: Record) -> bool:
    """Whether so small a chance is too small for a round with so many raters."""
    return chance * max(record.size, 1) * ROUNDS < 1
