"""Extra ratings of a pair: when one more rater grades it, and how far its grades differ.

When the counted grades of a pair that has all its ratings differ too much, the pair gets one more slot, as often as
the round allows. `Pair.ratings_wanted` stays as planned: slots with a higher number are extra. An extra slot without
a rater is withdrawn when the grades agree again because an answer was changed, undone or excluded. Once a lead has
resolved the pair, no extra rating is requested, and every unanswered extra slot is withdrawn, even a leased one: the
answer of that rater is stored all the same, and does not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db.models import F
from django.utils import timezone

from judgments import openings
from judgments.models import Pair, Round, Slot, User
from judgments.sheets import Sheet, sheets
from judgments.tallies import Ledger


@contextmanager
def kept(round_: Round, pairs: Sequence[Pair], *, home: User) -> Iterator[Ledger]:
    """Around an act that changes slots or answers of pairs: afterwards spreads, extra slots and tallies fit them.

    Parameters
    ----------
    round_ : Round
        The round of the pairs.
    pairs : sequence of Pair
        Locked by the caller, in a transaction that holds the act as well.
    home : User
        The rater whose answers it is about.
    """
    ledger = Ledger(round_, sheets(pairs).values(), home)
    yield ledger
    ledger.pages = list(sheets(pairs).values())
    settle(round_, ledger.pages)
    ledger.write()


def settle(round_: Round, pages: Sequence[Sheet]) -> None:
    """Write how far the grades of each pair lie apart, and call in or withdraw raters accordingly."""
    changed: dict[int, list[int]] = defaultdict(list)
    for page in pages:
        spread = page.spread
        if spread != page.pair.spread:
            changed[spread].append(page.pair.pk)
            page.pair.spread = spread
    for spread, keys in changed.items():
        Pair.objects.filter(pk__in=keys).update(spread=spread)
    made = sum(_adjust(round_, page) for page in pages if round_.extra_at is not None or page.pair.settled)
    if made:
        Round.objects.filter(pk=round_.pk).update(slots_made=F("slots_made") + made)


def called_in(round_: Round) -> int:
    """How many slots of the round were called in beyond the plan."""
    if round_.extra_at is None:
        return 0
    return openings.beyond_plan(round_).count()


def _adjust(round_: Round, page: Sheet) -> int:
    """Call in one rater more, or withdraw places that nobody has: how many slots there are more than before."""
    extra = [slot for slot in page.slots if slot.number > page.pair.ratings_wanted]
    if page.pair.settled:
        return -_withdraw(page, [slot for slot in extra if slot.filled_by_id is None])
    apart = round_.extra_at is not None and page.spread >= round_.extra_at
    if apart and page.full and len(extra) < round_.extra_most:
        page.slots.append(_call_in(page))
        return 1
    now = timezone.now()
    return 0 if apart else -_withdraw(page, [slot for slot in extra if openings.is_free(slot, now)])


def _call_in(page: Sheet) -> Slot:
    return Slot.objects.create(
        round_id=page.pair.round_id,
        pair=page.pair,
        position=page.pair.position,
        number=max(slot.number for slot in page.slots) + 1,
        language=page.language,
    )


def _withdraw(page: Sheet, slots: Sequence[Slot]) -> int:
    keys = {slot.pk for slot in slots}
    if keys:
        Slot.objects.filter(pk__in=keys).delete()
        page.slots = [slot for slot in page.slots if slot.pk not in keys]
    return len(keys)
