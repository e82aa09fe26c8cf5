"""Work left for one rater in a round: the same number on the home page, in the station and in the API.

Gold pairs and repeats count like other pairs (`judgments.rating.inserted_check_counts`), and extra ratings do not
change the number, because a difference would reveal hidden information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from judgments.models import Round, RoundRater, Tally, User
from judgments.rating import inserted_check_counts
from judgments.rating.slot_search import SlotSearch
from judgments.rounds import unfillable_slots


@dataclass(frozen=True)
class OwnPart:
    """A rater's answers, and the pairs left for them."""

    tally: Tally
    left: int
    most: int
    places: SlotSearch = field(repr=False, compare=False)

    @property
    def answered(self) -> int:
        return self.tally.graded + self.tally.unrateable


def own_part(round_: Round, rater: User) -> OwnPart:
    """Return the rater's answers, and their share of the remaining pairs."""
    places = SlotSearch(round_, rater)
    open_ = len(places.held) + places.left
    tally, most = inserted_check_counts.own(round_, rater), open_ + inserted_check_counts.ahead(round_, rater, open_)
    mixed = inserted_check_counts.in_all(round_, rater, open_)
    left = _each(round_, rater) + mixed - tally.graded - tally.unrateable
    return OwnPart(tally, max(min(most, left), 0), most, places)


def _each(round_: Round, rater: User) -> int:
    """Return the rater's share of the round's pairs, answered or not; 0 if they do not rate in it now."""
    round_raters: Sequence[RoundRater] = round_.raters.all()
    at_work = {one.user_id for one in round_raters if one.paused_at is None and one.left_at is None}
    if rater.pk not in at_work:
        return 0
    gone = {one.user_id for one in round_raters} - at_work
    tallies = Tally.objects.filter(round=round_, rater__in=gone) if gone else ()
    return round((_within_reach(round_) - sum(tally.graded + tally.unrateable for tally in tallies)) / len(at_work))


def _within_reach(round_: Round) -> int:
    """Return the number of ratings that the current raters share, as far as a rater may know."""
    if round_.extra_at is None:
        return round_.slots_made - sum(shortage.places for shortage in unfillable_slots.shortages(round_))
    return round_.planned_ratings(round_.pairs_made)
