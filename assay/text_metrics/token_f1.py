"""Token F1: the tokens that the answer and an accepted answer share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.text_metrics.text_metric import TextMetric, accepted_tokens, answer_tokens


def token_f1(answer: str, accepted: Sequence[str]) -> float:
    """Compute the F1 of shared tokens with the closest accepted answer, counting tokens with multiplicity.

    Parameters
    ----------
    answer : str
        The answer of a system.
    accepted : sequence of str
        The accepted answers; an empty sequence means that there is no answer, so that an empty answer scores 1.

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
    return max(tokens_f1(answered, tokens) for tokens in accepted_tokens(accepted))


def tokens_f1(answered: list[str], tokens: list[str]) -> float:
    """Compute the F1 of shared tokens; as in SQuAD, an answer without tokens is right if the other has none either."""
    if not answered or not tokens:
        return float(answered == tokens)
    return 2 * (Counter(answered) & Counter(tokens)).total() / (len(answered) + len(tokens))


TOKEN_F1 = TextMetric(
    name="token_f1",
    title="Token F1",
    description="How many tokens the answer shares with the closest accepted answer; order does not matter.",
    formula="2 s / (a + b), where s is the number of shared tokens with multiplicity, and a and b are the "
    "lengths of the answers",
    source="Rajpurkar et al. 2016, 2018 (SQuAD)",
    score=token_f1,
)
