"""Gold pairs and repeats mixed into a rater's batches without being marked.

An inserted check is shown and answered like any pair; its answers are stored separately (`inserted_check_answers`). Its
position is drawn from the round's seed and the rater's pseudonym, so that raters cannot predict it by counting.
"""

from __future__ import annotations

import hashlib
import uuid as uuid_module
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, Min, OuterRef, QuerySet
from django.utils import timezone

from assay.core.errors import AssayError, Conflict, NotFound
from judgments.models import GoldPair, Judgment, Pair, Probe, ProbeAnswer, Role, Round, RoundRater, Slot, Tally, User
from judgments.models.fields import Compiled, Given
from judgments.rating.pair_state import seconds_class
from judgments.web import access


def own(round_: Round, rater: User) -> Tally:
    """Return the rater's counters including gold pairs and repeats; for display only, never saved."""
    tally = Tally.objects.filter(round=round_, rater=rater).first() or Tally(round=round_, rater=rater)
    counted: Counter[str] = Counter(tally.seconds)
    for state, seconds in answers_of(round_, rater).order_by().values_list("state", "seconds_active"):
        setattr(tally, state, getattr(tally, state) + 1)
        if state == ProbeAnswer.State.GRADED and seconds is not None:
            counted[seconds_class(seconds)] += 1
    tally.seconds = dict(counted)
    return tally


def ahead(round_: Round, rater: User, places: int) -> int:
    """Return the number of gold pairs and repeats ahead of the rater: waiting, or due within this many slots."""
    return waiting(round_, rater) + _to_come(round_, rater, places)


def in_all(round_: Round, rater: User, places: int) -> int:
    """Return the number of gold pairs and repeats that the rater gets in the whole round, answered or not."""
    handed = Probe.objects.filter(round=round_, rater=rater, kind__in=MIXED).count()
    return handed + _to_come(round_, rater, places)


def _to_come(round_: Round, rater: User, places: int) -> int:
    if not mixes(round_):
        return 0
    round_rater = RoundRater.objects.filter(round=round_, user=rater).first()
    if round_rater is None:
        return 0
    answers = filled(round_, rater) + places
    coming = 0
    if round_.gold_every is not None and access.role_in(rater, round_.collection) != Role.LEAD:
        unseen = unseen_gold(round_, rater).count()
        coming += min(gold_due(round_, round_rater, answers) - _handed(round_, rater, Probe.Kind.GOLD), unseen)
    if round_.repeat_share > 0:
        most = min(repeats_due(round_, round_rater, answers), answers - LAG)
        coming += max(most - _handed(round_, rater, Probe.Kind.REPEAT), 0)
    return max(coming, 0)


def _handed(round_: Round, rater: User, kind: str) -> int:
    return Probe.objects.filter(round=round_, rater=rater, kind=kind).count()


def _in_hand(round_: Round, rater: User) -> QuerySet[Probe]:
    return Probe.objects.filter(round=round_, rater=rater, kind__in=MIXED, answered=False)


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
    if not shown and not mixes(round_):
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


NO_SUCH_PAIR = "This round has no such pair."
NEVER_LEASED = "This pair was never leased to you. Lease a batch first."
STANDS_FOR_ANOTHER = "This client id was used for another pair. Use a new id for every answer."


def answers_of(round_: Round, rater: User) -> QuerySet[ProbeAnswer]:
    """Return the rater's current answers to gold pairs and repeats."""
    return ProbeAnswer.objects.current().filter(rater=rater, probe__round=round_, probe__kind__in=MIXED)


def recorded(ids: Collection[tuple[int, uuid_module.UUID]]) -> dict[tuple[int, uuid_module.UUID], ProbeAnswer]:
    """Return the answers recorded before under these client ids, in any round, because an id identifies one answer."""
    # Usually there is none, so only keys are read first.
    rows = RECORDED(raters={rater for rater, _ in ids}, client_ids={one for _, one in ids})
    keys = [key for key, *whose in rows if tuple(whose) in ids]
    answers = ProbeAnswer.objects.filter(pk__in=keys).select_related("probe") if keys else ()
    return {(row.rater_id, row.client_id): row for row in answers}


