"""Progress of a round: ratings by rater, and an estimate of the remaining time.

All numbers come from the counters of the round and its raters, so no judgments are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils import timezone

from judgments.models import Round, RoundRater, Tally
from judgments.rating.pair_state import CLASSES, median_seconds
from judgments.rounds import unfillable_slots
from judgments.rounds.unfillable_slots import Shortage

# Times are capped at this multiple of the median, because longer ones mean that the rater was away.
LONGEST = 10
# The minimum number of times to use a rater's own spread.
FEWEST = 5
# The half-width of an 80% interval of a normal distribution, in standard deviations.
EIGHTY = 1.2816


@dataclass(frozen=True)
class Pace:
    """The time of one judgment in seconds: mean, standard deviation, and number of measured times."""

    mean: float
    deviation: float
    times: int
    between: float = 0.0


def pace_of(counted: Mapping[str, int]) -> Pace | None:
    """Return the pace from times counted by class; None without any."""
    median = median_seconds(counted)
    if median is None:
        return None
    rows = [(min(2 ** (int(name) / CLASSES), LONGEST * median), number) for name, number in counted.items()]
    times = sum(number for _, number in rows)
    mean = sum(length * number for length, number in rows) / times
    squares = sum((length - mean) ** 2 * number for length, number in rows)
    return Pace(mean, math.sqrt(squares / (times - 1)) if times > 1 else 0.0, times)


def paces_of(each: Sequence[Mapping[str, int]], together: Mapping[str, int]) -> list[Pace | None]:
    """Return the pace of each rater; without times that of all raters, and with few times their spread."""
    usual = pace_of(together)
    own = [pace_of(counted) for counted in each]
    if usual is None:
        return [None] * len(own)
    known = [one.mean for one in own if one is not None]
    between = math.sqrt(sum((mean - sum(known) / len(known)) ** 2 for mean in known) / max(len(known) - 1, 1))
    spread = usual.deviation / usual.mean
    paces: list[Pace | None] = []
    for one in own:
        if one is None:
            paces.append(replace(usual, between=between))
        else:
            paces.append(one if one.times >= FEWEST else replace(one, deviation=spread * one.mean))
    return paces


def eighty_percent(parts: Iterable[tuple[int, Pace]]) -> tuple[float, float] | None:
    """Return the 80% interval of the total time in seconds."""
    rows = [(left, pace) for left, pace in parts if left > 0]
    mean = sum(left * pace.mean for left, pace in rows)
    variance = sum(
        left * pace.deviation**2 + left**2 * (pace.deviation**2 / pace.times + pace.between**2) for left, pace in rows
    )
    if not mean or not variance:
        return None
    wide = math.sqrt(math.log1p(variance / mean**2))
    middle = math.log(mean) - wide**2 / 2
    return math.exp(middle - EIGHTY * wide), math.exp(middle + EIGHTY * wide)


# The minimum open time to compute ratings per day.
SHORTEST_PACE = timedelta(hours=1)


def in_hours(seconds: float) -> str:
    """Return a working time in minutes, or in hours from two hours on; days would assume working hours."""
    return f"{seconds / 3600:,.1f} h" if seconds >= 7200 else f"{max(1, round(seconds / 60))} min"


@dataclass(frozen=True)
class RaterProgress:
    """One rater's part of a round; ``left`` assumes that all current raters share the rest equally."""

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
        """The hours left, as text."""
        return None if self.hours_left is None else in_hours(self.hours_left * 3600) if self.left else "none"


@dataclass(frozen=True)
class Progress:
    """Progress of a round. ``wanted`` and ``filled`` count ratings; hours leave out ratings that no rater can give."""

    pairs: int
    wanted: int
    filled: int
    surplus: int
    raters: list[RaterProgress]
    hours_left: float | None
    # The 80% interval; None without a known spread.
    hours_low: float | None = None
    hours_high: float | None = None
    # For a growing round: the maximum number of pairs, and the time to rate all of them.
    most_pairs: int | None = None
    growing: bool = False
    most_wanted: int = 0
    most_hours_left: float | None = None
    called_in: int = 0  # extra ratings requested because two grades differ
    a_day: float | None = None  # ratings per day since the round was opened
    done_by: datetime | None = None
    shortages: tuple[Shortage, ...] = ()  # ratings that no current rater can give, by language

    @property
    def share(self) -> float:
        return self.filled / self.wanted if self.wanted else 0.0

    @property
    def left(self) -> int:
        return self.wanted - self.filled

    @property
    def stranded(self) -> int:
        """The number of missing ratings that no current rater can give."""
        return sum(shortage.places for shortage in self.shortages)

    @property
    def within_reach(self) -> int:
        """The number of missing ratings that current raters can give."""
        return max(0, self.left - self.stranded)

    @property
    def time_left(self) -> str | None:
        if self.hours_left is None:
            return None
        return in_hours(self.hours_left * 3600) if self.within_reach else "none"

    @property
    def range_left(self) -> tuple[str, str] | None:
        """The 80% interval of the time left as text, if its ends differ."""
        if self.hours_low is None or self.hours_high is None or not self.within_reach:
            return None
        low, high = in_hours(self.hours_low * 3600), in_hours(self.hours_high * 3600)
        return None if low == high else (low, high)

    @property
    def most_time_left(self) -> str | None:
        """The time left as text, if all possible pairs are added."""
        return None if self.most_hours_left is None else in_hours(self.most_hours_left * 3600)


