"""Text metrics: their declaration, and those that compare an answer with accepted answers."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from assay.core.errors import NotValid


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


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


# It differs from the normalization for judges: SQuAD deletes punctuation, so that "four-way" is one token, and drops
# English articles.
def answer_tokens(text: str) -> list[str]:
    """Split an answer into tokens: lower case, without ASCII punctuation or articles.

    Examples
    --------
    >>> answer_tokens("The four-way  switch, 1,200 kg!")
    ['fourway', 'switch', '1200', 'kg']
    """
    return _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def accepted_tokens(accepted: Sequence[str]) -> list[list[str]]:
    """Split the accepted answers into tokens, without answers that have none; a single empty list if none is left.

    Examples
    --------
    >>> accepted_tokens(["The A", "a seal"]), accepted_tokens([])
    ([['seal']], [[]])
    """
    return [tokens for tokens in map(answer_tokens, accepted) if tokens] or [[]]


def exact_match(answer: str, accepted: Sequence[str]) -> float:
    """Return 1 if the answer equals an accepted answer after normalization, otherwise 0.

    Parameters
    ----------
    answer : str
        The answer of a system.
    accepted : sequence of str
        The accepted answers; none means that there is no answer, so that an empty answer scores 1.

    Returns
    -------
    float
        0 or 1. Source: Rajpurkar et al. 2016, 2018 (SQuAD).

    Examples
    --------
    >>> exact_match("the Mercury.", ["mercury"]), exact_match("", []), exact_match("tin", ["lead"])
    (1.0, 1.0, 0.0)
    """
    return float(answer_tokens(answer) in accepted_tokens(accepted))


EXACT_MATCH = TextMetric(
    name="exact_match",
    title="Exact match",
    description="Whether the answer equals an accepted answer after case, punctuation and articles are removed.",
    formula="1 if the token list equals that of an accepted answer, otherwise 0",
    source="Rajpurkar et al. 2016, 2018 (SQuAD)",
    score=exact_match,
)


def token_f1(answer: str, accepted: Sequence[str]) -> float:
    """Compute the F1 of shared tokens with the closest accepted answer, counting tokens with multiplicity.

    Parameters
    ----------
    answer : str
        The answer of a system.
    accepted : sequence of str
        The accepted answers; none means that there is no answer, so that an empty answer scores 1.

    Returns
    -------
    float
        From 0 to 1. Source: Rajpurkar et al. 2016, 2018 (SQuAD).

    Examples
    --------
    >>> token_f1("rubber seals", ["two spare rubber seals"])
    0.6666666666666666
    >>> token_f1("audio and power", ["power and audio"]), token_f1("left", [])
    (1.0, 0.0)
    """
    answered = answer_tokens(answer)
    return max(_f1(answered, tokens) for tokens in accepted_tokens(accepted))


def _f1(answered: list[str], tokens: list[str]) -> float:
    if not answered or not tokens:
        return float(answered == tokens)
    shared = sum((Counter(answered) & Counter(tokens)).values())
    return 2 * shared / (len(answered) + len(tokens))


TOKEN_F1 = TextMetric(
    name="token_f1",
    title="Token F1",
    description="How many tokens the answer shares with the closest accepted answer; order does not matter.",
    formula="2 s / (a + b), s shared tokens with multiplicity, a and b the lengths",
    source="Rajpurkar et al. 2016, 2018 (SQuAD)",
    score=token_f1,
)


def accuracy(answer: str, accepted: Sequence[str]) -> float:
    """Return 1 if the answer contains the tokens of an accepted answer in sequence, otherwise 0.

    Parameters
    ----------
    answer : str
        The answer of a system, a sentence or a word.
    accepted : sequence of str
        The accepted answers or class labels; none means that there is no answer, so that an empty answer scores 1.

    Returns
    -------
    float
        0 or 1.

    Examples
    --------
    >>> accuracy("It is SUPPORTED by the text.", ["supported"]), accuracy("Unsupported.", ["supported"])
    (1.0, 0.0)
    """
    answered = answer_tokens(answer)
    return float(any(_holds(answered, tokens) for tokens in accepted_tokens(accepted)))


def _holds(answered: list[str], tokens: list[str]) -> bool:
    if not tokens:
        return not answered
    return any(answered[at : at + len(tokens)] == tokens for at in range(len(answered) - len(tokens) + 1))


ACCURACY = TextMetric(
    name="accuracy",
    title="Accuracy",
    description="Whether the answer contains an accepted answer word for word; for labels and short answers.",
    formula="1 if the token list of an accepted answer is part of the answer's token list, otherwise 0",
    source="common practice in open-domain question answering",
    score=accuracy,
)


# rouge-score is imported when the first answer is scored; it comes with the extra `rag`.
def rouge_l(answer: str, accepted: Sequence[str]) -> float:
    """Compute ROUGE-L with the closest accepted answer."""
    right = [text for text in accepted if text.strip()]
    if not right or not answer.strip():
        return float(not right and not answer.strip())
    scorer = _scorer()
    return max(float(scorer.score(text, answer)["rougeL"].fmeasure) for text in right)


@lru_cache(maxsize=1)
def _scorer() -> Any:
    if find_spec("rouge_score") is None:
        raise NotValid("the text metric rouge_l needs rouge-score; pip install 'assay[rag]'")
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=False)


ROUGE_L = TextMetric(
    name="rouge_l",
    title="ROUGE-L",
    description="How long a sequence of words the answer shares with the closest accepted answer; order matters.",
    formula="2 c / (a + b), c the longest common subsequence of words, a and b the lengths",
    source="Lin 2004; the implementation of rouge-score",
    score=rouge_l,
)
