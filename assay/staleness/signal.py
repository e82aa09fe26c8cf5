"""Signals of stale labels: their declaration, readings and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.staleness.actions import ACTIONS
from assay.staleness.facts import Facts, Missing

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
