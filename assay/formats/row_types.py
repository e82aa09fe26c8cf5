"""Row classes, one for each kind of file.

Rows compare by content; ``line`` only records their position in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class LabelRow:
    """The label of one pair. If ``by_text`` is set, the file identifies queries by their text, and the reader
    numbered them. Queries of the same ``group`` share their labels.
    """

    query_id: str
    doc_id: str
    grade: float | None
    origin: str = "0"
    query: str = ""
    copied_from: tuple[str, str, str] | None = None
    line: int = field(default=0, compare=False)
    by_text: bool = field(default=False, compare=False)
    group: str = ""


@dataclass(frozen=True, slots=True)
class SubtopicRow:
    """The grade of one pair for one subtopic."""

    query_id: str
    subtopic: str
    doc_id: str
    grade: float
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class RunRow:
    """One document that a system returned for a query."""

    query_id: str
    doc_id: str
    score: float
    rank: int | None = field(default=None, compare=False)
    tag: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    query: str = field(default="", compare=False)
    by_text: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document; ``fields`` contains values without their own column."""

    doc_id: str
    title: str = ""
    text: str = ""
    url: str = ""
    image: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class StratumRow:
    """Membership of a query in a further stratum."""

    stratum: str
    share: float
    tier: str
    probability: float
    weight: float


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query with its need, tier and traffic; None means unknown. If queries were drawn in several strata,
    ``stratum`` is the part of the traffic that the query represents, ``share`` is that part's share of the whole,
    and ``also`` contains additional strata.
    """

    query_id: str
    query: str
    narrative: str = ""
    group: str = ""
    tier: str = ""
    frequency: int | None = None
    clients: int | None = None
    probability: float | None = None
    weight: float | None = None
    stratum: str = ""
    share: float | None = None
    also: tuple[StratumRow, ...] = ()
    language: str = ""
    line: int = field(default=0, compare=False)
    by_text: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class LogRow:
    """One search of a raw log (``count`` is 1), or one query of a counted log with its clients and its own id."""

    query: str
    count: int = 1
    timestamp: str = ""
    client_id: str = ""
    clicks: str = ""
    line: int = field(default=0, compare=False)
    language: str = ""
    clients: int | None = None
    query_id: str = ""


@dataclass(frozen=True, slots=True)
class ClickRow:
    """One line of a click log: a shown or clicked result, counts of those, or a whole search."""

    query: str
    doc_id: str
    position: int | None
    impressions: int
    clicks: int
    query_id: str = ""
    client_id: str = ""
    search_id: str = ""
    results: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One rater's answer for one pair; ``grade`` is None unless ``state`` is ``graded``. If ``by_text`` is set, the
    file identifies queries by their text, and the reader numbered them.
    """

    query_id: str
    doc_id: str
    rater: str
    grade: int | None
    state: str = "graded"
    query: str = ""
    source: str = "human"
    guideline: str = ""
    rated_at: str = ""
    ms_active: int | None = None
    note: str = ""
    line: int = field(default=0, compare=False)
    by_text: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class PairRow:
    """One pair to judge, with the inputs of a machine judge."""

    query_id: str
    doc_id: str
    query: str = ""
    narrative: str = ""
    text: str = ""
    expected: tuple[str, ...] = ()
    rank: int | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Passage:
    """A document's text in a fine-tuning file. ``judged`` is False for a negative that has no judgment."""

    doc_id: str
    text: str
    score: float | None = None
    judged: bool = True


@dataclass(frozen=True, slots=True)
class TripletRow:
    """A query with relevant documents and documents that are not; ``more`` contains further keys of the file."""

    query_id: str
    query: str
    positives: tuple[Passage, ...]
    negatives: tuple[Passage, ...]
    more: Mapping[str, Any] = field(default_factory=dict)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class GradedPairRow:
    """A query and a document with a score: the grade, or its share of the highest grade."""

    query_id: str
    query: str
    doc_id: str
    document: str
    score: float
    line: int = field(default=0, compare=False)
