"""Data classes of a check and its finding, and the wording of findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from assay.quality.alert_growth import Side
from assay.quality.rater_record import Record

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
