"""Gold pairs and repeats mixed into a rater's batches without being marked.

An inserted check is shown and answered like any pair; its answers are stored separately (`inserted_check_answers`). Its
position is drawn from the round's seed and the rater's pseudonym, so that raters cannot predict it by counting.
"""

from __future__ import annotations

import hashlib
import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from judgments.models import GoldPair, Judgment, Pair, Probe, ProbeAnswer, Role, Round, RoundRater, Tally, User
from judgments.models.compiled_queries import Compiled, Given
from judgments.web import access

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
    return _placed(round_, rater, list(pairs), held, size)[:size]


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
