"""Signals of stale labels: their declaration, readings and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.staleness.actions import ACTIONS
from assay.staleness.facts import Facts, Missing

FRESH, WARN, STALE, UNKNOWN = "fresh", "warn", "stale", "unknown"
# From the best to the worst; what is not known says nothing about the others.
ORDER = (UNKNOWN, FRESH, WARN, STALE)
SHARE, COUNT, DAYS, INDEX = "share", "count", "days", "index"


def percent(share: float) -> str:
    """Return a share as people read it.

    Examples
    --------
    >>> percent(0.25), percent(0.004)
    ('25 %', '0.4 %')
    """
    return f"{share:.0%}".replace("%", " %") if share >= 0.01 or not share else f"{share:.1%}".replace("%", " %")


@dataclass(frozen=True)
class Reading:
    """What a signal measured.

    Parameters
    ----------
    now : float
        The number that is compared with the thresholds.
    words : str
        The same in words, for people.
    then : float, optional
        The number at the baseline, where there is one.
    detail : tuple of dict
        What it is made of, the gravest first; never a grade.
    """

    now: float
    words: str
    then: float | None = None
    detail: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Signal:
    """One sign of staleness.

    Parameters
    ----------
    name, title : str
        As the table and as people call it.
    measures : str
        How it is measured, in a sentence.
    baseline : str
        What of the frozen labels it is compared with.
    unit : str
        ``share``, ``count``, ``days`` or ``index``.
    warn, stale : float or None
        Above these it warns, or asks for the action. None: it never does.
    source : str
        Where the thresholds come from.
    action : str
        A name of `actions.ACTIONS`.
    look : callable
        From the facts to a reading, or why there is none.
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
        """Kept by its name: what a cache holds is read with the table as it is then."""
        return signal_named, (self.name,)

    def find(self, facts: Facts) -> Finding:
        """Read the signal and hold it against its thresholds.

        A number that equals its threshold is not above it; one part in 10^12 is left to rounding.
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
    """What a signal said: ``now`` is None if it is not known, with the ``reason``."""

    signal: Signal
    state: str
    now: float | None
    then: float | None
    words: str
    reason: str | None
    detail: tuple[dict[str, Any], ...] = ()

    @property
    def asks(self) -> bool:
        """Return whether it asks for its action."""
        return self.state in (WARN, STALE)

    def as_json(self) -> dict[str, Any]:
        """Return plain values under the names of the file and the API."""
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
        """The same from what `as_json` gave, under the limits of its day."""
        signal = signal_named(data["signal"])
        detail = tuple(data["detail"])
        return cls(signal, data["state"], data["now"], data["baseline"], data["words"], data["reason"], detail)


def worst(states: list[str]) -> str:
    """Return the gravest of some states; unknown where nothing is known.

    Examples
    --------
    >>> worst(["fresh", "unknown", "warn"]), worst([])
    ('warn', 'unknown')
    """
    return max(states, key=ORDER.index, default=UNKNOWN)
