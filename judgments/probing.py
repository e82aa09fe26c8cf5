"""Gold pairs and repeats mixed into a rater's batches without being marked.

Such a probe is shown and answered like any pair; its answers are stored apart (`probe_answers`). When it comes is
drawn from the round's seed and the rater's pseudonym, so that no rater can predict it by counting.
"""

from __future__ import annotations

import hashlib
import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from judgments import access
from judgments.compiled import Compiled, Given
from judgments.models import GoldPair, Judgment, Pair, Probe, ProbeAnswer, Role, Round, RoundRater, Tally, User

# Answers between a pair and the time it is shown again: long enough to have been forgotten.
LAG = 20
MIXED = (Probe.Kind.GOLD, Probe.Kind.REPEAT)


def mixes(round_: Round) -> bool:
    """Whether anything is mixed into this round's batches."""
    return round_.gold_every is not None or round_.repeat_share > 0


def mix_in(round_: Round, rater: User, pairs: Sequence[Pair], size: int) -> list[Pair | Probe]:
    """Put the probes that are due among the pairs of a batch, where a query begins or ends.

    Parameters
    ----------
    round_ : Round
        An open round.
    rater : User
        Who is handed the batch.
    pairs : sequence of Pair
        What is leased to them, queries whole.
    size : int
        How many may be shown at most. What no longer fits stays in the rater's hand.

    Returns
    -------
    list of Pair or Probe
        A probe of a query that is among the pairs' stands among that query's. Others stand between two queries, or at
        the end when no further pair will come.
    """
    held = _held(round_, rater)
    if not mixes(round_):
        return _placed(round_, rater, list(pairs), held, size)[:size] if held else list(pairs)
    more = _room(round_, rater, pairs, size) - len(held)
    asked = RoundRater.objects.select_related("user").get(round=round_, user=rater)
    gold = _new_gold(round_, asked, pairs, more)
    held += gold + _new_repeats(round_, asked, pairs, more - len(gold))
    return _placed(round_, rater, list(pairs), held, size)[:size]


def _held(round_: Round, rater: User) -> list[Probe]:
    """Probes that the rater was handed and has not answered, those that were put off last."""
    if not waiting(round_, rater):
        return []
    rows = Probe.objects.filter(round=round_, rater=rater, kind__in=MIXED, answered=False)
    rows = rows.select_related("gold__query", "gold__document", "pair__query", "pair__document")
    later = ProbeAnswer.objects.current().filter(probe=OuterRef("pk"), state=ProbeAnswer.State.LATER)
    return list(rows.annotate(later=Exists(later)).order_by("later", "pk"))


def _room(round_: Round, rater: User, pairs: Sequence[Pair], size: int) -> int:
    """At how many places of the batch a probe could stand without breaking a query in two."""
    starts = _starts(round_, rater, pairs)
    return len(starts) + (len(pairs) < size)


def _starts(round_: Round, rater: User, pairs: Sequence[Pair]) -> list[int]:
    """Where in the batch another query begins than the one before; at the front, than the one just graded."""
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
                own[0] + _number(round_.seed, probe.asked.position, len(own)) % (len(own) + 1), []
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
    """What is new to a browser that shows ``before`` first, without a probe that would break its last query in two.

    Such a probe waits for the next change of queries; where none is in sight it is left for a later batch.
    """
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
    """A number that is drawn from the parts: the same on every machine."""
    return int.from_bytes(hashlib.sha256(" ".join(map(str, parts)).encode()).digest()[:8])


def _due(draw: str, every: int, answers: int) -> int:
    """How many probes are due after so many answers: one in each stretch of ``every``, at a place that is drawn."""
    whole, rest = divmod(max(answers, 0), every)
    return whole + (_number(draw, whole) % every < rest)


def gold_due(round_: Round, asked: RoundRater, answers: int) -> int:
    """How many pairs of known grade a rater has been shown after so many answers."""
    return _due(f"{round_.seed} gold {asked.pseudonym}", round_.gold_every or 1, answers)


def repeats_due(round_: Round, asked: RoundRater, answers: int) -> int:
    """How many of their own pairs a rater has been shown again after so many answers."""
    return _due(f"{round_.seed} repeats {asked.pseudonym}", max(round(1 / round_.repeat_share), 1), answers - LAG)


def unseen_gold(round_: Round, rater: User) -> QuerySet[GoldPair]:
    """The pairs of known grade that the rater was not shown, without those that joined the round's own."""
    shown = Probe.objects.filter(round=round_, rater=rater, kind=Probe.Kind.GOLD)
    there = Pair.objects.filter(round=round_, query=OuterRef("query"), document=OuterRef("document"))
    left = GoldPair.objects.filter(round=round_, use=GoldPair.Use.HIDDEN).exclude(pk__in=shown.values("gold"))
    return left.filter(~Exists(there))


