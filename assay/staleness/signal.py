"""Signals of stale labels: the facts that they read, their declaration, readings and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from assay.staleness.actions import ACTIONS

Value = TypeVar("Value")
NO_BASELINE = "these labels were frozen without a baseline; freeze a new snapshot to create one"
# A field with more distinct values than these is no category.
MOST_VALUES = 1_000


@dataclass(frozen=True)
class Missing:
    """An unknown fact and its reason, which is a sentence without initial capital and period."""

    reason: str


def both(then: Value | Missing, now: Value | Missing) -> tuple[Value, Value] | Missing:
    """Return both sides of a comparison, or why one of them is unknown."""
    if isinstance(now, Missing):
        return now
    return then if isinstance(then, Missing) else (then, now)


UNTOLD = Missing(NO_BASELINE)
NO_INDEX = Missing("the current documents of the index are unknown")
NO_DATE = Missing("the date of these labels is unknown")


@dataclass(frozen=True)
class RunHoles:
    """The unjudged documents in the top ranks of a run, over the labeled queries."""

    name: str
    sha256: str
    holes: int
    returned: int
    queries: int
    mean: float | None
    p90: float | None
    worst: tuple[tuple[str, int, int], ...] = ()
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values; tuples become lists."""
        return {**asdict(self), "worst": [list(one) for one in self.worst]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunHoles:
        """Return the object from the result of `as_json`."""
        return cls(**{**data, "worst": tuple((str(q), int(n), int(of)) for q, n, of in data["worst"])})


@dataclass(frozen=True)
class Declared:
    """A recorded change: a new schema, new embeddings, a new category or language. ``older`` is the number of the
    ``ratings`` behind the labels from before that day; None if unknown.
    """

    kind: str
    on: datetime
    note: str = ""
    older: int | None = None
    ratings: int | None = None


@dataclass(frozen=True)
class Values:
    """The number of documents with each value of a field; ``total`` counts all documents, including those without a
    value.
    """

    name: str
    counts: Mapping[str, int]
    total: int
    distinct: int


@dataclass(frozen=True)
class Traffic:
    """The searches of a log: their curve, and the share for judged queries."""

    sha256: str
    curve: Sequence[tuple[int, float]]
    covered: float | None = None
    tiers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """The facts about documents, traffic and runs at one time; `Missing` has the reason for unknown facts."""

    runs: Sequence[RunHoles] | Missing = UNTOLD
    documents: int | Missing = UNTOLD
    hashes: Mapping[str, str] | Missing = UNTOLD
    category: Values | Missing = UNTOLD
    language: Values | Missing = UNTOLD
    traffic: Traffic | Missing = UNTOLD


@dataclass(frozen=True)
class Facts:
    """All facts for the signals."""

    then: Known
    now: Known
    gone: Sequence[str] | Missing = NO_INDEX
    declared: Sequence[Declared] = ()
    days: float | Missing = NO_DATE
    judged: int = 0


FRESH, WARN, STALE, UNKNOWN = "fresh", "warn", "stale", "unknown"
# From best to worst; an unknown state does not affect the others.
ORDER = (UNKNOWN, FRESH, WARN, STALE)
SHARE, COUNT, DAYS, INDEX = "share", "count", "days", "index"


def percent(share: float) -> str:
    """Format a share as a percentage.

    Examples
    --------
    >>> percent(0.25), percent(0.004)
    ('25%', '0.4%')
    """
    return f"{share:.0%}" if share >= 0.01 or not share else f"{share:.1%}"


@dataclass(frozen=True)
class Reading:
    """The measurement of a signal."""

    now: float
    words: str
    then: float | None = None
    detail: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Signal:
    """A signal of staleness.

    Parameters
    ----------
    name, title : str
        Name in the table, and title for people.
    measures : str
        A sentence about the measurement.
    baseline : str
        The frozen value that it is compared with.
    unit : str
        ``share``, ``count``, ``days`` or ``index``.
    warn, stale : float or None
        Thresholds above which it warns or requires action; None for never.
    source : str
        Source of the thresholds.
    action : str
        A name of `actions.ACTIONS`.
    look : callable
        Returns a reading of the facts, or why there is none.
    """

    name: str
    title: str
    measures: str
    baseline: str
    unit: str
    warn: float | None
    stale: float | None
    source: str
    action: str
    look: Callable[[Facts], Reading | Missing]

    def __reduce__(self) -> Any:
        """Pickle the signal by name, so that cached signals use the current table."""
        return signal_named, (self.name,)

    def find(self, facts: Facts) -> Finding:
        """Read the signal and compare it with its thresholds. A number that equals its threshold, up to a rounding
        tolerance of one part in 10^12, is not above it.
        """
        reading = self.look(facts)
        if isinstance(reading, Missing):
            return Finding(self, UNKNOWN, None, None, "", reading.reason)
        state = FRESH
        for limit, name in ((self.warn, WARN), (self.stale, STALE)):
            if limit is not None and reading.now > limit + 1e-12 * max(1.0, abs(limit)):
                state = name
        return Finding(self, state, reading.now, reading.then, reading.words, None, reading.detail)


def signal_named(name: str) -> Signal:
    """Return the signal of this name in the table."""
    from assay.staleness import SIGNALS

    return SIGNALS[name]


@dataclass(frozen=True)
class Finding:
    """The result of a signal: ``now`` is None if unknown, with the ``reason``."""

    signal: Signal
    state: str
    now: float | None
    then: float | None
    words: str
    reason: str | None
    detail: tuple[dict[str, Any], ...] = ()

    @property
    def asks(self) -> bool:
        """Return whether it requires action."""
        return self.state in (WARN, STALE)

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values under their API names."""
        signal, action = self.signal, ACTIONS[self.signal.action]
        return {
            "signal": signal.name,
            "title": signal.title,
            "state": self.state,
            "now": self.now,
            "baseline": self.then,
            "unit": signal.unit,
            "warn": signal.warn,
            "stale": signal.stale,
            "words": self.words,
            "reason": self.reason,
            "action": {"name": action.name, "title": action.title} if self.asks else None,
            "detail": [dict(one) for one in self.detail],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        """Return the finding from the result of `as_json`, with the limits of its time."""
        signal = signal_named(data["signal"])
        detail = tuple(data["detail"])
        return cls(signal, data["state"], data["now"], data["baseline"], data["words"], data["reason"], detail)


def worst(states: list[str]) -> str:
    """Return the worst of some states; unknown if none is known.

    Examples
    --------
    >>> worst(["fresh", "unknown", "warn"]), worst([])
    ('warn', 'unknown')
    """
    return max(states, key=ORDER.index, default=UNKNOWN)
