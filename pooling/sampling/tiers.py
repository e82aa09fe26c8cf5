"""Which queries are head, torso and tail of the traffic?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from judgments.core.errors import NotValid
from pooling.sampling.log import LogQuery

HEAD, TORSO, TAIL = TIERS = ("head", "torso", "tail")
HEAD_SHARE = 0.5
TORSO_SHARE = 0.8
MAX_POINTS = 200


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier in numbers.

    Parameters
    ----------
    name : str
        ``head``, ``torso`` or ``tail``.
    queries, traffic : int
        Distinct queries in it, and searches for them.
    share : float or None
        Its share of the traffic; None when there is no traffic at all.
    """

    name: str
    queries: int
    traffic: int
    share: float | None


@dataclass(frozen=True, slots=True)
class TierCut:
    """A log's queries, cut into tiers.

    Parameters
    ----------
    queries : tuple of LogQuery
        Most frequent first.
    tier : tuple of str
        The tier of each.
    tiers : tuple of Tier
        Head, torso, tail.
    curve : tuple of (int, float)
        The cumulative traffic curve for a picture: after so many queries, this share of the traffic. At most 200
        points; they start at (0, 0.0), end at the last query and hold both cuts.
    head_share, torso_share : float
        Where the cuts were asked for.
    """

    queries: tuple[LogQuery, ...]
    tier: tuple[str, ...]
    tiers: tuple[Tier, ...]
    curve: tuple[tuple[int, float], ...]
    head_share: float
    torso_share: float

    @property
    def traffic(self) -> int:
        """All searches."""
        return sum(tier.traffic for tier in self.tiers)


def cut_tiers(
    queries: Sequence[LogQuery], *, head_share: float = HEAD_SHARE, torso_share: float = TORSO_SHARE
) -> TierCut:
    """Cut queries into tiers by the share of the traffic that stands above each.

    Parameters
    ----------
    queries : sequence of LogQuery
        In any order.
    head_share, torso_share : float
        A query is head while the queries above it hold less than ``head_share`` of the traffic, torso while they hold
        less than ``torso_share``, tail after that. 0 < head_share <= torso_share <= 1.

    Returns
    -------
    TierCut

    Raises
    ------
    NotValid
        When the shares are out of order.

    Notes
    -----
    The cut is made on traffic and not on ranks: how many queries carry half of the traffic is what a log has to say,
    and it differs by orders of magnitude between logs. Shares are compared exactly, as fractions, so that a query on
    the line falls on the same side everywhere.

    Examples
    --------
    >>> counted = [LogQuery(word, word, n, None, 1, None) for word, n in [("tent", 5), ("rope", 3), ("knot", 2)]]
    >>> cut_tiers(counted).tier
    ('head', 'torso', 'tail')
    """
    if not 0 < head_share <= torso_share <= 1:
        message = f"the tiers are cut at {head_share} and {torso_share}; give 0 < head share <= torso share <= 1"
        raise NotValid(message, {"head_share": message})
    ordered = tuple(sorted(queries, key=lambda query: (-query.frequency, query.query.encode())))
    sums = list(accumulate((query.frequency for query in ordered), initial=0))
    total = sums[-1]
    ends = [bisect_left(sums, Fraction(str(share)) * total, hi=len(ordered)) for share in (head_share, torso_share)]
    tier = _named(len(ordered), *ends)
    return TierCut(
        queries=ordered,
        tier=tier,
        tiers=tuple(_tier(name, ordered, tier, total) for name in TIERS),
        curve=_curve(sums, set(ends)),
        head_share=head_share,
        torso_share=torso_share,
    )


def _named(queries: int, head: int, torso: int) -> tuple[str, ...]:
    return (HEAD,) * head + (TORSO,) * (torso - head) + (TAIL,) * (queries - torso)


def _tier(name: str, queries: Sequence[LogQuery], tier: Sequence[str], total: int) -> Tier:
    found = [query.frequency for query, its in zip(queries, tier, strict=True) if its == name]
    return Tier(name, len(found), sum(found), sum(found) / total if total else None)


def _curve(sums: Sequence[int], cuts: set[int]) -> tuple[tuple[int, float], ...]:
    """Ranks in even steps of their logarithm, since that is how the traffic bends."""
    last, total = len(sums) - 1, sums[-1]
    if not total:
        return ()
    spread = {0, last, *cuts}
    steps = MAX_POINTS - 2 * len(TIERS)
    spread.update(round(last ** (step / steps)) for step in range(steps + 1))
    return tuple((rank, sums[rank] / total) for rank in sorted(spread))
