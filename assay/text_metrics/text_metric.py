"""Declaration of a text metric, and the tokens that the metrics compare."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextMetric:
    """Declaration of a text metric.

    Parameters
    ----------
    name, title, description : str
        The name that users type, its readable form, and a line about its meaning.
    formula, source : str
        The definition for one answer, and its source.
    score : callable
        ``score(answer, accepted) -> float`` from 0 to 1: the best over the accepted answers; without accepted answers,
        the correct answer is empty.
    """

    name: str
    title: str
    description: str
    formula: str
    source: str
    score: Callable[[str, Sequence[str]], float]


# SQuAD deletes punctuation, so that "four-way" is one token, and drops English articles, unlike the words of judges.
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


def answer_tokens(text: str, *, case: bool = True, punctuation: bool = True, articles: bool = True) -> list[str]:
    """Split an answer into tokens: lower case, without ASCII punctuation or articles, unless an option is False.

    Examples
    --------
    >>> answer_tokens("The four-way  switch, 1,200 kg!")
    ['fourway', 'switch', '1200', 'kg']
    """
    text = text.lower() if case else text
    text = text.translate(_NO_PUNCTUATION) if punctuation else text
    return (_ARTICLE.sub(" ", text) if articles else text).split()


def accepted_tokens(accepted: Sequence[str], **options: bool) -> list[list[str]]:
    """Split the accepted answers into tokens, without answers that have no tokens; a single empty list if no answer is
    left.

    Examples
    --------
    >>> accepted_tokens(["The A", "a seal"]), accepted_tokens([])
    ([['seal']], [[]])
    """
    return [tokens for text in accepted if (tokens := answer_tokens(text, **options))] or [[]]
