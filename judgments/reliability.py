"""How far do a round's raters agree, and how far are they?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max, Q

from judgments import access
from judgments.models import Judgment, Round, Slot, User

BOOTSTRAP = 1_000


def in_hours(seconds: float) -> str:
    """A length of work in minutes, and in hours from two hours on; days would say nothing, since nobody rates all day.

    Examples
    --------
    >>> in_hours(20), in_hours(600), in_hours(88_980)
    ('1 min', '10 min', '24.7 h')
    """
    return f"{seconds / 3600:,.1f} h" if seconds >= 7200 else f"{max(1, round(seconds / 60))} min"


@dataclass(frozen=True)
class RaterProgress:
    """One rater's part of a round."""

    pseudonym: str
    username: str
    graded: int
    unrateable: int
    later: int
    median_seconds: float | None


@dataclass(frozen=True)
class Progress:
    """How far a round is. ``wanted`` and ``filled`` count ratings, not pairs."""

    pairs: int
    wanted: int
    filled: int
    surplus: int
    raters: list[RaterProgress]
    hours_left: float | None
    # Where pairs are still being chosen: how many there may be at most, and what rating all of those would take.
    most_pairs: int | None = None
    growing: bool = False
    most_wanted: int = 0
    most_hours_left: float | None = None

    @property
    def share(self) -> float:
        return self.filled / self.wanted if self.wanted else 0.0

    @property
    def left(self) -> int:
        return self.wanted - self.filled

    @property
    def time_left(self) -> str | None:
        """The hours left in words, in minutes where there are few."""
        if self.hours_left is None:
            return None
        return in_hours(self.hours_left * 3600) if self.left else "none"

    @property
    def most_time_left(self) -> str | None:
        """The same if all pairs come that may come."""
        return None if self.most_hours_left is None else in_hours(self.most_hours_left * 3600)

    def as_json(self) -> dict[str, Any]:
        """The shape of the API; raters by pseudonym only."""
        return {
            "pairs": self.pairs,
            "most_pairs": self.most_pairs,
            "more_may_come": self.growing,
            "ratings_wanted": self.wanted,
            "most_ratings": self.most_wanted,
            "ratings": self.filled,
            "surplus": self.surplus,
            "hours_left": self.hours_left,
            "most_hours_left": self.most_hours_left,
            "raters": [
                {
                    "rater": rater.pseudonym,
                    "graded": rater.graded,
                    "unrateable": rater.unrateable,
                    "later": rater.later,
                    "median_seconds": rater.median_seconds,
                }
                for rater in self.raters
            ],
        }


def pseudonyms(round_: Round) -> dict[int, str]:
    """User id to pseudonym, for everybody who was ever asked."""
    return dict(round_.raters.values_list("user_id", "pseudonym"))


def rating_rows(round_: Round) -> list[tuple[str, str, str, int]]:
    """The counted grades as (query_id, doc_id, pseudonym, grade): what agreement and labels are computed from."""
    names = pseudonyms(round_)
    counted = Judgment.objects.counted().of_round(round_)
    rows = counted.values_list("pair__query__query_id", "pair__document__doc_id", "rater_id", "grade")
    return [(query_id, doc_id, names[rater], grade) for query_id, doc_id, rater, grade in rows]


def agreement(round_: Round, *, bootstrap: int = BOOTSTRAP, seed: int = 0) -> dict[str, Any]:
    """The round's agreement in the shape of ``assay agreement --format json``.

    Computed once for each state of the round: the key holds the newest judgment.

    Parameters
    ----------
    round_ : Round
        Its counted grades are compared; machines, surplus and imported labels are not among them.
    bootstrap : int
        How often queries are drawn again for the interval.
    seed : int
        For the draws.

    Returns
    -------
    dict
        Every coefficient with value or reason, n, overlap and a 95 % interval.
    """
    newest = Judgment.objects.of_round(round_).aggregate(newest=Max("pk"))["newest"]
    key = f"agreement:{round_.uuid}:{newest}:{bootstrap}:{seed}"
    found = cache.get(key)
    if found is None:
        found = _agreement(round_, bootstrap, seed)
        cache.set(key, found, 24 * 3600)
    return found