def progress(round_: Round) -> Progress:
    """Return the number of ratings of the round by rater, and an estimate of the remaining hours."""
    round_raters = list(round_.raters.select_related("user"))
    tallies = {tally.rater_id: tally for tally in Tally.objects.filter(round=round_)}
    wanted, filled = round_.slots_made, sum(tally.filled for tally in tallies.values())
    together = _all_seconds(tallies.values())
    usual = pace_of(together)
    shortages = unfillable_slots.shortages(round_)
    left = max(0, wanted - filled - sum(shortage.places for shortage in shortages))
    parts = _parts(round_raters, tallies, left)
    paces = paces_of([tallies[one.user_id].seconds if one.user_id in tallies else {} for one in round_raters], together)
    raters = [
        _rater(one, tallies.get(one.user_id), parts.get(one.user_id, 0), pace)
        for one, pace in zip(round_raters, paces, strict=True)
    ]
    # The hours left: each rater's share at their own pace, the rest at the common pace.
    rest = left - sum(rater.left for rater in raters)
    shares = [*((rater.left, pace) for rater, pace in zip(raters, paces, strict=True)), (rest, usual)]
    low, high = eighty_percent((share, pace) for share, pace in shares if pace is not None) or (None, None)
    hours = None if usual is None else sum(one.hours_left or 0.0 for one in raters) + rest * usual.mean / 3600
    most = wanted
    if round_.growing and round_.most_pairs is not None:
        most += round_.planned_ratings(round_.most_pairs) - round_.planned_ratings(round_.pairs_made)
    open_for = (round_.closed_at or timezone.now()) - round_.opened_at if round_.opened_at else timedelta()
    a_day = filled / (open_for / timedelta(days=1)) if filled and open_for >= SHORTEST_PACE else None
    ends = round_.state == Round.State.OPEN and left > 0 and a_day and left / a_day <= 3650
    return Progress(
        round_.pairs_made,
        wanted,
        filled,
        sum(tally.surplus for tally in tallies.values()),
        raters,
        hours,
        hours_low=None if low is None else low / 3600,
        hours_high=None if high is None else high / 3600,
        most_pairs=round_.most_pairs,
        growing=round_.growing,
        most_wanted=most,
        most_hours_left=None if hours is None or usual is None else hours + (most - wanted) * usual.mean / 3600,
        called_in=max(0, wanted - round_.planned_ratings(round_.pairs_made)),
        a_day=a_day,
        done_by=timezone.now() + timedelta(days=left / a_day) if ends else None,
        shortages=tuple(shortages),
    )


def usual_pace(round_: Round) -> Pace | None:
    """Return the pace of all raters of the round together; None while no grade has a measured time."""
    return pace_of(_all_seconds(Tally.objects.filter(round=round_)))


def _all_seconds(tallies: Iterable[Tally]) -> dict[str, int]:
    seconds = Counter[str]()
    for tally in tallies:
        seconds.update(tally.seconds)
    return dict(seconds)


def _parts(round_raters: list[RoundRater], tallies: dict[int, Tally], left: int) -> dict[int, int]:
    """Return how many ratings each current rater still gives if all share the rest equally."""
    rating = [one.user_id for one in round_raters if one.left_at is None and one.paused_at is None]
    if not rating or not left:
        return {}
    done = {user: tallies[user].filled if user in tallies else 0 for user in rating}
    each = (left + sum(done.values())) / len(rating)
    # A rater who has given more than an equal share leaves the rest to the others.
    owed = {user: max(0.0, each - number) for user, number in done.items()}
    whole = sum(owed.values())
    parts, given, so_far = {}, 0, 0.0
    for user, part in owed.items():
        so_far += part
        parts[user] = round(so_far / whole * left) - given
        given += parts[user]
    return parts


def _rater(round_rater: RoundRater, tally: Tally | None, left: int, pace: Pace | None) -> RaterProgress:
    return RaterProgress(
        round_rater.pseudonym,
        round_rater.user.username,
        *((tally.graded, tally.unrateable, tally.later) if tally else (0, 0, 0)),
        median_seconds(tally.seconds) if tally else None,
        left=left,
        hours_left=None if pace is None else left * pace.mean / 3600,
        last_at=tally.last_at if tally else None,
        paused=round_rater.paused_at is not None,
        gone=round_rater.left_at is not None,
    )
