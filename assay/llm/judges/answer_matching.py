"""Match retrieved texts with expected answers, and compute the recall of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from assay.core.errors import NotValid
from assay.llm.judge import Context

Match = Literal["first", "all"]


class YesNoJudge(Protocol):
    """A judge that says yes or no to a batch of contexts."""

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Judge several contexts, in order."""


def matched(
    judge: YesNoJudge, query: str, expected: Sequence[str], retrieved: Sequence[str], *, match: Match = "first"
) -> list[tuple[int, ...]]:
    """Find the expected answers that each retrieved text matches, judging all combinations in one batch.

    Examples
    --------
    >>> from assay.llm.judges.token_overlap import TokenOverlap
    >>> matched(TokenOverlap(), "tent", ["a tent", "tent"], ["A tent for two", "a stove"], match="all")
    [(0, 1), ()]
    """
    if match not in ("first", "all"):
        raise NotValid(f"match must be first or all, not {match!r}")
    contexts = [Context(query, text, (answer,)) for text in retrieved for answer in expected]
    verdicts = judge.batch_judge(contexts)
    width = len(expected)
    rows = [verdicts[at * width : (at + 1) * width] for at in range(len(retrieved))]
    places = [tuple(place for place, yes in enumerate(row) if yes) for row in rows]
    return [matches_of_place[:1] if match == "first" else matches_of_place for matches_of_place in places]


def recall(matches: Sequence[Sequence[int]], expected: int, k: int) -> float | None:
    """Compute recall at k: the share of the expected answers that the first k texts are credited with.

    Examples
    --------
    >>> recall([(0,), (0,), (1,)], 2, 2), recall([], 2, 2), recall([()], 0, 2)
    (0.5, 0.0, None)
    """
    if k < 1:
        raise NotValid(f"the cutoff is {k}; use 1 or more")
    return len({place for places in matches[:k] for place in places}) / expected if expected else None
