"""Wording for rounds of answers: pages say question and answer instead of query and document."""

from __future__ import annotations

import re
from typing import Protocol

_WORD = re.compile(r"(?:\b([Aa])\s)?\b(query|queries|document|documents)\b", re.IGNORECASE)
_INSTEAD = {"query": "question", "queries": "questions", "document": "answer", "documents": "answers"}


class Subject(Protocol):
    """A round or a snapshot, with whether its grades are of answers."""

    @property
    def of_answers(self) -> bool: ...


def worded(text: str, subject: Subject | None) -> str:
    """Return a text with the words for what is graded."""
    return _WORD.sub(_instead, text) if subject and subject.of_answers else text


def _instead(match: re.Match[str]) -> str:
    article, word = match[1], match[2]
    instead = _INSTEAD[word.lower()]
    if word[0].isupper():
        instead = instead.capitalize()
    if article is None:
        return instead
    return f"{article}{'n' if instead[0] in 'aA' else ''} {instead}"