def filled(round_: Round, rater: User) -> int:
    """How many places the rater has filled."""
    return Tally.objects.filter(round=round_, rater=rater).values_list("filled", flat=True).first() or 0


def _new_gold(round_: Round, asked: RoundRater, pairs: Sequence[Pair], most: int) -> list[Probe]:
    """The next pairs of known grade, if any are due: those of a query at hand before others."""
    if round_.gold_every is None or access.role_in(asked.user, round_.collection) == Role.LEAD:
        return []  # whoever leads can read the known grades
    draw = f"{round_.seed} gold {asked.pseudonym}"
    shown = Probe.objects.filter(round=round_, rater_id=asked.user_id, kind=Probe.Kind.GOLD)
    due = gold_due(round_, asked, filled(round_, asked.user) + len(pairs)) - shown.count()
    if due <= 0:
        return []
    left = unseen_gold(round_, asked.user).select_related("query", "document")
    at_hand = {pair.query_id for pair in pairs}
    elsewhere = set(round_.pairs.filter(query__in=[gold.query_id for gold in left]).values_list("query", flat=True))

    def turn(gold: GoldPair) -> tuple[int, int]:
        where = 0 if gold.query_id in at_hand else 2 if gold.query_id in elsewhere else 1
        return where, _number(draw, gold.position)

    # One of a query at hand stands among its pairs and needs no room of its own.
    turns = sorted(left, key=turn)[:due]
    chosen = [gold for place, gold in enumerate(turns) if gold.query_id in at_hand or place < most]
    return [_shown(round_, asked.user, Probe.Kind.GOLD, gold.grade, gold=gold) for gold in chosen]


def _new_repeats(round_: Round, asked: RoundRater, pairs: Sequence[Pair], most: int) -> list[Probe]:
    """The rater's own pairs again, if any are due: drawn among those that they graded ``LAG`` answers ago or before."""
    if round_.repeat_share <= 0 or most <= 0:
        return []
    draw = f"{round_.seed} repeats {asked.pseudonym}"
    shown = Probe.objects.filter(round=round_, rater_id=asked.user_id, kind=Probe.Kind.REPEAT)
    answers = filled(round_, asked.user)
    before = shown.count()
    due = repeats_due(round_, asked, answers + len(pairs)) - before
    if due <= 0:
        return []
    graded = Judgment.objects.current().of_round(round_).filter(rater=asked.user, state=Judgment.State.GRADED)
    old = graded.order_by("pk")[: max(answers - LAG, 0)]
    known = set(shown.values_list("pair_id", flat=True))
    free = [row for row in old.values_list("pair_id", "grade") if row[0] not in known]
    free.sort(key=lambda row: row[0])
    chosen = []
    for number in range(min(due, most, len(free))):
        pair_id, grade = free.pop(_number(draw, "which", before + number) % len(free))
        chosen.append(_shown(round_, asked.user, Probe.Kind.REPEAT, grade, pair=Pair.objects.get(pk=pair_id)))
    return chosen


def _shown(round_: Round, rater: User, kind: str, expected: int, **what: Any) -> Probe:
    """Put on record that it is shown; of two requests at the same moment both get the one row."""
    found, _ = Probe.objects.get_or_create(
        rater=rater, attempt=1, **what, defaults={"round": round_, "kind": kind, "expected": expected}
    )
    return found


def in_hand(round_: Round, rater: User, uuid: uuid_module.UUID) -> Probe | None:
    """The probe with this id, if it was shown to the rater and waits for their answer."""
    return next((probe for probe in _held(round_, rater) if probe.uuid == uuid), None)


def waiting(round_: Round, rater: User) -> int:
    """How many probes wait for the rater's answer."""
    return len(WAITING(round=round_.pk, rater=rater.pk))


WAITING = Compiled(
    lambda: (
        Probe.objects.filter(round=Given("round"), rater=Given("rater"), kind__in=MIXED, answered=False)
        .order_by()
        .values_list("pk")
    )
)


def by_query(round_: Round, rater: User) -> list[tuple[int, int, int]]:
    """How many probes of each query the rater has answered, and how many wait: (query, answered, waiting)."""
    found: dict[int, list[int]] = {}
    rows = Probe.objects.filter(round=round_, rater=rater, kind__in=MIXED).order_by()
    for gold, pair, answered in rows.values_list("gold__query", "pair__query", "answered"):
        found.setdefault(gold or pair, [0, 0])[not answered] += 1
    return [(query, answered, waiting) for query, (answered, waiting) in found.items()]
