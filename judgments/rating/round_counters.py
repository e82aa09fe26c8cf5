"""Round counters: the numbers of a round, kept current without counting its pairs.

Every action that changes answers or slots of a pair updates the counters of the raters concerned in the same
transaction. Every counter is a sum over pairs, so that it can be recomputed from the events (`recount`), and the
numbers of the round are sums over the counters of its raters.

`Tally.places` counts pairs by the language of their query: ``had:de`` those that the rater had and that still need a
rating from another rater, ``full:de`` those that need no more. Any rater's row may count a full pair; only the sum over
rows has a meaning.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Max
from django.utils import timezone

from judgments.models import Judgment, Pair, Round, Tally, User
from judgments.models.compiled_queries import Compiled, Given
from judgments.rating.pair_state import CLASSES, PairState, pair_states, seconds_class

__all__ = ["Ledger", "median_seconds", "recount", "seconds_class"]

PART = 2_000
# The columns that change.
COUNTED = ["graded", "unrateable", "later", "surplus", "filled", "events", "seconds", "places", "reached", "last_at"]


def median_seconds(counted: Mapping[str, int]) -> float | None:
    """Return the median of durations counted by class, with an error of about 4%; None without any."""
    classes = sorted((int(name), number) for name, number in counted.items() if number > 0)
    total = sum(number for _, number in classes)
    if not total:
        return None
    middle = [_at(classes, place) for place in ((total - 1) // 2, total // 2)]
    return sum(2 ** (one / CLASSES) for one in middle) / 2


def _at(classes: Sequence[tuple[int, int]], place: int) -> int:
    for name, number in classes:
        if place < number:
            return name
        place -= number
    raise IndexError(place)


class Ledger:
    """The counters of some pairs before a change, from which the difference is computed afterwards."""

    def __init__(self, round_: Round, pages: Iterable[PairState], home: User) -> None:
        self.round, self.home = round_, home
        self.pages = list(pages)
        self.before = [page.counts(home.pk) for page in self.pages]
        self.reached: dict[int, int] = {}  # new positions of the raters who made the change, by user

    def write(self) -> None:
        """Add the change to the tallies; the raters' rows are locked in the order of their keys."""
        changes: dict[int, Counter[str]] = defaultdict(Counter)
        for page, before in zip(self.pages, self.before, strict=True):
            for rater, counted in page.counts(self.home.pk).items():
                changes[rater].update(counted)
            for rater, counted in before.items():
                changes[rater].subtract(counted)
        changes = {rater: counted for rater, counted in changes.items() if any(counted.values())}
        tallies = _locked(self.round, [*changes])
        for tally in tallies:
            _add(tally, changes[tally.rater_id])
            if tally.rater_id in self.reached:
                tally.last_at, tally.reached = timezone.now(), self.reached[tally.rater_id]
        # The rows exist and are locked, so one statement updates all of them.
        Tally.objects.bulk_create(tallies, update_conflicts=True, unique_fields=["pk"], update_fields=COUNTED)


def _locked(round_: Round, raters: Sequence[int]) -> list[Tally]:
    tallies: list[Tally] = LOCKED(round=round_.pk, raters=[*raters])
    missing = sorted(set(raters) - {tally.rater_id for tally in tallies})
    if not missing:
        return tallies
    Tally.objects.bulk_create((Tally(round=round_, rater_id=rater) for rater in missing), ignore_conflicts=True)
    return LOCKED(round=round_.pk, raters=[*raters])


LOCKED = Compiled(
    lambda: (
        Tally.objects.select_for_update(no_key=True)
        .filter(round=Given("round"), rater__pk__among=Given("raters"))
        .order_by("pk")
    )
)


def _add(tally: Tally, change: Mapping[str, int]) -> None:
    for name, number in change.items():
        kind, _, rest = name.partition(" ")
        if rest:
            held: dict[str, int] = getattr(tally, kind)
            held[rest] = held.get(rest, 0) + number
            if not held[rest]:
                del held[rest]
        else:
            setattr(tally, kind, getattr(tally, kind) + number)


def recount(round_: Round) -> dict[int, Tally]:
    """Return the counters of a round recomputed from its events and slots, unsaved, by user."""
    tallies = {rater: Tally(round=round_, rater_id=rater) for rater in _everybody(round_)}
    keys = list(round_.pairs.order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(keys), PART):
        pairs = list(Pair.objects.filter(pk__in=keys[begin : begin + PART]))
        for page in pair_states(pairs, lock=False).values():
            filled = [slot.rater_id for slot in page.slots if slot.filled_by_id is not None and slot.rater_id]
            for rater, counted in page.counts(min(filled, default=0)).items():
                _add(tallies[rater], counted)
    newest = Judgment.objects.of_round(round_).order_by().values_list("rater").annotate(last=Max("created_at"))
    for rater, last in newest:
        tallies[rater].last_at = last
    return tallies


def _everybody(round_: Round) -> set[int]:
    invited = round_.raters.values_list("user", flat=True)
    answered = Judgment.objects.of_round(round_).order_by().values_list("rater", flat=True)
    return {*invited, *answered.distinct()}
