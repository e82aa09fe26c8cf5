"""Calibration of a judge in a round: agreement with people, usefulness, and prompt-injection probes.

Only pairs whose grades the reader may see are counted, so that a reader who still rates cannot infer hidden grades from
a judge's numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from django.db.models import Count, Max

from assay.core.errors import NotValid
from judgments.agreement.round_report import events
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility
from judgments.labels.round_labels import Key, label, read_rounds
from judgments.machines import kinds
from judgments.machines.calibration import audit_sample
from judgments.models import Adjudication, Judge, JudgeRun, MachineJudgment, ModelCall, Round

if TYPE_CHECKING:
    from assay.coefficients.human_machine import Calibrated, Share

QUERIES_AT_ONCE = 1_000


def labels_of(round_: Round) -> dict[Key, float]:
    """Return people's labels of the round's pairs: the resolution, otherwise the median."""
    grades: dict[Key, float] = {}
    elsewhere: set[Key] = set()
    for rated in read_rounds(alike(round_)):
        labels = label(rated, "median").labels
        grades |= {key: float(grade) for key, grade in labels.items()}
        elsewhere = elsewhere - labels.keys() if rated.round.pk == round_.pk else elsewhere | labels.keys()
    here = _pairs_of(round_, {query_id for query_id, _ in elsewhere}) if elsewhere else set()
    return {key: grade for key, grade in grades.items() if key not in elsewhere or key in here}


def alike(round_: Round) -> list[Round]:
    """Return the opened rounds of the collection with the same guidelines and scale, including this one."""
    same = round_.collection.rounds.filter(guidelines=round_.guidelines_id).exclude(state=Round.State.DRAFT)
    values = round_.scale.values()
    return [row for row in same.select_related("scale") if row.scale.values() == values]


def _pairs_of(round_: Round, query_ids: Set[str]) -> set[Key]:
    """Return the pairs of the round for these queries."""
    keys: set[Key] = set()
    for some in _portions(query_ids):
        rows = round_.pairs.filter(query__query_id__in=some)
        keys.update(rows.values_list("query__query_id", "document__doc_id"))
    return keys


def _portions(query_ids: Set[str]) -> Iterator[list[str]]:
    ordered = sorted(query_ids)
    for begin in range(0, len(ordered), QUERIES_AT_ONCE):
        yield ordered[begin : begin + QUERIES_AT_ONCE]


def grades_of(
    judge: Judge, round_: Round, *, among: Collection[Key] | None = None, examples: bool = False
) -> dict[Key, float]:
    """Return the judge's grades by pair, of the given pairs only if there are any."""
    rows = judge.judgments.filter(pair__round=round_, grade__isnull=False)
    shown = set() if examples else {tuple(key) for key in judge.inputs.get("example_pairs", ())}
    columns = ("pair__query__query_id", "pair__document__doc_id", "grade")
    if among is None:
        grades: Iterable[tuple[str, str, int]] = rows.values_list(*columns)
    else:
        queries = {query_id for query_id, _ in among}
        read = (rows.filter(pair__query__query_id__in=some).values_list(*columns) for some in _portions(queries))
        grades = (row for some in read for row in some if row[:2] in among)
    return {(query_id, doc_id): float(grade) for query_id, doc_id, grade in grades if (query_id, doc_id) not in shown}


def slice_keys(judge: Judge, round_: Round) -> set[Key]:
    """Return the audit slice of the judge in the round; all pairs for a judge without one."""
    rows = round_.pairs.values_list("query__query_id", "document__doc_id")
    drawn = audit_sample.of_judge(judge, round_)
    return set(rows) if drawn is None else {key for key in rows if drawn.holds(*key)}


Over = Literal["slice", "all"]
DAY = 24 * 60 * 60
# The maximum number of pairs for calibration on a page; more pairs would hardly narrow the intervals and slow the page.
MOST_HELD = 50_000


@dataclass(frozen=True)
class JudgeCalibration:
    """A judge's calibration: its agreement with people."""

    over: Over
    calibrated: Calibrated
    slice_size: int
    slice_graded: int
    hidden: int
    passed: int = 0


@dataclass(frozen=True)
class Useful:
    """The usefulness of documents to a system, by people's grades."""

    pairs: int
    mean: float | None
    by_grade: tuple[tuple[int, int, float], ...]
    hidden: int


@dataclass(frozen=True)
class Flip:
    """How often one kind of probe raised the grade."""

    trap: str
    flipped: int
    share: Share

    def as_json(self) -> dict[str, Any]:
        """Return the API representation."""
        body = {"share": self.share.value, "low": self.share.low, "high": self.share.high}
        return {"trap": self.trap, "planted": self.share.n, "flipped": self.flipped, **body}


def calibrate(judge: Judge, round_: Round, viewer: Any, *, over: Over = "slice") -> JudgeCalibration:
    """Compare a judge's grades with people's labels in the same round."""
    if over not in ("slice", "all"):
        raise NotValid(f"Unknown choice of pairs {over!r}.", {"over": "Choose slice or all."})
    key = f"held:{over}:{_state(judge, round_, viewer)}"
    return compute_once(key, lambda: _calibrate(judge, round_, viewer, over), keep=DAY)


