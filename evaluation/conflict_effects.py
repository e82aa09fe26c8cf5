"""How much of a metric hangs on each conflict of a round? What judgments.conflict_effects asks for."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from evaluation.round_runs import METRIC, is_large, metric_named, runs_of, state_key, too_large
from judgments.computed import once
from judgments.conflict_effects import Effects
from judgments.core.errors import NotValid
from judgments.models import Judgment, Pair, Round
from judgments.round_labels import Key, label, read_rounds
from pooling import runs as pooled
from pooling.models import Run

DAY = 24 * 3600
FORM = 1
RULE = "median"
# The widest conflicts are looked at; of a page of fifty nobody reaches the others.
MOST = 5_000


def effects(round_: Round) -> Effects | None:
    """The largest change of any run's mean when a conflict's label goes from its lowest to its highest grade.

    All other labels of the round stay as the lower median, or a lead, makes them. None where there is no run, or where
    runs or round are too large for a page.
    """
    runs = _runs(round_)
    if not runs:
        return None

    def compute() -> Effects:
        from evaluation.regrading.conflicts import Doubt, moves

        doubts = _doubts(round_)
        labels = _labels(round_)
        tables = [pooled.ranked(run) for run in runs]
        asked = [Doubt(key, low, high) for key, low, high in doubts.values()]
        found = abs(moves(labels, asked, tables, metric_named(METRIC, round_)))
        return Effects(METRIC, dict(zip(doubts, found.max(axis=0).tolist(), strict=True)))

    return once(f"conflicts:{FORM}:{state_key(round_, runs)}", compute, keep=DAY)


def why_not(round_: Round) -> str:
    """Why nothing is told although there are runs: round or runs are too large for a page."""
    if not round_.collection.runs.exists() or _runs(round_):
        return ""
    if is_large(round_):
        return f"How far each moves {METRIC} is not counted. {too_large(round_)}"
    try:
        runs_of(round_.collection)
    except NotValid as error:
        return f"How far each moves {METRIC} is not counted. {error}"
    return ""


def detail(pair: Pair, grades: list[int]) -> list[dict[str, Any]]:
    """Each run's mean under each of the grades for one pair, the runs that move most first."""
    import numpy as np

    from evaluation.regrading.conflicts import Doubt, moves
    from evaluation.regrading.positions import Labels, Pairs, positions, values

    round_, key = pair.round, (pair.query.query_id, pair.document.doc_id)
    tables = [pooled.ranked(run) for run in _runs(round_)]
    if not tables or not grades:
        return []
    metric, lowest = metric_named(METRIC, round_), min(grades)
    labels = {**_labels(round_), key: float(lowest)}
    pairs = Pairs(list(labels))
    base = Labels(pairs, np.array(list(labels.values())))
    wanted = sorted(set(grades))
    changes = moves(labels, [Doubt(key, lowest, grade) for grade in wanted], tables, metric)
    rows = []
    for table, change in zip(tables, changes, strict=True):
        at = positions(pairs, table)
        mean = float(values(base, at, metric).mean())
        means = {grade: mean + by for grade, by in zip(wanted, change.tolist(), strict=True)}
        place = at.rank[at.pair == list(labels).index(key)]
        rows.append({"run": table.name, "rank": int(place[0]) if len(place) else None, "values": means})
    return sorted(rows, key=lambda row: (-_spread(row["values"]), row["run"]))


def _runs(round_: Round) -> list[Run]:
    """The runs, none where anything is too large to be read while a page waits."""
    try:
        return [] if is_large(round_) else runs_of(round_.collection)
    except NotValid:
        return []


def _spread(means: dict[int, float]) -> float:
    return max(means.values()) - min(means.values())


def _labels(round_: Round) -> dict[Key, float]:
    (rated,) = read_rounds([round_])
    return {key: float(grade) for key, grade in label(rated, RULE).labels.items()}


def _doubts(round_: Round) -> dict[int, tuple[Key, int, int]]:
    """The widest conflicts: pair to its ids, its lowest and its highest grade."""
    given: dict[int, list[int]] = defaultdict(list)
    keys: dict[int, Key] = {}
    rows = Judgment.objects.counted().of_round(round_).filter(pair__spread__gt=0).order_by()
    names = ("pair_id", "pair__query__query_id", "pair__document__doc_id", "grade")
    for pair, query_id, doc_id, grade in rows.values_list(*names):
        given[pair].append(grade)
        keys[pair] = (query_id, doc_id)
    ends = {pair: (keys[pair], min(grades), max(grades)) for pair, grades in given.items()}
    widest = sorted(ends, key=lambda pair: (ends[pair][1] - ends[pair][2], keys[pair]))
    return {pair: ends[pair] for pair in widest[:MOST] if ends[pair][1] < ends[pair][2]}
