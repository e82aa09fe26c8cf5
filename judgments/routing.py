"""Routing: which machine-judged pairs people should look at, and why.

The audit slice comes first, whatever the machines answered: without it the quality of a machine's grades is unknown.
Then come the doubtful pairs, the most doubtful first. This information is for leads: a rater who knew that a machine
failed on a pair would know something about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import median_low
from typing import Any

from django.db import transaction

from judgments import audit, audit_slice, judged, people_rounds, untold
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.core.family import Family
from judgments.judges.contract import Outcome
from judgments.judges.ensemble import together
from judgments.models import Judge, MachineJudgment, ModelCall, Pair, Round, User
from judgments.round_labels import Key

AUDIT, FAILED, FLIPPED, APART, UNSURE, HEAVY = "audit", "failed", "flipped", "apart", "unsure", "leverage"
TURNED, ERROR = "order", "error"
REASONS = {
    AUDIT: "audit slice",
    FAILED: "no machine could grade it",
    FLIPPED: "a planted sentence raised its grade",
    APART: "machines disagree",
    TURNED: "who won hung on the order shown",
    ERROR: "the error of its score reaches another grade",
    UNSURE: "the model was unsure",
    HEAVY: "much of a system's score hangs on it",
}
# Beyond doubt, but among the twentieth of the pairs on which most hangs: people look at those too.
HEAVIEST = 0.05
# How much hangs on a pair is told by who knows metrics: given the round, its labels, and what each pair could be.
Weigher = Callable[["Round", Mapping[Key, float], Mapping[Key, tuple[int, int]]], Mapping[Key, float]]
WEIGHERS: Family[Weigher] = Family("weigher", {})


@dataclass(frozen=True)
class Doubt:
    """That a pair is in doubt for a reason that no single answer shows.

    Parameters
    ----------
    reason : str
        One of `REASONS`.
    doubt : float
        From 0 to 1.
    """

    reason: str
    doubt: float


# Who knows more of a round's pairs than their grades says so, by the pair's key: battles do (order, standard error).
# To a reader who still rates nothing that hangs on a pair before them; None is a verb.
Doubter = Callable[["Round", Any], Mapping[int, Sequence[Doubt]]]
DOUBTERS: Family[Doubter] = Family("doubter", {"battles": "judgments.battle_doubts:doubts"})


@dataclass(frozen=True)
class Routed:
    """A pair that people should see.

    Parameters
    ----------
    pair : Pair
        With query and document.
    reason : str
        The weightiest of `REASONS`.
    doubt : float
        From 0 to 1; 1 for the slice and for failures.
    graded : int
        How many ratings of people it has.
    leverage : float or None
        How far the mean of the run that feels it most moves when the pair's grade is another one that it might be; None
        where nobody can tell.
    """

    pair: Pair
    reason: str
    doubt: float
    graded: int
    leverage: float | None = None


def routed(round_: Round, viewer: Any = None) -> list[Routed]:
    """The audit slice, then every pair in doubt, the most doubtful first, then those on which most hangs.

    Parameters
    ----------
    round_ : Round
        Where judges have been.
    viewer : User, optional
        Who reads it: pairs that they may still grade are left out, and nothing is told that hangs on what was said of
        them, such as how much a metric does of another pair of the query. None for a verb, which tells nobody.
    """
    said, flipped, doubts = _said(round_), _flipped(round_), _doubts(round_, viewer)
    slices = audit_slice.in_round(round_)
    rows = round_.pairs.select_related("query", "document").order_by("position")
    hidden = untold.untold_pairs(viewer, round_) if viewer is not None else Pair.objects.none()
    rows = rows.exclude(pk__in=hidden.values("pk"))
    graded = _graded(round_)
    values = round_.scale.values()
    weights = _weights(round_, said, values, set(hidden.values_list("query__query_id", flat=True)))
    found: list[Routed] = []
    rest: list[Routed] = []
    for pair in rows:
        inside = any(one.holds(pair.query.query_id, pair.document.doc_id) for one in slices)
        own = Doubt(*_doubt(said.get(pair.pk, ()), values, pair.pk in flipped))
        reason, doubt = (AUDIT, 1.0) if inside else _strongest([own, *doubts.get(pair.pk, ())])
        weight = weights.get((pair.query.query_id, pair.document.doc_id))
        one = Routed(pair, reason or HEAVY, doubt, graded.get(pair.pk, 0), weight)
        (found if reason else rest).append(one)
    return sorted([*found, *_heaviest(rest)], key=_urgency)


def _urgency(one: Routed) -> tuple[bool, float, int, float, int]:
    place = list(REASONS).index(one.reason)
    return one.reason != AUDIT, -one.doubt, place, -(one.leverage or 0.0), one.pair.position


@transaction.atomic
def draft_round(round_: Round, *, actor: User, most: int | None = None) -> Round:
    """Make a draft of the routed pairs, for the raters of the round, on its scale and under its guidelines.

    Pairs that people have judged already are left out. Raters see nothing of why a pair is there: slice and doubt stand
    in one order, that of the round.

    Parameters
    ----------
    round_ : Round
        Where judges have been.
    actor : User
        The lead who does it.
    most : int, optional
        How many pairs at most; the audit slice is always whole.

    Raises
    ------
    Conflict
        No machine has judged here, so that there is nothing to route, people have judged all of it, or the lead may
        still grade pairs of the round: which of them are left to people would tell them something.
    NotValid
        Fewer than the audit slice has.
    """
    if untold.untold_pairs(actor, round_).exists():
        said = "You may still grade pairs of this round: which of them are left to people would tell you."
        raise Conflict(f"{said} Rate them first, or have another lead do it.")
    left = routed(round_)
    if not left:
        raise Conflict("No machine has judged in this round yet, so there is nothing to route.")
    known = judged.labels_of(round_)
    found = [one for one in left if (one.pair.query.query_id, one.pair.document.doc_id) not in known]
    if not found:
        raise Conflict("People have judged all of these pairs already.")
    audited = sum(one.reason == AUDIT for one in found)
    if most is not None and most < max(audited, 1):
        said = f"The audit slice alone has {amount(audited, 'pair')}, and it is never cut."
        raise NotValid(said, {"most": said})
    chosen = found if most is None else found[:most]
    how = {"routed": {"round": round_.name, "audited": audited}}
    made = people_rounds.draft_of(round_, [one.pair for one in chosen], how=how, actor=actor)
    sentence = f"{actor} made round {made} of {amount(len(chosen), 'pair')} that machines leave to people"
    audit.record("routing.draft_round", sentence, actor=actor, collection=round_.collection, target=made)
    return made


def _doubt(said: Sequence[MachineJudgment], values: Sequence[int], flipped: bool) -> tuple[str, float]:
    if not said:
        return "", 0.0
    grades = [row for row in said if row.grade is not None]
    if not grades:
        return FAILED, 1.0
    if flipped:
        return FLIPPED, 1.0
    found = together([Outcome("graded", row.grade) for row in grades], values)
    if found.spread:
        return APART, found.spread / (values[-1] - values[0])
    unsure = max((entropy(row.probabilities) for row in grades), default=0.0)
    return (UNSURE, unsure) if unsure > 0.5 else ("", unsure)


def _strongest(doubts: Sequence[Doubt]) -> tuple[str, float]:
    """The largest doubt that has a reason, the weightier reason where two are as large; else how far the rest goes."""
    named = [one for one in doubts if one.reason]
    if not named:
        return "", max((one.doubt for one in doubts), default=0.0)
    most = min(named, key=lambda one: (-one.doubt, list(REASONS).index(one.reason)))
    return most.reason, most.doubt


def _doubts(round_: Round, viewer: Any) -> dict[int, list[Doubt]]:
    found: dict[int, list[Doubt]] = {}
    for name in DOUBTERS:
        for pk, doubts in DOUBTERS[name](round_, viewer).items():
            found.setdefault(pk, []).extend(doubts)
    return found


def _weights(
    round_: Round, said: Mapping[int, Sequence[MachineJudgment]], values: Sequence[int], untold_queries: Set[str]
) -> Mapping[Key, float]:
    """How much hangs on each pair that machines graded: from a step below to a step above what they said.

    A metric is made of all grades of a query: of those with a pair that must not be told nothing is.
    """
    if not said:
        return {}
    keys = {
        pk: (query_id, doc_id)
        for pk, query_id, doc_id in round_.pairs.values_list("pk", "query__query_id", "document__doc_id")
    }
    steps = {value: at for at, value in enumerate(values)}
    machine: dict[Key, float] = {}
    doubts: dict[Key, tuple[int, int]] = {}
    for pk, rows in said.items():
        grades = [row.grade for row in rows if row.grade in steps]
        if grades and keys[pk][0] not in untold_queries:
            low, high = max(steps[min(grades)] - 1, 0), min(steps[max(grades)] + 1, len(values) - 1)
            machine[keys[pk]] = float(median_low(grades))
            doubts[keys[pk]] = values[low], values[high]
    people = {key: grade for key, grade in judged.labels_of(round_).items() if key[0] not in untold_queries}
    labels = {**machine, **people}
    for name in WEIGHERS:
        return WEIGHERS[name](round_, labels, doubts)
    return {}


def _heaviest(rest: Sequence[Routed]) -> list[Routed]:
    """Of the pairs beyond doubt the share on which most hangs, one at least; none where nothing does."""
    heavy = sorted((one for one in rest if one.leverage), key=lambda one: -(one.leverage or 0.0))
    return heavy[: max(1, int(len(heavy) * HEAVIEST))]


def entropy(probabilities: Mapping[str, float] | None) -> float:
    """How undecided a model was between the grades, from 0 (sure) to 1 (all alike).

    Examples
    --------
    >>> entropy({"0": 0.5, "1": 0.5}), entropy({"0": 1.0, "1": 0.0}), entropy(None)
    (1.0, 0.0, 0.0)
    """
    shares = [share for share in (probabilities or {}).values() if share > 0]
    if len(shares) < 2 or probabilities is None:
        return 0.0
    return -sum(share * math.log(share) for share in shares) / math.log(len(probabilities))


def _said(round_: Round) -> dict[int, list[MachineJudgment]]:
    found: dict[int, list[MachineJudgment]] = {}
    # What a system made of a document is its usefulness: that it is no grade is no failure and no doubt.
    said = MachineJudgment.objects.filter(pair__round=round_).order_by().values("judge")
    judges = Judge.objects.filter(pk__in=said).only("kind")
    graders = [judge.pk for judge in judges if judged.has_grades(judge)]
    rows = MachineJudgment.objects.filter(pair__round=round_, judge__in=graders)
    for row in rows.only("pair_id", "grade", "probabilities", "outcome"):
        found.setdefault(row.pair_id, []).append(row)
    return found


def _flipped(round_: Round) -> set[int]:
    """Pairs whose planted copy got a higher grade than the pair itself, by any judge."""
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

    found: dict[int, int] = {}
    for pair in Judgment.objects.counted().of_round(round_).values_list("pair", flat=True):
        found[pair] = found.get(pair, 0) + 1
    return found