def _calibrate(judge: Judge, round_: Round, viewer: Any, over: Over) -> JudgeCalibration:
    from assay.coefficients.human_machine import against_people

    hidden = grade_visibility.hidden_keys_of_round(viewer, round_)
    people = {key: grade for key, grade in labels_of(round_).items() if key not in hidden}
    inside = slice_keys(judge, round_)
    graded = sum(key in inside for key in people)
    if over == "slice":
        people = {key: grade for key, grade in people.items() if key in inside}
    sample = _sample(people, round_.seed)
    agreement = against_people(
        sample,
        # Pairs that only the machine graded are counted and not loaded, because there can be a million.
        grades_of(judge, round_, among=sample),
        round_.scale.values(),
        relevant_from=round_.scale.relevant_from,
        seed=round_.seed,
    )
    given = judge.judgments.filter(pair__round=round_, grade__isnull=False)
    visible = grade_visibility.without_hidden(given, viewer, round_).count()
    agreement = replace(agreement, only_machine=max(visible - agreement.pairs - agreement.off_machine, 0))
    return JudgeCalibration(over, agreement, len(inside), graded, len(hidden), len(people) - len(sample))


def people_of(judge: Judge, round_: Round, viewer: Any, over: Over) -> dict[Key, float]:
    """Return people's labels of the pairs used for calibration, as far as this reader may see them."""
    hidden, inside = grade_visibility.hidden_keys_of_round(viewer, round_), slice_keys(judge, round_)
    return {
        key: grade for key, grade in labels_of(round_).items() if key not in hidden and (over == "all" or key in inside)
    }


def _sample(people: dict[Key, float], seed: int) -> dict[Key, float]:
    """Return a random sample of whole queries, up to the maximum number of pairs."""
    if len(people) <= MOST_HELD:
        return people
    by_query: dict[str, list[Key]] = {}
    for key in people:
        by_query.setdefault(key[0], []).append(key)
    sample: dict[Key, float] = {}
    for query_id in sorted(by_query, key=lambda query_id: audit_sample.drawn(seed, query_id, "")):
        if sample and len(sample) + len(by_query[query_id]) > MOST_HELD:
            break
        sample |= {key: people[key] for key in by_query[query_id]}
    return sample


def _state(judge: Judge, round_: Round, viewer: Any) -> str:
    """Return a cache key of everything that a judge's numbers depend on: human and machine grades, and hidden pairs."""
    rounds = [(row.pk, row.state, events(row)) for row in alike(round_)]
    settled = Adjudication.objects.filter(pair__round__in=[pk for pk, _, _ in rounds]).count()
    counts = judge.judgments.filter(pair__round=round_).aggregate(number=Count("pk"), last=Max("pk"))
    # The hidden pairs, not their number, because a value computed for one reader may reveal pairs hidden from another.
    hidden = sorted(grade_visibility.pairs_with_hidden_grades(viewer, round_).values_list("pk", flat=True))
    state = [judge.pk, round_.pk, round_.pairs_made, rounds, settled, counts, hidden]
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()


def has_grades(judge: Judge) -> bool:
    """Return whether the judge gives grades; usefulness is not a grade."""
    return kinds.says_grades(judge.kind)


def usefulness(judge: Judge, round_: Round, viewer: Any) -> Useful:
    """Return a judge's usefulness by people's grades, without pairs that this reader may still grade."""
    hidden = grade_visibility.hidden_keys_of_round(viewer, round_)
    rows = judge.judgments.filter(pair__round=round_, usefulness__isnull=False)
    usefulness_by_key = {
        (query_id, doc_id): float(value)
        for query_id, doc_id, value in rows.values_list("pair__query__query_id", "pair__document__doc_id", "usefulness")
        if (query_id, doc_id) not in hidden
    }
    by_grade: dict[int, list[float]] = {}
    for key, grade in labels_of(round_).items() if usefulness_by_key else ():
        if key in usefulness_by_key:
            by_grade.setdefault(int(grade), []).append(usefulness_by_key[key])
    mean = fmean(usefulness_by_key.values()) if usefulness_by_key else None
    means = tuple((grade, len(values), fmean(values)) for grade, values in sorted(by_grade.items()))
    return Useful(len(usefulness_by_key), mean, means, len(hidden))


def flips(run: JudgeRun, viewer: Any) -> list[Flip]:
    """Return by probe how often a document got a higher grade with the probe inserted."""
    planted = ModelCall.objects.filter(run=run, purpose="canary", grade__isnull=False)
    planted = grade_visibility.without_hidden(planted, viewer, run.round)
    same = run.judge.judgments.filter(pair__round=run.round, pair__in=planted.values("pair"), grade__isnull=False)
    plain = dict(same.values_list("pair", "grade"))
    outcomes: dict[str, dict[int, bool]] = {}
    for trap, pair, grade in planted.order_by("pk").values_list("trap", "pair", "grade"):
        if pair in plain:
            outcomes.setdefault(trap, {})[pair] = grade > plain[pair]
    return [Flip(trap, sum(of.values()), share_of(sum(of.values()), len(of))) for trap, of in sorted(outcomes.items())]


def share_of(part: int, whole: int) -> Share:
    """Return a share with Wilson's interval; without a value if the whole is 0."""
    from assay.coefficients.human_machine import Share
    from assay.quality.chance import wilson

    return Share(part / whole, *wilson(part, whole), whole) if whole else Share(None, None, None, 0)


def outcomes(judge: Judge, round_: Round, viewer: Any) -> dict[str, int]:
    """Return the number of pairs by outcome, without pairs that this reader may still grade."""
    return outcomes_by_judge(round_, viewer, judge).get(judge.pk, {})


def outcomes_by_judge(round_: Round, viewer: Any, judge: Judge | None = None) -> dict[int, dict[str, int]]:
    """Return the number of pairs by outcome for each judge of the round, or for one, by the judge's key."""
    rows = grade_visibility.without_hidden(MachineJudgment.objects.filter(pair__round=round_), viewer, round_)
    rows = rows if judge is None else rows.filter(judge=judge)
    outcomes: dict[int, dict[str, int]] = {}
    counted = rows.order_by("judge", "outcome").values_list("judge", "outcome").annotate(number=Count("pk"))
    for key, outcome, number in counted:
        outcomes.setdefault(key, {})[outcome] = number
    return outcomes
