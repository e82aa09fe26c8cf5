"""Pairwise accuracy: the share of document pairs with different grades that the run orders correctly."""

from __future__ import annotations

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, share
from assay.metrics.metric import Metric


def pairwise_accuracy(rankings: JudgedRankings, cutoff: None = None) -> Floats:
    """Compute the share of pairs of judged documents with different grades that are in the order of their grades.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : None
        Not used.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if all judged documents have one grade.

    Notes
    -----
    A document that is not returned ranks below all returned documents. Two documents that are not returned have no
    order, so their pair counts as wrong. A run that returns nothing therefore scores 0, like a model in zbench that
    gives all documents the same score. Pairs of equal grades, which zbench keeps in the divisor, are not counted. Only
    the order of the grades matters, so grades may be negative (like Elo scores) or fractions.

    Pairs in the wrong order are counted during a merge sort over all queries together, in n log n steps.

    Examples
    --------
    >>> pairwise_accuracy(JudgedRankings.of((3, {1: 2, 2: 0, 3: 1}, [2, 1, 1, 0]))).round(4)
    array([0.6])
    """
    right = rankings.total(rankings.judged_lower) - _wrong(rankings)
    return share(right, rankings.judged_total(rankings.lower_than_judged))


def _wrong(rankings: JudgedRankings) -> Floats:
    """Count, by query, the pairs of returned documents with the lower grade ranked above."""
    place = np.arange(len(rankings.ranks)) - rankings.offsets[rankings.query]
    wrong = np.zeros(rankings.queries)
    order = np.lexsort((rankings.grades, rankings.query))
    # The documents of a block are sorted by grade; the upper and lower half of its positions are the blocks of the next
    # pass. Two documents are in different halves of one block exactly once.
    for bit in reversed(range(int(place.max(initial=0)).bit_length())):
        query, grade, at = rankings.query[order], rankings.grades[order], place[order]
        block, upper = (at >> (bit + 1)) << (bit + 1), (at >> bit) & 1 == 0
        begin = rankings.offsets[query] + block
        uppers = np.concatenate(([0], np.cumsum(upper)))
        below = uppers[_starts(begin, grade)] - uppers[begin]
        wrong += np.bincount(query[~upper], below[~upper], rankings.queries)
        before = uppers[:-1] - uppers[begin]
        half = np.minimum(1 << bit, rankings.offsets[query + 1] - begin)
        order[np.where(upper, begin + before, np.arange(len(order)) + half - before)] = order.copy()
    return wrong


def _starts(block: Integers, grade: Floats) -> Integers:
    """Return for each row the start of the adjacent rows of its block and grade."""
    differs = np.zeros(len(block), dtype=np.bool_)
    differs[1:] = (block[1:] != block[:-1]) | (grade[1:] != grade[:-1])
    starts: Integers = np.maximum.accumulate(np.where(differs, np.arange(len(differs)), 0))
    return starts


PAIRWISE_ACCURACY = Metric(
    name="PairwiseAccuracy",
    title="Pairwise accuracy",
    description="The share of document pairs with different grades that the run ranks in the right order.",
    formula="pairs of judged documents with the higher grade ranked above the lower / pairs with different grades. "
    "Documents that are not returned rank below returned documents; a pair without a returned document counts as "
    "wrong. 0 if all grades are equal.",
    source="zbench's reranker accuracy, without pairs of equal grades. Equals (Kendall's tau-a + 1) / 2 if all "
    "documents are returned and no grades are equal.",
    per_query=pairwise_accuracy,
    cutoff="none",
    aliases={"pairwise_accuracy": {}},
)
