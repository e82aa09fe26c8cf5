"""Counts of gold pairs and repeats in the numbers that a rater sees about their own work.

They count as pairs in every number: answered, left, held and released. A number without them next to one with them
would reveal which of the rater's pairs they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Min, QuerySet
from django.utils import timezone

from judgments.models import Pair, Probe, ProbeAnswer, Role, Round, RoundRater, Slot, Tally, User
from judgments.rating import inserted_check_answers, inserted_checks
from judgments.rating.pair_state import seconds_class
from judgments.web import access


def own(round_: Round, rater: User) -> Tally:
    """Return the rater's counters including gold pairs and repeats; for display only, never saved."""
    tally = Tally.objects.filter(round=round_, rater=rater).first() or Tally(round=round_, rater=rater)
    counted: Counter[str] = Counter(tally.seconds)
    for state, seconds in (
        inserted_check_answers.answers_of(round_, rater).order_by().values_list("state", "seconds_active")
    ):
        setattr(tally, state, getattr(tally, state) + 1)
        if state == ProbeAnswer.State.GRADED and seconds is not None:
            counted[seconds_class(seconds)] += 1
    tally.seconds = dict(counted)
    return tally


def ahead(round_: Round, rater: User, places: int) -> int:
    """Return the number of gold pairs and repeats ahead of the rater: waiting, or due within this many slots."""
    return inserted_checks.waiting(round_, rater) + _to_come(round_, rater, places)


def in_all(round_: Round, rater: User, places: int) -> int:
    """Return the number of gold pairs and repeats that the rater gets in the whole round, answered or not."""
    handed = Probe.objects.filter(round=round_, rater=rater, kind__in=inserted_checks.MIXED).count()
    return handed + _to_come(round_, rater, places)


def _to_come(round_: Round, rater: User, places: int) -> int:
    if not inserted_checks.mixes(round_):
        return 0
    round_rater = RoundRater.objects.filter(round=round_, user=rater).first()
    if round_rater is None:
        return 0
    answers = inserted_checks.filled(round_, rater) + places
    coming = 0
    if round_.gold_every is not None and access.role_in(rater, round_.collection) != Role.LEAD:
        unseen = inserted_checks.unseen_gold(round_, rater).count()
        coming += min(
            inserted_checks.gold_due(round_, round_rater, answers) - _handed(round_, rater, Probe.Kind.GOLD), unseen
        )
    if round_.repeat_share > 0:
        most = min(inserted_checks.repeats_due(round_, round_rater, answers), answers - inserted_checks.LAG)
        coming += max(most - _handed(round_, rater, Probe.Kind.REPEAT), 0)
    return max(coming, 0)


def _handed(round_: Round, rater: User, kind: str) -> int:
    return Probe.objects.filter(round=round_, rater=rater, kind=kind).count()


def _in_hand(round_: Round, rater: User) -> QuerySet[Probe]:
    return Probe.objects.filter(round=round_, rater=rater, kind__in=inserted_checks.MIXED, answered=False)


def hand_out(
    round_: Round,
    rater: User,
    batch: Sequence[Pair | Probe],
    taken: Sequence[int],
    *,
    begun: datetime,
    lease: timedelta,
    fresh: timedelta,
) -> None:
    """Limit the rater's leases to the pairs that they are shown, and release the others."""
    shown = {one.pk for one in batch if isinstance(one, Probe)}
    if not shown and not inserted_checks.mixes(round_):
        return
    held = _in_hand(round_, rater)
    held.filter(pk__in=shown, handed_at__lt=timezone.now() - fresh).update(handed_at=timezone.now())
    held.filter(handed_at__gte=begun).exclude(pk__in=shown).update(handed_at=begun - lease)
    pairs = {one.pk for one in batch if isinstance(one, Pair)}
    if cut := [pair for pair in taken if pair not in pairs]:
        slots = Slot.objects.filter(pair__in=cut, rater=rater, filled_by__isnull=True)
        slots.update(rater=None, lease_until=None)


def give_back(round_: Round, rater: User, lease: timedelta) -> int:
    """End the rater's hold on inserted checks and return their number. They keep waiting, because no other rater gets
    them."""
    now = timezone.now()
    return _in_hand(round_, rater).filter(handed_at__gt=now - lease).update(handed_at=now - lease)


def held_until(round_: Round, rater: User, lease: timedelta) -> datetime | None:
    """Return the end of the rater's first lease; None if they hold nothing."""
    now = timezone.now()
    slots = Slot.objects.filter(round=round_, rater=rater, filled_by__isnull=True, lease_until__gte=now)
    probes = _in_hand(round_, rater).filter(handed_at__gt=now - lease).aggregate(first=Min("handed_at"))["first"]
    ends = [slots.aggregate(first=Min("lease_until"))["first"], probes + lease if probes else None]
    return min((end for end in ends if end is not None), default=None)
