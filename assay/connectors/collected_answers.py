"""Results collected from an engine so far, with each document's content stored once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.connectors.connector import Hit
from assay.connectors.fetch import Answer


class Gathered:
    """The results of an engine so far: each query's ids and scores, and each document's content once."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.documents: dict[str, Hit] = {}
        self.differing: set[str] = set()

    def add(self, answer: Answer) -> None:
        """Add the results of one query."""
        bare = []
        for hit in answer.hits:
            content = replace(hit, score=None)
            first = self.documents.setdefault(hit.doc_id, content)
            if first != content:
                self.differing.add(hit.doc_id)
            bare.append(Hit(first.doc_id, hit.score))
        self.answers[answer.query_id] = replace(answer, hits=tuple(bare))

    def readable(self) -> Iterator[Hit]:
        """Yield the documents that have content."""
        return (hit for hit in self.documents.values() if hit.title or hit.text)

    def __len__(self) -> int:
        return len(self.answers)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.answers
