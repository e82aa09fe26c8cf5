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
    """The numbers of a tier."""

    name: str
    queries: int
    traffic: int
    share: float | None
    squares: int | None = None


@dataclass(frozen=True, slots=True)
class TierCut:
    """A log's queries, cut into tiers."""

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
    """Raise `NotValid` for cuts that are out of order, or if only one rank is set."""
    if not 0 < head_share <= torso_share <= 1:
        message = f"The tiers are cut at {head_share} and {torso_share}. Use 0 < head share <= torso share <= 1."
        raise NotValid(message, "head_share")
    if (head_ranks is None) != (torso_ranks is None):
        missing = "torso" if torso_ranks is None else "head"
        message = f"The rank at which the {missing} ends is missing. Set both ranks or neither."
        raise NotValid(message, f"{missing}_ranks")
    if head_ranks is not None and torso_ranks is not None and not 0 < head_ranks <= torso_ranks:
        message = f"The head ends at rank {head_ranks}, the torso at {torso_ranks}. Use 0 < head <= torso."
        raise NotValid(message, "head_ranks")


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
