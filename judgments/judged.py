"""Calibration of a judge in a round: agreement with people, usefulness, and prompt-injection probes.

Only pairs whose grades this reader may see are counted: a reader who still rates cannot infer hidden grades from a
judge's numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Set
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from django.db.models import Count, Max

from judgments import audit_slice, judge_kinds, untold
from judgments.computed import once
from judgments.core.errors import NotValid
from judgments.judge_cost import Money, money
from judgments.judged_labels import alike, grades_of, labels_of, slice_keys
from judgments.models import Adjudication, Judge, JudgeRun, MachineJudgment, ModelCall, Round
from judgments.round_labels import Key
from judgments.round_reports import events

if TYPE_CHECKING:
    from judgments.agreement.machine import Calibrated, Share

# What rooms above ask this module for.
__all__ = [
    "Held",
    "Money",
    "flips",
    "grades_of",
    "has_grades",
    "held",
    "labels_of",
    "money",
    "outcomes",
    "people_of",
    "share_of",
    "slice_keys",
    "usefulness",
]

Over = Literal["slice", "all"]
DAY = 24 * 60 * 60
# More pairs are not held against a judge on a page: the intervals would hardly be narrower, and the page slow.
MOST_HELD = 50_000


@dataclass(frozen=True)
class Held:
    """A judge held against people.

    Parameters
    ----------
    over : str
        ``slice``: on the audit slice alone, which was drawn from all pairs; ``all``: on whatever people graded.
    calibrated : Calibrated
        Kappas, alphas, confusion, what each grade is worth.
    slice_size, slice_graded : int
        Pairs of the slice, and how many of them people have graded.
    hidden : int
        Pairs that are left out because this reader may still grade them.
    passed : int
        Pairs that people graded and that are not looked at, since there are more than `MOST_HELD`: whole queries are,
        drawn by the round's seed.
    """

    over: Over
    calibrated: Calibrated
    slice_size: int
    slice_graded: int
    hidden: int
    passed: int = 0


@dataclass(frozen=True)
class Useful:
    """How useful documents are to a system, beside how relevant people find them.

    Parameters
    ----------
    pairs : int
        With a value.
    mean : float or None
        Over all of them, from 0 to 1; None without any.
    by_grade : tuple of (int, int, float)
        Of each grade of people: how many of the pairs have it, and their mean.
    hidden : int
        Pairs that are left out because this reader may still grade them.
    """

    pairs: int
    mean: float | None
    by_grade: tuple[tuple[int, int, float], ...]
    hidden: int


@dataclass(frozen=True)
class Flip:
    """How often one kind of trap raised the grade."""

    trap: str
    flipped: int
    share: Share

    def as_json(self) -> dict[str, Any]:
        """As the API tells it."""
        told = {"share": self.share.value, "low": self.share.low, "high": self.share.high}
        return {"trap": self.trap, "planted": self.share.n, "flipped": self.flipped, **told}


def held(judge: Judge, round_: Round, viewer: Any, *, over: Over = "slice", resamples: int = 1_000) -> Held:
    """Hold a judge's grades against the settled labels of people in the same round.

    Parameters
    ----------
    judge, round_ : Judge, Round
        Whose grades, and where.
    viewer : User
        Who reads it.
    over : {"slice", "all"}
        On which pairs.
    resamples : int
        Of the intervals, by query; 0 gives none.

    Raises
    ------
    NotValid
        There is no such choice of pairs.
    """
    if over not in ("slice", "all"):
        raise NotValid("Pairs are those of the slice, or all.", {"over": "slice or all."})
    key = f"held:{over}:{resamples}:{_state(judge, round_, viewer)}"
    return once(key, lambda: _held(judge, round_, viewer, over, resamples), keep=DAY)


def _held(judge: Judge, round_: Round, viewer: Any, over: Over, resamples: int) -> Held:
    from judgments.agreement.machine import against_people

    hidden = _hidden(round_, viewer)
    people = {key: grade for key, grade in labels_of(round_).items() if key not in hidden}
    inside = slice_keys(judge, round_)
    graded = sum(key in inside for key in people)
    if over == "slice":
        people = {key: grade for key, grade in people.items() if key in inside}
    kept = _some(people, round_.seed)
    found = against_people(
        kept,
        # What the machine alone graded says nothing here, and there can be a million of it: it is counted.
        grades_of(judge, round_, among=kept),
        round_.scale.values(),
        relevant_from=round_.scale.relevant_from,
        resamples=resamples,
        seed=round_.seed,
    )
    given = judge.judgments.filter(pair__round=round_, grade__isnull=False)
    told = given.exclude(pair__in=untold.untold_pairs(viewer, round_).values("pk")).count()
    found = replace(found, only_machine=max(told - found.pairs - found.off_machine, 0))
    return Held(over, found, len(inside), graded, len(hidden), len(people) - len(kept))


def people_of(judge: Judge, round_: Round, viewer: Any, over: Over) -> dict[Key, float]:
    """What people said of the pairs on which the judge is held against them, as far as this reader may be told."""
    hidden, inside = _hidden(round_, viewer), slice_keys(judge, round_)
    return {
        key: grade for key, grade in labels_of(round_).items() if key not in hidden and (over == "all" or key in inside)
    }


def _some(people: dict[Key, float], seed: int) -> dict[Key, float]:
    """Whole queries of them, in the order of a draw, until there are as many as are looked at."""
    if len(people) <= MOST_HELD:
        return people
    by_query: dict[str, list[Key]] = {}
    for key in people:
        by_query.setdefault(key[0], []).append(key)
    found: dict[Key, float] = {}
    for query_id in sorted(by_query, key=lambda query_id: audit_slice.drawn(seed, query_id, "")):
        if found and len(found) + len(by_query[query_id]) > MOST_HELD:
            break
        found |= {key: people[key] for key in by_query[query_id]}
    return found


def _state(judge: Judge, round_: Round, viewer: Any) -> str:
    """Names all that a judge's numbers hang on: what people and it said, and what this reader is not told."""
    rounds = [(row.pk, row.state, events(row)) for row in alike(round_)]
    settled = Adjudication.objects.filter(pair__round__in=[pk for pk, _, _ in rounds]).count()
    said = judge.judgments.filter(pair__round=round_).aggregate(number=Count("pk"), last=Max("pk"))
    # Which pairs, and not how many: what is computed for one reader tells another what is hidden from that one.
    hidden = sorted(untold.untold_pairs(viewer, round_).values_list("pk", flat=True))
    told = [judge.pk, round_.pk, round_.pairs_made, rounds, settled, said, hidden]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def has_grades(judge: Judge) -> bool:
    """Whether it gives grades at all: what a system makes of a document is usefulness, and no doubt about a grade."""
    return judge_kinds.says_grades(judge.kind)


