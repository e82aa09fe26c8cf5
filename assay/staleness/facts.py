"""Facts for the signals, as plain tables: the frozen state of the labels, and the current state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeVar

Value = TypeVar("Value")
DEPTH = 10
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
