"""Progress of a round: how far it is, by rater, and how long the rest will take.

Everything is read from the rater counters and the round's own counters: no judgment is counted to show it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from judgments import stranded
from judgments.models import Round, RoundRater, Tally
from judgments.pace import Pace, eighty_percent, pace_of, paces_of
from judgments.stranded import Lack
from judgments.tallies import median_seconds

# Less than this says nothing about a pace.
SHORTEST_PACE = timedelta(hours=1)


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
    """One rater's part of a round; ``left`` and ``hours_left`` if all who rate take the same part of the whole."""

    pseudonym: str
    username: str
    graded: int
    unrateable: int
    later: int
    median_seconds: float | None
    left: int = 0
    hours_left: float | None = None
    last_at: datetime | None = None
    paused: bool = False
    gone: bool = False

    @property
    def answered(self) -> int:
        return self.graded + self.unrateable

    @property
    def time_left(self) -> str | None:
        """The hours left in words."""
        return None if self.hours_left is None else in_hours(self.hours_left * 3600) if self.left else "none"


@dataclass(frozen=True)
class Progress:
    """How far a round is. ``wanted`` and ``filled`` count ratings, not pairs; hours leave out what nobody may give."""

    pairs: int
    wanted: int
    filled: int
    surplus: int
    raters: list[RaterProgress]
    hours_left: float | None
    # In four of five cases it takes between so many; None where no spread of times is known.
    hours_low: float | None = None
    hours_high: float | None = None
    # Where pairs are still being chosen: how many there may be at most, and what rating all of those would take.
    most_pairs: int | None = None
    growing: bool = False
    most_wanted: int = 0
    most_hours_left: float | None = None
    called_in: int = 0  # ratings wanted beyond the plan, where two grades lay far apart
    a_day: float | None = None  # ratings a day since the round was opened
    done_by: datetime | None = None
    lacks: tuple[Lack, ...] = ()  # places that nobody may take, by language

    @property
    def share(self) -> float:
        return self.filled / self.wanted if self.wanted else 0.0

    @property
    def left(self) -> int:
        return self.wanted - self.filled

    @property
    def stranded(self) -> int:
        """How many of those left nobody may give, as things stand."""
        return sum(lack.places for lack in self.lacks)

    @property
    def within_reach(self) -> int:
        """How many of those left somebody may give."""
        return max(0, self.left - self.stranded)

    @property
    def time_left(self) -> str | None:
        """The hours left in words, in minutes where there are few."""
        if self.hours_left is None:
            return None
        return in_hours(self.hours_left * 3600) if self.within_reach else "none"

    @property
    def range_left(self) -> tuple[str, str] | None:
        """Between which lengths it takes in four of five cases, in words, where they differ."""
        if self.hours_low is None or self.hours_high is None or not self.within_reach:
            return None
        low, high = in_hours(self.hours_low * 3600), in_hours(self.hours_high * 3600)
        return None if low == high else (low, high)

    @property
    def most_time_left(self) -> str | None:
        """The same if all pairs come that may come."""
        return None if self.most_hours_left is None else in_hours(self.most_hours_left * 3600)

    def as_json(self) -> dict[str, Any]:
        """The shape of the API; raters by pseudonym only."""
        told = ("graded", "unrateable", "later", "median_seconds", "left", "hours_left")
        return {
            "pairs": self.pairs,
            "most_pairs": self.most_pairs,
            "more_may_come": self.growing,
            "ratings_wanted": self.wanted,
            "most_ratings": self.most_wanted,
            "ratings": self.filled,
            "called_in": self.called_in,
            "surplus": self.surplus,
            "stranded": self.stranded,
            "stranded_by_language": [lack.as_json() for lack in self.lacks],
            "hours_left": self.hours_left,
            "hours_low": self.hours_low,
            "hours_high": self.hours_high,
            "most_hours_left": self.most_hours_left,
            "ratings_a_day": self.a_day,
            "raters": [
                {"rater": rater.pseudonym, **{name: value for name, value in asdict(rater).items() if name in told}}
                for rater in self.raters
            ],
        }


