"""Facts that the signals read, as plain tables: what was frozen with the labels, and the current state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeVar

Value = TypeVar("Value")
DEPTH = 10
NO_BASELINE = "these labels were frozen without a baseline; freeze a snapshot again to have one"
# A field with more distinct values than these is no category.
MOST_VALUES = 1_000


@dataclass(frozen=True)
class Missing:
    """What is not known, and why; a reason is a sentence without its first capital and its end."""

    reason: str


def both(then: Value | Missing, now: Value | Missing) -> tuple[Value, Value] | Missing:
    """Return the two sides of a comparison, or why one of them is not known."""
    if isinstance(now, Missing):
        return now
    return then if isinstance(then, Missing) else (then, now)


UNTOLD = Missing(NO_BASELINE)
NO_INDEX = Missing("the current documents of the index are unknown")
NO_DATE = Missing("the date of these labels is unknown")


@dataclass(frozen=True)
class RunHoles:
    """What one run returns among its first unjudged documents; over the queries that have labels.

    Parameters
    ----------
    name, sha256 : str
        Which run.
    holes, returned : int
        Unjudged documents among the first ten, and all of these.
    queries : int
        Judged queries that it answers.
    mean, p90 : float or None
        Over these queries: the mean share of unjudged documents, and the share that nine in ten stay within.
    worst : tuple of (str, int, int)
        The queries with the largest shares: id, unjudged, returned.
    reason : str or None
        Why there is no mean.
    """

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
        """Return plain values; tuples become lists."""
        return {**asdict(self), "worst": [list(one) for one in self.worst]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunHoles:
        """The same from what `as_json` gave."""
        return cls(**{**data, "worst": tuple((str(q), int(n), int(of)) for q, n, of in data["worst"])})


@dataclass(frozen=True)
class Declared:
    """What a person said of the world outside: a new schema, other embeddings, a category or language that came.

    ``older`` of the ``ratings`` behind the labels were given before that day; None if it is not known.
    """

    kind: str
    on: datetime
    note: str = ""
    older: int | None = None
    ratings: int | None = None


@dataclass(frozen=True)
class Values:
    """How many documents have each value of a field; ``total`` counts all documents, also those without one."""

    name: str
    counts: Mapping[str, int]
    total: int
    distinct: int


@dataclass(frozen=True)
class Traffic:
    """The searches of a log: their curve, and what of them falls on the judged queries.

    Parameters
    ----------
    sha256 : str
        Of the log.
    curve : sequence of (int, float)
        After so many of the most frequent queries, this share of the searches.
    covered : float or None
        The share of the searches that are for judged queries.
    tiers : mapping of str to str
        The tier of each judged query that the log holds; empty if not computed.
    """

    sha256: str
    curve: Sequence[tuple[int, float]]
    covered: float | None = None
    tiers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """What is known of documents, traffic and runs at one time; `Missing` says why something is not."""

    runs: Sequence[RunHoles] | Missing = UNTOLD
    documents: int | Missing = UNTOLD
    hashes: Mapping[str, str] | Missing = UNTOLD
    category: Values | Missing = UNTOLD
    language: Values | Missing = UNTOLD
    traffic: Traffic | Missing = UNTOLD


@dataclass(frozen=True)
class Facts:
    """All that the signals read.

    Parameters
    ----------
    then, now : Known
        At the baseline and today. ``hashes`` are of the judged documents: then as they were judged, now as they are.
    gone : collection of str, or Missing
        Judged documents that are not there any more, of ``judged`` in all.
    declared : sequence of Declared or Missing
        What was declared since.
    days : float or Missing
        The age of the labels.
    """

    then: Known
    now: Known
    gone: Sequence[str] | Missing = NO_INDEX
    declared: Sequence[Declared] = ()
    days: float | Missing = NO_DATE
    judged: int = 0