RECORDED = Compiled(
    lambda: (
        ProbeAnswer.objects.filter(rater__pk__among=Given("raters"), client_id__among=Given("client_ids"))
        .order_by()
        .values_list("pk", "rater", "client_id")
    )
)


def probe_of(round_: Round, rater: User, uuid: uuid_module.UUID) -> Probe:
    """Return the inserted check that an answer is for, locked for this transaction."""
    probe = Probe.objects.select_for_update().filter(round=round_, uuid=uuid, kind__in=MIXED).first()
    if probe is None:
        raise NotFound(NO_SUCH_PAIR)
    if probe.rater_id != rater.pk:
        raise Conflict(NEVER_LEASED)
    return probe


def record(probe: Probe, rater: User, client_id: uuid_module.UUID, **fields: Any) -> ProbeAnswer:
    """Record an answer to an inserted check as an event that supersedes the earlier one."""
    newest = ProbeAnswer.objects.filter(probe=probe, superseded_by__isnull=True).first()
    try:
        with transaction.atomic():
            event = ProbeAnswer.objects.create(
                probe=probe, rater=rater, client_id=client_id, supersedes=newest, **fields
            )
    except IntegrityError:
        raise Conflict(STANDS_FOR_ANOTHER) from None
    probe.answered = event.state in (ProbeAnswer.State.GRADED, ProbeAnswer.State.UNRATEABLE)
    probe.save(update_fields=["answered"])
    return event


def last_answer(round_: Round, rater: User) -> ProbeAnswer | None:
    """Return the rater's newest current answer to a gold pair or repeat."""
    return answers_of(round_, rater).select_related("probe").order_by("-pk").first()


def undo(answer: ProbeAnswer, again: uuid_module.UUID, refusal: AssayError | None) -> ProbeAnswer:
    """Undo an answer inside the caller's transaction; the inserted check waits for an answer again."""
    Probe.objects.select_for_update().get(pk=answer.probe_id)
    done = ProbeAnswer.objects.filter(rater=answer.rater, client_id=again).first()
    if done is not None and done.supersedes_id == answer.pk:
        return done
    if done is not None or Judgment.objects.filter(rater=answer.rater, client_id=again).exists():
        raise Conflict(STANDS_FOR_ANOTHER)
    if refusal is not None:
        raise refusal
    if ProbeAnswer.objects.filter(supersedes=answer).exists():
        raise Conflict("This answer was changed later. Undo the newer one.")
    return record(answer.probe, answer.rater, again, state=ProbeAnswer.State.UNDONE)


# The number of answers between a pair and its repeat, so that the rater has forgotten the pair.
LAG = 20
MIXED = (Probe.Kind.GOLD, Probe.Kind.REPEAT)


def mixes(round_: Round) -> bool:
    """Return whether gold pairs or repeats are mixed into the round's batches."""
    return round_.gold_every is not None or round_.repeat_share > 0


def mix_in(round_: Round, rater: User, pairs: Sequence[Pair], size: int) -> list[Pair | Probe]:
    """Insert the checks that are due into a batch, where a query begins or ends."""
    held = _held(round_, rater)
    if not mixes(round_):
        return _placed(round_, rater, list(pairs), held, size)[:size] if held else list(pairs)
    more = _room(round_, rater, pairs, size) - len(held)
    round_rater = RoundRater.objects.select_related("user").get(round=round_, user=rater)
    gold = _new_gold(round_, round_rater, pairs, more)
    held += gold + _new_repeats(round_, round_rater, pairs, more - len(gold))
    # A concurrent request of the rater may just have created the last check.
    return (_placed(round_, rater, list(pairs), held, size) or _held(round_, rater))[:size]


def _held(round_: Round, rater: User) -> list[Probe]:
    """Return the checks that the rater was shown and has not answered, with those saved for later at the end."""
    if not waiting(round_, rater):
        return []
    rows = Probe.objects.filter(round=round_, rater=rater, kind__in=MIXED, answered=False)
    rows = rows.select_related("gold__query", "gold__document", "pair__query", "pair__document")
    later = ProbeAnswer.objects.current().filter(probe=OuterRef("pk"), state=ProbeAnswer.State.LATER)
    return list(rows.annotate(later=Exists(later)).order_by("later", "pk"))


