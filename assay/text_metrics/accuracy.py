"""Accuracy: whether the answer contains an accepted answer."""

from __future__ import annotations

from collections.abc import Sequence

from assay.text_metrics.text_metric import TextMetric, accepted_tokens, answer_tokens


def accuracy(answer: str, accepted: Sequence[str]) -> float:
    """Return 1 if the answer contains the tokens of an accepted answer in sequence, otherwise 0.

    Parameters
    ----------
    answer : str
        The answer of a system, a sentence or a word.
    accepted : sequence of str
        The accepted answers or class labels; an empty sequence means that there is no answer, so that an empty answer
        scores 1.

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
