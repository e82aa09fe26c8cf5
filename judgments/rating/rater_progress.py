"""Position of a rater in a round and in the current query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judgments.models import Judgment, Pair, Probe, Round, User
from judgments.models.judgment import JudgmentQuerySet
from judgments.rating import inserted_checks, slot_search
from judgments.rating.remaining_work import OwnPart, own_part
from judgments.rating.slot_search import SlotSearch

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
