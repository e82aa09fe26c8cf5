"""Words for rounds of answers: our own sentences say question and answer there instead of query and document."""

from __future__ import annotations

import re
from typing import Protocol

_WORD = re.compile(r"(?:\b([Aa])\s)?\b(query|queries|document|documents)\b", re.IGNORECASE)
_INSTEAD = {"query": "question", "queries": "questions", "document": "answer", "documents": "answers"}


class Subject(Protocol):
    """A round or a snapshot: what knows whether its grades are of answers."""

    @property
    def of_answers(self) -> bool: ...


def worded(text: str, subject: Subject | None) -> str:
    """Return a sentence, heading or label of ours in the words of what is graded.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> worded("Each query has a document. Queries: 3", SimpleNamespace(of_answers=True))
    'Each question has an answer. Questions: 3'
    >>> worded("Document id", SimpleNamespace(of_answers=False))
    'Document id'
    """
    return _WORD.sub(_instead, text) if subject and subject.of_answers else text


def _instead(match: re.Match[str]) -> str:
    article, word = match[1], match[2]
    instead = _INSTEAD[word.lower()]
    if word[0].isupper():
        instead = instead.capitalize()
    if article is None:
        return instead
    return f"{article}{'n' if instead[0] in 'aA' else ''} {instead}"
