"""Which of the expected answers does each retrieved text match?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from judgments.core.errors import NotValid
from judgments.judges.contract import Context

Match = Literal["first", "all"]


class YesNoJudge(Protocol):
    """A judge that says yes or no to a batch of contexts."""

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Judge several contexts, in their order."""


def matched(
    judge: YesNoJudge, query: str, expected: Sequence[str], retrieved: Sequence[str], *, match: Match = "first"
) -> list[tuple[int, ...]]:
    """Find the expected answers that each retrieved text matches, judging all combinations in one batch.

    Parameters
    ----------
    judge : YesNoJudge
        Whoever decides.
    query : str
        What was typed.
    expected, retrieved : sequence of str
        The accepted answers and the texts in their order of rank.
    match : {"first", "all"}
        Whether a text is credited with the first answer that it matches, as Evret has it, or with every one.

    Returns
    -------
    list of tuple of int
        For each retrieved text the places in `expected`; empty where it matches none.

    Raises
    ------
    NotValid
        When `match` is neither.

    Examples
    --------
    >>> from judgments.judges.token_overlap import TokenOverlap
    >>> matched(TokenOverlap(), "tent", ["a tent", "tent"], ["A tent for two", "a stove"], match="all")
    [(0, 1), ()]
    """
    if match not in ("first", "all"):
        raise NotValid(f"match is first or all, not {match!r}")
    contexts = [Context(query, text, (answer,)) for text in retrieved for answer in expected]
    verdicts = judge.batch_judge(contexts)
    width = len(expected)
    rows = [verdicts[at * width : (at + 1) * width] for at in range(len(retrieved))]
    places = [tuple(place for place, yes in enumerate(row) if yes) for row in rows]
    return [found[:1] if match == "first" else found for found in places]
