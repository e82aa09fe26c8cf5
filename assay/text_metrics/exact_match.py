"""Exact match: whether the answer equals an accepted answer after normalization."""

from __future__ import annotations

from collections.abc import Sequence

from assay.text_metrics.text_metric import TextMetric, accepted_tokens, answer_tokens


def exact_match(answer: str, accepted: Sequence[str]) -> float:
    """Return 1 if the answer equals an accepted answer after normalization, otherwise 0.

    Parameters
    ----------
    answer : str
        The answer of a system.
    accepted : sequence of str
        The accepted answers; an empty sequence means that there is no answer, so that an empty answer scores 1.

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
    description="Whether the answer equals an accepted answer, ignoring case, punctuation and articles.",
    formula="1 if the token list equals that of an accepted answer, otherwise 0",
    source="Rajpurkar et al. 2016, 2018 (SQuAD)",
    score=exact_match,
)
