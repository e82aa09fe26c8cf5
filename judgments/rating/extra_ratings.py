"""Extra ratings of a pair after its raters differ.

When the counted grades of a fully rated pair differ too much, the pair gets one more slot, as often as the round
allows. `Pair.ratings_wanted` does not change; slots with a higher number are extra. An extra slot without a rater is
withdrawn if the grades agree again because an answer was changed, undone or excluded. After a lead has resolved the
pair, every unanswered extra slot is withdrawn, even a leased one; that rater's answer is stored but does not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db.models import F
from django.utils import timezone

from judgments.models import Pair, Round, Slot, User
from judgments.rating import slot_search
from judgments.rating.pair_state import Ledger, PairState, pair_states


@contextmanager
def updating_counters(round_: Round, pairs: Sequence[Pair], *, home: User) -> Iterator[Ledger]:
    """Update spreads, extra slots and counters after a change of slots or answers, as a context manager."""
    ledger = Ledger(round_, pair_states(pairs).values(), home)
    yield ledger
    ledger.pages = list(pair_states(pairs).values())
    adjust_extra_slots(round_, ledger.pages)
    ledger.write()


def adjust_extra_slots(round_: Round, pages: Sequence[PairState]) -> None:
    """Store the spread of each pair's grades, and add or withdraw extra slots accordingly."""
    changed: dict[int, list[int]] = defaultdict(list)
    for page in pages:
        spread = page.spread
        if spread != page.pair.spread:
            changed[spread].append(page.pair.pk)
            page.pair.spread = spread
    for spread, keys in changed.items():
        Pair.objects.filter(pk__in=keys).update(spread=spread)
    made = sum(_adjust(round_, page) for page in pages if round_.extra_at is not None or page.pair.resolved)
    if made:
        Round.objects.filter(pk=round_.pk).update(slots_made=F("slots_made") + made)


def called_in(round_: Round) -> int:
    """Return the number of extra slots of the round."""
    if round_.extra_at is None:
        return 0
    return slot_search.beyond_plan(round_).count()


def _adjust(round_: Round, page: PairState) -> int:
    """Add an extra slot or withdraw free ones; return the change in the number of slots."""
    extra = [slot for slot in page.slots if slot.number > page.pair.ratings_wanted]
    if page.pair.resolved:
        return -_withdraw(page, [slot for slot in extra if slot.filled_by_id is None])
    apart = round_.extra_at is not None and page.spread >= round_.extra_at
    if apart and page.full and len(extra) < round_.extra_most:
        page.slots.append(_call_in(page))
        return 1
    now = timezone.now()
    return 0 if apart else -_withdraw(page, [slot for slot in extra if slot_search.is_free(slot, now)])


def _call_in(page: PairState) -> Slot:
    return Slot.objects.create(
        round_id=page.pair.round_id,
        pair=page.pair,
        position=page.pair.position,
        number=max(slot.number for slot in page.slots) + 1,
        language=page.language,
    )


def _withdraw(page: PairState, slots: Sequence[Slot]) -> int:
    keys = {slot.pk for slot in slots}
    if keys:
        Slot.objects.filter(pk__in=keys).delete()
        page.slots = [slot for slot in page.slots if slot.pk not in keys]
    return len(keys)