def _agreement(round_: Round, bootstrap: int, seed: int) -> dict[str, Any]:
    from judgments.agreement import agreement_report
    from judgments.core.ratings import Ratings

    ratings = Ratings.from_rows(rating_rows(round_))
    return agreement_report(ratings, tuple(round_.scale.values()), bootstrap=bootstrap, seed=seed).as_json()


def progress(round_: Round) -> Progress:
    """How many of the round's ratings are there, by whom, and how many hours the rest will take."""
    wanted = Slot.objects.filter(round=round_).count()
    filled = Slot.objects.filter(round=round_, filled_by__isnull=False).count()
    current = Judgment.objects.current().of_round(round_)
    seconds = _seconds(round_)
    everybody = [value for values in seconds.values() for value in values]
    usual = median(everybody) if everybody else None
    counts = {
        row["rater"]: row
        for row in current.values("rater").annotate(
            graded=Count("pk", filter=Q(state=Judgment.State.GRADED)),
            unrateable=Count("pk", filter=Q(state=Judgment.State.UNRATEABLE)),
            later=Count("pk", filter=Q(state=Judgment.State.LATER)),
        )
    }
    raters = [
        RaterProgress(
            asked.pseudonym,
            asked.user.username,
            *(counts.get(asked.user_id, {}).get(state, 0) for state in ("graded", "unrateable", "later")),
            median(seconds[asked.user_id]) if seconds[asked.user_id] else None,
        )
        for asked in round_.raters.select_related("user")
    ]
    surplus = current.filter(surplus=True).count()
    pairs = round_.pairs.count()
    most = wanted + _ratings_to_come(round_, pairs)
    left, at_most = (None if usual is None else (number - filled) * usual / 3600 for number in (wanted, most))
    return Progress(
        pairs,
        wanted,
        filled,
        surplus,
        raters,
        left,
        most_pairs=round_.most_pairs,
        growing=round_.growing,
        most_wanted=most,
        most_hours_left=at_most,
    )


def _ratings_to_come(round_: Round, pairs: int) -> int:
    """How many ratings the pairs that may still be chosen will ask for, at most."""
    if not round_.growing or round_.most_pairs is None:
        return 0
    more = round_.most_pairs - pairs
    overlapping = round(round_.most_pairs * round_.overlap) - round(pairs * round_.overlap)
    return more + overlapping * (round_.ratings_per_pair - 1)


def _seconds(round_: Round) -> dict[int, list[float]]:
    """Active seconds of the graded answers by rater; answers without a measure are left out."""
    found: dict[int, list[float]] = defaultdict(list)
    rows = Judgment.objects.current().of_round(round_).filter(state=Judgment.State.GRADED)
    for rater, seconds in rows.filter(seconds_active__isnull=False).values_list("rater_id", "seconds_active"):
        found[rater].append(seconds)
    return found


def grade_pairs(round_: Round, *, viewer: User) -> dict[tuple[int, int], int]:
    """How often two raters gave one pair these two grades, the lower first; what the viewer may still grade left out.

    Returns
    -------
    dict of (int, int) to int
        A pair with three grades counts three times: once for each two of its raters.
    """
    hidden = access.hidden_pairs(viewer, round_)
    rows = Judgment.objects.counted().of_round(round_).exclude(pair__in=hidden)
    given: dict[int, list[int]] = defaultdict(list)
    for pair_id, grade in rows.order_by().values_list("pair_id", "grade"):
        given[pair_id].append(grade)
    found: dict[tuple[int, int], int] = defaultdict(int)
    for grades in given.values():
        for low, high in combinations(sorted(grades), 2):
            found[low, high] += 1
    return dict(found)
