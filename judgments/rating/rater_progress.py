"""Position of a rater in a round and in the current query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgments.models import Judgment, Pair, Probe, Round, RoundRater, Tally, User
from judgments.models.pair import JudgmentQuerySet
from judgments.rating import inserted_checks, slot_search
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
    tally, most = inserted_checks.own(round_, rater), open_ + inserted_checks.ahead(round_, rater, open_)
    mixed = inserted_checks.in_all(round_, rater, open_)
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


# For larger rounds, computing a rater's position among the queries would cost too much.
MANY_PAIRS = 5_000


@dataclass(frozen=True)
class RaterPosition:
    """Position of a rater: ``document`` of ``documents`` in the query, ``query`` of ``queries``, and totals."""

    document: int
    documents: int
    query: int
    queries: int
    answered: int
    left: int


def rater_position(
    round_: Round, rater: User, pair: Pair | Probe, *, answered: bool = False, part: OwnPart | None = None
) -> RaterPosition:
    """Return the rater's position at this pair. Pairs saved for later count as open."""
    part = part or own_part(round_, rater)
    places = part.places
    mixed = {query: (done, waiting) for query, done, waiting in inserted_checks.by_query(round_, rater)}
    done, waiting = mixed.get(pair.query_id, (0, 0))
    held = slot_search.in_hand(round_, rater)
    here = done + _answers(round_, rater).filter(pair__query=pair.query_id).count()
    left = waiting + held.filter(pair__query=pair.query_id).count()
    left += len(places.in_query(slot_search.Query(pair.query_id, None)))
    query, queries = (0, 0) if round_.pairs_made > MANY_PAIRS else _queries(round_, rater, places, mixed)
    return RaterPosition(
        document=here + 1 - answered,
        documents=here + max(left, 1 - answered),
        query=query,
        queries=queries,
        answered=part.answered,
        left=part.left,
    )


def _answers(round_: Round, rater: User) -> JudgmentQuerySet:
    answers = Judgment.objects.standing().of_round(round_).filter(rater=rater).exclude(state=Judgment.State.LATER)
    return answers.order_by()


def _queries(round_: Round, rater: User, places: SlotSearch, mixed: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
    """Return the number of the rater's current query and the number of queries; finished queries count first."""
    begun = set(_answers(round_, rater).values_list("pair__query", flat=True).distinct())
    begun |= {query for query, (done, _) in mixed.items() if done}
    open_ = places.queries() | {query for query, (_, waiting) in mixed.items() if waiting}
    return len(begun - open_) + 1, len(begun | open_)