def _room(round_: Round, rater: User, pairs: Sequence[Pair], size: int) -> int:
    """Return the number of positions in the batch where a check fits without splitting a query."""
    starts = _starts(round_, rater, pairs)
    return len(starts) + (len(pairs) < size)


def _starts(round_: Round, rater: User, pairs: Sequence[Pair]) -> list[int]:
    """Return the positions in the batch where a new query begins; the first is compared with the last graded pair."""
    if not pairs:
        return []
    newest = Judgment.objects.filter(rater=rater, pair__round=round_).order_by("-pk").values_list("pair__query_id")[:1]
    before = [row[0] for row in newest] + [pair.query_id for pair in pairs]
    shift = len(before) - len(pairs)
    return [
        place for place in range(len(pairs)) if place + shift and before[place + shift - 1] != pairs[place].query_id
    ]


def _placed(round_: Round, rater: User, pairs: list[Pair], probes: Sequence[Probe], size: int) -> list[Pair | Probe]:
    starts = _starts(round_, rater, pairs)
    placed: dict[int, list[Probe]] = {}
    for probe in probes:
        own = [place for place, pair in enumerate(pairs) if pair.query_id == probe.query_id]
        if own and not getattr(probe, "later", False):
            placed.setdefault(
                own[0] + _number(round_.seed, probe.source.position, len(own)) % (len(own) + 1), []
            ).append(probe)
        elif starts and not getattr(probe, "later", False):
            placed.setdefault(starts.pop(0), []).append(probe)
        elif len(pairs) < size:
            placed.setdefault(len(pairs), []).append(probe)
    mixed: list[Pair | Probe] = []
    for place in range(len(pairs) + 1):
        mixed += [*placed.get(place, []), *pairs[place : place + 1]]
    return mixed


def fitted(before: Sequence[Pair | Probe], new: Sequence[Pair | Probe]) -> list[Pair | Probe]:
    """Return the new items for a browser that shows ``before`` first, without a check that would split its last
    query."""
    pairs = [one for one in new if isinstance(one, Pair)]
    if not before or not pairs or pairs[0].query_id != before[-1].query_id:
        return list(new)
    here = before[-1].query_id
    first = list(new).index(pairs[0])
    early = [one for one in new[:first] if one.query_id != here]
    rest = [one for one in new if one not in early]
    other = next((place for place, one in enumerate(rest) if one.query_id != here), None)
    return rest if other is None else [*rest[:other], *early, *rest[other:]]


def _number(*parts: Any) -> int:
    """Return a pseudorandom number from the parts, the same on every machine."""
    return int.from_bytes(hashlib.sha256(" ".join(map(str, parts)).encode()).digest()[:8])


def _due(draw: str, every: int, answers: int) -> int:
    """Return the number of checks due after this many answers: one at a random position in each stretch of
    ``every``."""
    whole, rest = divmod(max(answers, 0), every)
    return whole + (_number(draw, whole) % every < rest)


def gold_due(round_: Round, round_rater: RoundRater, answers: int) -> int:
    """Return the number of gold pairs that a rater gets in this many answers."""
    return _due(f"{round_.seed} gold {round_rater.pseudonym}", round_.gold_every or 1, answers)


def repeats_due(round_: Round, round_rater: RoundRater, answers: int) -> int:
    """Return the number of repeats that a rater gets in this many answers."""
    return _due(f"{round_.seed} repeats {round_rater.pseudonym}", max(round(1 / round_.repeat_share), 1), answers - LAG)


def unseen_gold(round_: Round, rater: User) -> QuerySet[GoldPair]:
    """Return the gold pairs that the rater has not been shown, without those that are also pairs of the round."""
    shown = Probe.objects.filter(round=round_, rater=rater, kind=Probe.Kind.GOLD)
    there = Pair.objects.filter(round=round_, query=OuterRef("query"), document=OuterRef("document"))
    left = GoldPair.objects.filter(round=round_, use=GoldPair.Use.HIDDEN).exclude(pk__in=shown.values("gold"))
    return left.filter(~Exists(there))


def filled(round_: Round, rater: User) -> int:
    """Return how many slots the rater has filled."""
    return Tally.objects.filter(round=round_, rater=rater).values_list("filled", flat=True).first() or 0


