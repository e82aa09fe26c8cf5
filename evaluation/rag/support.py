"""Sentences of the evidence that support an answer: those that share most words of one of its sentences."""

from __future__ import annotations

from collections.abc import Iterator

from assay.rag.text import tokens
from judgments.sentences import sentences

# A sentence supports another one when it holds this share of the other one's words.
LEAST = 0.6
# Words shorter than this tell little about what a sentence says; numbers always count.
SHORT = 3
# Longer texts are shown and compared up to here.
LONGEST = 20_000


def words(text: str) -> frozenset[str]:
    """The words of a text that tell what it says."""
    return frozenset(word for word in tokens(text) if len(word) > SHORT or word.isdigit())


def marked(evidence: str, answer: str) -> Iterator[tuple[str, bool]]:
    """Split a text into pieces, each with whether it supports the answer.

    Examples
    --------
    >>> list(marked("Kit 4 is red. It contains two spare seals.", "It contains two seals."))
    [('Kit 4 is red.', False), (' ', False), ('It contains two spare seals.', True)]
    """
    evidence, answer = evidence[:LONGEST], answer[:LONGEST]
    claims = [found for begin, end in sentences(answer) if (found := words(answer[begin:end]))]
    last = 0
    for begin, end in sentences(evidence):
        if begin > last:
            yield evidence[last:begin], False
        known = words(evidence[begin:end])
        yield evidence[begin:end], any(len(claim & known) >= LEAST * len(claim) for claim in claims)
        last = end
    if last < len(evidence):
        yield evidence[last:], False
