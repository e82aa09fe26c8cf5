"""Tiers of the traffic: cut queries into head, torso and tail."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from assay.core.errors import NotValid
from assay.sampling.query_table import LogQuery, frequencies_of, in_order

HEAD, TORSO, TAIL = TIERS = ("head", "torso", "tail")
HEAD_SHARE = 0.5
TORSO_SHARE = 0.8
MAX_POINTS = 200


@dataclass(frozen=True, slots=True)
class Tier:
    """The numbers of a tier.

    Parameters
    ----------
    name : str
        ``head``, ``torso`` or ``tail``.
    queries, traffic : int
        Distinct queries in it, and searches for them.
    share : float or None
        Its share of the traffic; None if there is no traffic.
    squares : int or None
        The sum of the squared frequencies, which gives the effective size of a draw; None if it was not counted.
    """

    name: str
    queries: int
    traffic: int
    share: float | None
    squares: int | None = None


@dataclass(frozen=True, slots=True)
class TierCut:
    """A log's queries, cut into tiers.

    Parameters
    ----------
    queries : sequence of LogQuery
        Most frequent first.
    tier : tuple of str
        The tier of each.
    tiers : tuple of Tier
        Head, torso, tail.
    curve : tuple of (int, float)
        The cumulative traffic curve for a chart: the share of the traffic after a number of queries. At most 200
        points; they start at (0, 0.0), end at the last query and include both cuts.
    head_share, torso_share : float
        The requested cuts, or the share of the traffic above them if ranks were requested.
    head_ranks, torso_ranks : int or None
        The requested number of queries above each cut; None if the cuts are by traffic.
    """

    queries: Sequence[LogQuery]
    tier: tuple[str, ...]
    tiers: tuple[Tier, ...]
    curve: tuple[tuple[int, float], ...]
    head_share: float
    torso_share: float
    head_ranks: int | None = None
    torso_ranks: int | None = None

    @property
    def traffic(self) -> int:
        """Return the number of searches."""
        return sum(tier.traffic for tier in self.tiers)


def cut_tiers(
    queries: Sequence[LogQuery],
    *,
    head_share: float = HEAD_SHARE,
    torso_share: float = TORSO_SHARE,
    head_ranks: int | None = None,
    torso_ranks: int | None = None,
) -> TierCut:
    """Cut queries into tiers by the share of the traffic above each, or by their rank.

    Parameters
    ----------
    queries : sequence of LogQuery
        In any order.
    head_share, torso_share : float
        A query is in the head if the queries above it have less than ``head_share`` of the traffic, in the torso if
        they have less than ``torso_share``, and in the tail otherwise. 0 < head_share <= torso_share <= 1.
    head_ranks, torso_ranks : int, optional
        Both or neither: the most frequent ``head_ranks`` queries are the head, those up to rank ``torso_ranks`` are the
        torso, regardless of their traffic. The shares are then ignored. 0 < head_ranks <= torso_ranks.

    Returns
    -------
    TierCut

    Raises
    ------
    NotValid
        When the shares or the ranks are out of order, or one rank is given without the other.

    Notes
    -----
    The usual cut is by traffic instead of rank, because the number of queries with half of the traffic differs by
    orders of magnitude between logs. Shares are compared exactly, as fractions, so that a query at the cut is on the
    same side everywhere.

    Examples
    --------
    >>> counted = [LogQuery(word, word, n, None, 1, None) for word, n in [("tent", 5), ("rope", 3), ("knot", 2)]]
    >>> cut_tiers(counted).tier
    ('head', 'torso', 'tail')
    >>> cut_tiers(counted, head_ranks=2, torso_ranks=3).tier
    ('head', 'head', 'torso')
    """
    check_cuts(head_share, torso_share, head_ranks, torso_ranks)
    ordered = in_order(queries)
    frequencies = frequencies_of(ordered)
    sums = list(accumulate(frequencies, initial=0))
    total, size = sums[-1], len(ordered)
    if head_ranks is not None and torso_ranks is not None:
        ends = [min(head_ranks, size), min(torso_ranks, size)]
        if total:
            head_share, torso_share = (sums[end] / total for end in ends)
    else:
        ends = [bisect_left(sums, Fraction(str(share)) * total, hi=size) for share in (head_share, torso_share)]
    bounds = (0, *ends, size)
    return TierCut(
        queries=ordered,
        tier=_named(size, *ends),
        tiers=tuple(
            _tier(name, frequencies[begin:end], total)
            for name, begin, end in zip(TIERS, bounds, bounds[1:], strict=False)
        ),
        curve=_curve(sums, set(ends)),
        head_share=head_share,
        torso_share=torso_share,
        head_ranks=head_ranks,
        torso_ranks=torso_ranks,
    )


def check_cuts(head_share: float, torso_share: float, head_ranks: int | None, torso_ranks: int | None) -> None:
    """Raise `NotValid` for cuts out of order, or one rank without the other."""
    if not 0 < head_share <= torso_share <= 1:
        message = f"The tiers are cut at {head_share} and {torso_share}. Use 0 < head share <= torso share <= 1."
        raise NotValid(message, {"head_share": message})
    if (head_ranks is None) != (torso_ranks is None):
        missing = "torso" if torso_ranks is None else "head"
        message = f"The rank at which the {missing} ends is missing. Set both ranks or neither."
        raise NotValid(message, {f"{missing}_ranks": message})
    if head_ranks is not None and torso_ranks is not None and not 0 < head_ranks <= torso_ranks:
        message = f"The head ends at rank {head_ranks}, the torso at {torso_ranks}. Use 0 < head <= torso."
        raise NotValid(message, {"head_ranks": message})


def _named(queries: int, head: int, torso: int) -> tuple[str, ...]:
    return (HEAD,) * head + (TORSO,) * (torso - head) + (TAIL,) * (queries - torso)


def _tier(name: str, frequencies: Sequence[int], total: int) -> Tier:
    traffic = sum(frequencies)
    squares = sum(frequency * frequency for frequency in frequencies)
    return Tier(name, len(frequencies), traffic, traffic / total if total else None, squares)


def _curve(sums: Sequence[int], cuts: set[int]) -> tuple[tuple[int, float], ...]:
    """Return ranks in even logarithmic steps, because the curve bends on that scale."""
    last, total = len(sums) - 1, sums[-1]
    if not total:
        return ()
    spread = {0, last, *cuts}
    steps = MAX_POINTS - 2 * len(TIERS)
    spread.update(round(last ** (step / steps)) for step in range(steps + 1))
    return tuple((rank, sums[rank] / total) for rank in sorted(spread))