def _new_gold(round_: Round, round_rater: RoundRater, pairs: Sequence[Pair], most: int) -> list[Probe]:
    """Create checks for the gold pairs that are due, those of a query in the batch first."""
    if round_.gold_every is None or access.role_in(round_rater.user, round_.collection) == Role.LEAD:
        return []  # leads can see the expert grades
    draw = f"{round_.seed} gold {round_rater.pseudonym}"
    shown = Probe.objects.filter(round=round_, rater_id=round_rater.user_id, kind=Probe.Kind.GOLD)
    due = gold_due(round_, round_rater, filled(round_, round_rater.user) + len(pairs)) - shown.count()
    if due <= 0:
        return []
    left = unseen_gold(round_, round_rater.user).select_related("query", "document")
    at_hand = {pair.query_id for pair in pairs}
    elsewhere = set(round_.pairs.filter(query__in=[gold.query_id for gold in left]).values_list("query", flat=True))

    def turn(gold: GoldPair) -> tuple[int, int]:
        where = 0 if gold.query_id in at_hand else 2 if gold.query_id in elsewhere else 1
        return where, _number(draw, gold.position)

    # A gold pair of a query in the batch goes among its pairs and needs no position between queries.
    turns = sorted(left, key=turn)[:due]
    chosen = [gold for place, gold in enumerate(turns) if gold.query_id in at_hand or place < most]
    return [_create_probe(round_, round_rater.user, Probe.Kind.GOLD, gold.grade, gold=gold) for gold in chosen]


def _new_repeats(round_: Round, round_rater: RoundRater, pairs: Sequence[Pair], most: int) -> list[Probe]:
    """Create checks for the repeats that are due, drawn from pairs graded at least ``LAG`` answers ago."""
    if round_.repeat_share <= 0 or most <= 0:
        return []
    draw = f"{round_.seed} repeats {round_rater.pseudonym}"
    shown = Probe.objects.filter(round=round_, rater_id=round_rater.user_id, kind=Probe.Kind.REPEAT)
    answers = filled(round_, round_rater.user)
    before = shown.count()
    due = repeats_due(round_, round_rater, answers + len(pairs)) - before
    if due <= 0:
        return []
    graded = Judgment.objects.current().of_round(round_).filter(rater=round_rater.user, state=Judgment.State.GRADED)
    old = graded.order_by("pk")[: max(answers - LAG, 0)]
    known = set(shown.values_list("pair_id", flat=True))
    free = [row for row in old.values_list("pair_id", "grade") if row[0] not in known]
    free.sort(key=lambda row: row[0])
    chosen = []
    for number in range(min(due, most, len(free))):
        pair_id, grade = free.pop(_number(draw, "which", before + number) % len(free))
        chosen.append(
            _create_probe(round_, round_rater.user, Probe.Kind.REPEAT, grade, pair=Pair.objects.get(pk=pair_id))
        )
    return chosen


def _create_probe(round_: Round, rater: User, kind: str, expected: int, **what: Any) -> Probe:
    """Record that the check is shown; two concurrent requests get the same row."""
    probe, _ = Probe.objects.get_or_create(
        rater=rater, attempt=1, **what, defaults={"round": round_, "kind": kind, "expected": expected}
    )
    return probe


def in_hand(round_: Round, rater: User, uuid: uuid_module.UUID) -> Probe | None:
    """Return the check with this id if the rater was shown it and has not answered it."""
    return next((probe for probe in _held(round_, rater) if probe.uuid == uuid), None)


def waiting(round_: Round, rater: User) -> int:
    """Return the number of checks that wait for the rater's answer."""
    return len(WAITING(round=round_.pk, rater=rater.pk))


WAITING = Compiled(
    lambda: (
        Probe.objects.filter(round=Given("round"), rater=Given("rater"), kind__in=MIXED, answered=False)
        .order_by()
        .values_list("pk")
    )
)


def by_query(round_: Round, rater: User) -> list[tuple[int, int, int]]:
    """Return the checks of each query: (query, answered, waiting)."""
    counts: dict[int, list[int]] = {}
    rows = Probe.objects.filter(round=round_, rater=rater, kind__in=MIXED).order_by()
    for gold, pair, answered in rows.values_list("gold__query", "pair__query", "answered"):
        counts.setdefault(gold or pair, [0, 0])[not answered] += 1
    return [(query, answered, waiting) for query, (answered, waiting) in counts.items()]
