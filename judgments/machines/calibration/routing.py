"""Routing: the machine-judged pairs that people should judge, with the reasons.

The audit slice always comes first, because without it the quality of a machine's grades is unknown. Then come the
doubtful pairs, most doubtful first. Only leads see this information, because it would tell raters something about the
pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median_low
from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.llm.judge import Outcome
from assay.llm.judges.ensemble import together
from judgments.hooks import DOUBTS, LEVERAGE, Doubt
from judgments.labels import grade_visibility
from judgments.labels.round_labels import Key
from judgments.machines.calibration import audit_sample, calibration
from judgments.models import Judge, MachineJudgment, ModelCall, Pair, Round, User, audit
from judgments.rounds import rounds

AUDIT, FAILED, FLIPPED, APART, UNSURE, HEAVY = "audit", "failed", "flipped", "apart", "unsure", "leverage"
TURNED, ERROR = "order", "error"
REASONS = {
    AUDIT: "audit slice",
    FAILED: "no machine could grade it",
    FLIPPED: "a prompt-injection probe raised its grade",
    APART: "machines disagree",
    TURNED: "the preferred document depends on the order",
    ERROR: "its score is close to that of another grade",
    UNSURE: "the model was uncertain",
    HEAVY: "its grade strongly affects a system's score",
}
# The share of undoubted pairs, those with the most leverage, that people should judge too.
HEAVIEST = 0.05


@dataclass(frozen=True)
class Routed:
    """A pair that people should judge."""

    pair: Pair
    reason: str
    doubt: float
    graded: int
    leverage: float | None = None


def routed(round_: Round, viewer: Any = None) -> list[Routed]:
    """Return the audit slice, then the doubtful pairs, most doubtful first, then the pairs with the most leverage."""
    answers, flipped, doubts = _machine_answers(round_), _flipped(round_), _doubts(round_, viewer)
    slices = audit_sample.in_round(round_)
    rows = round_.pairs.select_related("query", "document").order_by("position")
    hidden = grade_visibility.pairs_with_hidden_grades(viewer, round_) if viewer is not None else Pair.objects.none()
    rows = rows.exclude(pk__in=hidden.values("pk"))
    graded = _graded(round_)
    values = round_.scale.values()
    weights = _weights(round_, answers, values, set(hidden.values_list("query__query_id", flat=True)))
    selected: list[Routed] = []
    rest: list[Routed] = []
    for pair in rows:
        inside = any(one.holds(pair.query.query_id, pair.document.doc_id) for one in slices)
        own = Doubt(*_doubt(answers.get(pair.pk, ()), values, pair.pk in flipped))
        reason, doubt = (AUDIT, 1.0) if inside else _strongest([own, *doubts.get(pair.pk, ())])
        weight = weights.get((pair.query.query_id, pair.document.doc_id))
        one = Routed(pair, reason or HEAVY, doubt, graded.get(pair.pk, 0), weight)
        (selected if reason else rest).append(one)
    return sorted([*selected, *_heaviest(rest)], key=_urgency)


def _urgency(one: Routed) -> tuple[bool, float, int, float, int]:
    place = list(REASONS).index(one.reason)
    return one.reason != AUDIT, -one.doubt, place, -(one.leverage or 0.0), one.pair.position


@transaction.atomic
def draft_round(round_: Round, *, actor: User, most: int | None = None) -> Round:
    """Create a draft round of the routed pairs, with the raters, scale and guidelines of the round."""
    if grade_visibility.pairs_with_hidden_grades(actor, round_).exists():
        reason = "You may still grade pairs of this round, and the draft would reveal machine results."
        raise Conflict(f"{reason} Finish rating first, or ask another lead.")
    left = routed(round_)
    if not left:
        raise Conflict("No machine judge has graded this round yet, so there are no pairs to select.")
    known = calibration.labels_of(round_)
    unjudged = [one for one in left if (one.pair.query.query_id, one.pair.document.doc_id) not in known]
    if not unjudged:
        raise Conflict("People have already judged all of these pairs.")
    audited = sum(one.reason == AUDIT for one in unjudged)
    if most is not None and most < max(audited, 1):
        reason = f"The audit slice has {amount(audited, 'pair')} and is always included. Enter at least that many."
        raise NotValid(reason, "most")
    chosen = unjudged if most is None else unjudged[:most]
    origin = {"routed": {"round": round_.name, "audited": audited}}
    made = rounds.draft_of(round_, [one.pair for one in chosen], origin=origin, actor=actor)
    sentence = f"{actor} created round {made} with {amount(len(chosen), 'pair')} for people to judge"
    audit.record("routing.draft_round", sentence, actor=actor, target=made)
    return made


def _doubt(answers: Sequence[MachineJudgment], values: Sequence[int], flipped: bool) -> tuple[str, float]:
    if not answers:
        return "", 0.0
    grades = [row for row in answers if row.grade is not None]
    if not grades:
        return FAILED, 1.0
    if flipped:
        return FLIPPED, 1.0
    combined = together([Outcome("graded", row.grade) for row in grades], values)
    if combined.spread:
        return APART, combined.spread / (values[-1] - values[0])
    unsure = max((entropy(row.probabilities) for row in grades), default=0.0)
    return (UNSURE, unsure) if unsure > 0.5 else ("", unsure)


def _strongest(doubts: Sequence[Doubt]) -> tuple[str, float]:
    """Return the largest doubt that has a reason; of equal ones the first in `REASONS`."""
    named = [one for one in doubts if one.reason]
    if not named:
        return "", max((one.doubt for one in doubts), default=0.0)
    most = min(named, key=lambda one: (-one.doubt, list(REASONS).index(one.reason)))
    return most.reason, most.doubt


def _doubts(round_: Round, viewer: Any) -> dict[int, list[Doubt]]:
    by_pair: dict[int, list[Doubt]] = {}
    for name in DOUBTS:
        for pk, doubts in DOUBTS[name](round_, viewer).items():
            by_pair.setdefault(pk, []).extend(doubts)
    return by_pair


def _weights(
    round_: Round, answers: Mapping[int, Sequence[MachineJudgment]], values: Sequence[int], hidden_queries: Set[str]
) -> Mapping[Key, float]:
    """Return the leverage of each machine-graded pair, from one grade below to one grade above the machine's grade."""
    if not answers:
        return {}
    keys = {
        pk: (query_id, doc_id)
        for pk, query_id, doc_id in round_.pairs.values_list("pk", "query__query_id", "document__doc_id")
    }
    steps = {value: at for at, value in enumerate(values)}
    machine: dict[Key, float] = {}
    doubts: dict[Key, tuple[int, int]] = {}
    for pk, rows in answers.items():
        grades = [row.grade for row in rows if row.grade in steps]
        if grades and keys[pk][0] not in hidden_queries:
            low, high = max(steps[min(grades)] - 1, 0), min(steps[max(grades)] + 1, len(values) - 1)
            machine[keys[pk]] = float(median_low(grades))
            doubts[keys[pk]] = values[low], values[high]
    people = {key: grade for key, grade in calibration.labels_of(round_).items() if key[0] not in hidden_queries}
    labels = {**machine, **people}
    for name in LEVERAGE:
        return LEVERAGE[name](round_, labels, doubts)
    return {}


