"""Counts of gold pairs and repeats in everything that a rater sees about their own work.

They count as pairs everywhere: in what is answered, in what is left, in what the rater holds and releases. A number
that left them out, beside one that does not, would reveal which of the rater's pairs they were.
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
    """Return how many gold pairs and repeats are ahead of the rater: waiting, or to come among so many slots.

    What will come is counted from the beginning: else what is left would not go down when one of them comes.
    """
    return inserted_checks.waiting(round_, rater) + _to_come(round_, rater, places)


def in_all(round_: Round, rater: User, places: int) -> int:
    """Return how many gold pairs and repeats the rater gets in the whole round, answered or not."""
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
    """Let the rater hold just what they are shown: what did not fit among the pairs that were taken goes back.

    What is mixed in is held as long as a pair is; `Probe.handed_at` says since when. ``begun`` is when the batch was
    asked for, ``fresh`` how old a lease may be that need not be renewed.
    """
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
    """End the rater's hold on what is mixed in: how much they held. It waits for them, since nobody else gets it."""
    now = timezone.now()
    return _in_hand(round_, rater).filter(handed_at__gt=now - lease).update(handed_at=now - lease)


def held_until(round_: Round, rater: User, lease: timedelta) -> datetime | None:
    """Return when the first of the rater's leases ends; None if they hold nothing."""
    now = timezone.now()
    slots = Slot.objects.filter(round=round_, rater=rater, filled_by__isnull=True, lease_until__gte=now)
    probes = _in_hand(round_, rater).filter(handed_at__gt=now - lease).aggregate(first=Min("handed_at"))["first"]
    ends = [slots.aggregate(first=Min("lease_until"))["first"], probes + lease if probes else None]
    return min((end for end in ends if end is not None), default=None)