def usefulness(judge: Judge, round_: Round, viewer: Any) -> Useful:
    """What a judge's usefulness comes to beside people's grades, without the pairs that this reader may still grade."""
    hidden = _hidden(round_, viewer)
    rows = judge.judgments.filter(pair__round=round_, usefulness__isnull=False)
    found = {
        (query_id, doc_id): float(value)
        for query_id, doc_id, value in rows.values_list("pair__query__query_id", "pair__document__doc_id", "usefulness")
        if (query_id, doc_id) not in hidden
    }
    by_grade: dict[int, list[float]] = {}
    for key, grade in labels_of(round_).items() if found else ():
        if key in found:
            by_grade.setdefault(int(grade), []).append(found[key])
    mean = fmean(found.values()) if found else None
    means = tuple((grade, len(values), fmean(values)) for grade, values in sorted(by_grade.items()))
    return Useful(len(found), mean, means, len(hidden))


def flips(run: JudgeRun, viewer: Any) -> list[Flip]:
    """By trap, how often the same document got a higher grade with a trap in it.

    Without the pairs that this reader may still grade: whether one was flipped says something of its grade.
    """
    hidden = untold.untold_pairs(viewer, run.round)
    planted = ModelCall.objects.filter(run=run, purpose="canary", grade__isnull=False)
    planted = planted.exclude(pair__in=hidden.values("pk"))
    same = run.judge.judgments.filter(pair__round=run.round, pair__in=planted.values("pair"), grade__isnull=False)
    plain = dict(same.values_list("pair", "grade"))
    found: dict[str, dict[int, bool]] = {}
    for trap, pair, grade in planted.order_by("pk").values_list("trap", "pair", "grade"):
        if pair in plain:
            found.setdefault(trap, {})[pair] = grade > plain[pair]
    return [Flip(trap, sum(of.values()), share_of(sum(of.values()), len(of))) for trap, of in sorted(found.items())]


def share_of(part: int, whole: int) -> Share:
    """A share with Wilson's interval; no value of nothing."""
    from judgments.agreement.machine import Share
    from judgments.quality.chance import wilson

    return Share(part / whole, *wilson(part, whole), whole) if whole else Share(None, None, None, 0)


def outcomes(judge: Judge, round_: Round, viewer: Any) -> dict[str, int]:
    """How many pairs ended in which outcome, without those that this reader may still grade.

    Which of its answers failed can be read pair by pair: a count over all of them would tell of the last ones.
    """
    return outcomes_by_judge(round_, viewer, judge).get(judge.pk, {})


def outcomes_by_judge(round_: Round, viewer: Any, judge: Judge | None = None) -> dict[int, dict[str, int]]:
    """The same for every judge of the round by its key, or for one, counted by the database."""
    rows = MachineJudgment.objects.filter(pair__round=round_)
    rows = rows.exclude(pair__in=untold.untold_pairs(viewer, round_).values("pk"))
    rows = rows if judge is None else rows.filter(judge=judge)
    found: dict[int, dict[str, int]] = {}
    counted = rows.order_by("judge", "outcome").values_list("judge", "outcome").annotate(number=Count("pk"))
    for key, outcome, number in counted:
        found.setdefault(key, {})[outcome] = number
    return found


def _hidden(round_: Round, viewer: Any) -> Set[Key]:
    return set(untold.untold_pairs(viewer, round_).values_list("query__query_id", "document__doc_id"))