def _heaviest(rest: Sequence[Routed]) -> list[Routed]:
    """Return the share of undoubted pairs with the most leverage, at least one if any has leverage."""
    heavy = sorted((one for one in rest if one.leverage), key=lambda one: -(one.leverage or 0.0))
    return heavy[: max(1, int(len(heavy) * HEAVIEST))]


def entropy(probabilities: Mapping[str, float] | None) -> float:
    """Return how undecided a model was between the grades, from 0 (sure) to 1 (all equal)."""
    shares = [share for share in (probabilities or {}).values() if share > 0]
    if len(shares) < 2 or probabilities is None:
        return 0.0
    return -sum(share * math.log(share) for share in shares) / math.log(len(probabilities))


def _machine_answers(round_: Round) -> dict[int, list[MachineJudgment]]:
    by_pair: dict[int, list[MachineJudgment]] = {}
    # Usefulness judges give no grades, which is neither a failure nor a doubt.
    judge_ids = MachineJudgment.objects.filter(pair__round=round_).order_by().values("judge")
    judges = Judge.objects.filter(pk__in=judge_ids).only("kind")
    graders = [judge.pk for judge in judges if calibration.has_grades(judge)]
    rows = MachineJudgment.objects.filter(pair__round=round_, judge__in=graders)
    for row in rows.only("pair_id", "grade", "probabilities", "outcome"):
        by_pair.setdefault(row.pair_id, []).append(row)
    return by_pair


def _flipped(round_: Round) -> set[int]:
    """Return the pairs whose copy with a probe got a higher grade from the same judge."""
    plain = {
        (judge, pair): grade
        for judge, pair, grade in MachineJudgment.objects.filter(pair__round=round_, grade__isnull=False).values_list(
            "judge", "pair", "grade"
        )
    }
    planted = ModelCall.objects.filter(run__round=round_, purpose="canary", grade__isnull=False)
    rows = planted.values_list("judge", "pair", "grade")
    return {pair for judge, pair, grade in rows if grade > plain.get((judge, pair), grade)}


def _graded(round_: Round) -> dict[int, int]:
    from judgments.models import Judgment

    counts: dict[int, int] = {}
    for pair in Judgment.objects.counted().of_round(round_).values_list("pair", flat=True):
        counts[pair] = counts.get(pair, 0) + 1
    return counts
