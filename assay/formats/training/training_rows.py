"""Rows of fine-tuning files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