def progress(round_: Round) -> Progress:
    """How many of the round's ratings are there, by whom, and how many hours the rest will take.

    Parameters
    ----------
    round_ : Round
        Each rater's pace is the mean time of their own graded answers, to about 4 %; a rater without one is taken to be
        as quick as all together.

    Returns
    -------
    Progress
        Hours are None while no grade has a measured time.
    """
    asked = list(round_.raters.select_related("user"))
    tallies = {tally.rater_id: tally for tally in Tally.objects.filter(round=round_)}
    wanted, filled = round_.slots_made, sum(tally.filled for tally in tallies.values())
    together = _all_seconds(tallies.values())
    usual = pace_of(together)
    lacks = stranded.lacks(round_)
    left = _within_reach(round_, tallies.values(), lacks)
    parts = _parts(asked, tallies, left)
    paces = paces_of([tallies[one.user_id].seconds if one.user_id in tallies else {} for one in asked], together)
    raters = [
        _rater(one, tallies.get(one.user_id), parts.get(one.user_id, 0), pace)
        for one, pace in zip(asked, paces, strict=True)
    ]
    low, high = _range(raters, paces, left, usual)
    hours = _hours(raters, left, usual)
    most = wanted + _ratings_to_come(round_)
    a_day = _a_day(round_, filled)
    return Progress(
        round_.pairs_made,
        wanted,
        filled,
        sum(tally.surplus for tally in tallies.values()),
        raters,
        hours,
        hours_low=low,
        hours_high=high,
        most_pairs=round_.most_pairs,
        growing=round_.growing,
        most_wanted=most,
        most_hours_left=None if hours is None or usual is None else hours + (most - wanted) * usual.mean / 3600,
        called_in=max(0, wanted - planned(round_, round_.pairs_made)),
        a_day=a_day,
        done_by=_done_by(round_, left, a_day),
        lacks=tuple(lacks),
    )


def _within_reach(round_: Round, tallies: Iterable[Tally], lacks: Iterable[Lack]) -> int:
    """How many ratings are wanted that somebody may give."""
    filled = sum(tally.filled for tally in tallies)
    return max(0, round_.slots_made - filled - sum(lack.places for lack in lacks))


def planned(round_: Round, pairs: int) -> int:
    """How many ratings so many pairs of the round ask for by its plan: k of those that overlap, one of the others."""
    return pairs + round(pairs * round_.overlap) * (round_.ratings_per_pair - 1)


def usual_pace(round_: Round) -> Pace | None:
    """The pace of all who rate in the round together; None while no grade has a measured time."""
    return pace_of(_all_seconds(Tally.objects.filter(round=round_)))


def _ratings_to_come(round_: Round) -> int:
    """How many ratings the pairs that may still be chosen will ask for, at most."""
    if not round_.growing or round_.most_pairs is None:
        return 0
    return planned(round_, round_.most_pairs) - planned(round_, round_.pairs_made)


def _all_seconds(tallies: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for tally in tallies:
        for name, number in tally.seconds.items():
            found[name] = found.get(name, 0) + number
    return found


def _parts(asked: list[RoundRater], tallies: dict[int, Tally], left: int) -> dict[int, int]:
    """Who still rates how many, if all who may take the same part of the whole; they add up to what is left."""
    rating = [one.user_id for one in asked if one.left_at is None and one.paused_at is None]
    if not rating or not left:
        return {}
    done = {user: tallies[user].filled if user in tallies else 0 for user in rating}
    each = (left + sum(done.values())) / len(rating)
    # Who has done more than their part already leaves the rest to the others.
    owed = {user: max(0.0, each - number) for user, number in done.items()}
    whole = sum(owed.values())
    found, given, so_far = {}, 0, 0.0
    for user, part in owed.items():
        so_far += part
        found[user] = round(so_far / whole * left) - given
        given += found[user]
    return found


def _rater(asked: RoundRater, tally: Tally | None, left: int, pace: Pace | None) -> RaterProgress:
    own = median_seconds(tally.seconds) if tally else None
    return RaterProgress(
        asked.pseudonym,
        asked.user.username,
        *((tally.graded, tally.unrateable, tally.later) if tally else (0, 0, 0)),
        own,
        left=left,
        hours_left=None if pace is None else left * pace.mean / 3600,
        last_at=tally.last_at if tally else None,
        paused=asked.paused_at is not None,
        gone=asked.left_at is not None,
    )


def _hours(raters: list[RaterProgress], left: int, usual: Pace | None) -> float | None:
    """Each rater's part at their own pace; all at the usual one where nobody is there to rate."""
    if usual is None:
        return None
    parts = sum(rater.hours_left or 0.0 for rater in raters)
    return parts + (left - sum(rater.left for rater in raters)) * usual.mean / 3600


def _range(
    raters: list[RaterProgress], paces: list[Pace | None], left: int, usual: Pace | None
) -> tuple[float, float] | tuple[None, None]:
    """Between how many hours the rest will take in four of five cases."""
    parts = [(rater.left, pace) for rater, pace in zip(raters, paces, strict=True) if pace is not None]
    if usual is not None:
        parts.append((left - sum(rater.left for rater in raters), usual))
    found = eighty_percent(parts)
    return (None, None) if found is None else (found[0] / 3600, found[1] / 3600)


def _a_day(round_: Round, filled: int) -> float | None:
    if round_.opened_at is None or not filled:
        return None
    open_for = (round_.closed_at or timezone.now()) - round_.opened_at
    return None if open_for < SHORTEST_PACE else filled / (open_for / timedelta(days=1))


def _done_by(round_: Round, left: int, a_day: float | None) -> datetime | None:
    if round_.state != Round.State.OPEN or left <= 0 or not a_day or left / a_day > 3650:
        return None
    return timezone.now() + timedelta(days=left / a_day)
