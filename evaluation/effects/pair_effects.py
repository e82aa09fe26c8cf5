"""Effect of each conflict of a round on a metric, as `judgments.agreement.conflicts` needs it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from assay.core.errors import Conflict, NotValid
from evaluation.effects import job
from evaluation.effects.round_runs import METRIC, all_runs, is_large, metric_named, runs_of, state_key, takes_a_job
from judgments.agreement.conflicts import Effects
from judgments.jobs.single_flight import compute_once
from judgments.labels.round_labels import Key, label, read_rounds
from judgments.models import Judgment, Pair, Round
from pooling.models import Run
from pooling.runs import runs as stored_runs

DAY = 24 * 3600
FORM = 1
RULE = "median"
# A page computes the widest conflicts only. A job computes all of them and stores those with the largest effect.
MOST, MOST_STORED = 5_000, 20_000


def effects(round_: Round) -> Effects | None:
    """Return the largest change of any run's mean when a conflict's label moves from its lowest to its highest
    grade."""
    runs = all_runs(round_)
    if not runs:
        return None
    if not takes_a_job(round_, runs):
        moved = compute_once(f"conflicts:{FORM}:{state_key(round_, runs)}", lambda: _moves(round_, runs), keep=DAY)
        return Effects(METRIC, moved)
    try:
        latest = job.look(round_, runs, "conflicts")
    except (Conflict, NotValid):
        return None
    return Effects(METRIC, {int(pair): by for pair, by in latest.effects["moves"].items()}, latest.newer)


def why_not(round_: Round) -> str:
    """Return why no effects are available although the collection has runs: a job is computing them, or it failed."""
    runs = all_runs(round_)
    if not takes_a_job(round_, runs):
        return ""
    try:
        job.look(round_, runs, "conflicts")
    except (Conflict, NotValid) as error:
        return f"The effects of pairs on {METRIC} are not available yet. {error}"
    return ""


def counted(round_: Round, runs: list[Run]) -> dict[str, Any]:
    """Return the pairs with the largest effects for a large round, by pair key."""
    shifts = _moves(round_, runs, None)
    top_pairs = sorted(shifts, key=lambda pair: (-shifts[pair], pair))[:MOST_STORED]
    return {"moves": {pair: shifts[pair] for pair in top_pairs}}


def _moves(round_: Round, runs: list[Run], most: int | None = MOST) -> dict[int, float]:
    doubts = _doubts(round_, most)
    return dict(zip(doubts, _largest(round_, runs, _labels(round_), doubts.values()), strict=True))


def _largest(
    round_: Round, runs: list[Run], labels: Mapping[Key, float], doubts: Iterable[tuple[Key, int, int]]
) -> list[float]:
    """Return the largest change of any run's mean for each pair with its lowest and its highest grade."""
    from assay.effects.pair_effects import Doubt, moves

    tables = [stored_runs.ranked(run) for run in runs]
    changes = abs(moves(labels, [Doubt(*doubt) for doubt in doubts], tables, metric_named(METRIC, round_)))
    largest: list[float] = changes.max(axis=0).tolist()
    return largest


def leverage(round_: Round, labels: Mapping[Key, float], doubts: Mapping[Key, tuple[int, int]]) -> dict[Key, float]:
    """Return the same change by pair for given labels; empty if this takes too long for a page."""
    try:
        runs = [] if is_large(round_) or len(doubts) > MOST else runs_of(round_)
    except NotValid:
        runs = []
    if not runs or not doubts:
        return {}

    def compute() -> dict[Key, float]:
        keys = sorted(doubts)
        return dict(zip(keys, _largest(round_, runs, labels, [(key, *doubts[key]) for key in keys]), strict=True))

    known = state_key(round_, runs, sorted(labels.items()), sorted(doubts.items()))
    return compute_once(f"leverage:{FORM}:{known}", compute, keep=DAY)


def detail(pair: Pair, grades: list[int]) -> list[dict[str, Any]]:
    """Return each run's mean under each grade of one pair, largest change first; empty for large rounds."""
    import numpy as np

    from assay.effects.pair_effects import Doubt, Labels, Pairs, moves, positions, values

    round_, key = pair.round, (pair.query.query_id, pair.document.doc_id)
    runs = all_runs(round_)
    if not runs or not grades or takes_a_job(round_, runs):
        return []
    tables = [stored_runs.ranked(run) for run in runs]
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


def _spread(means: dict[int, float]) -> float:
    return max(means.values()) - min(means.values())


def _labels(round_: Round) -> dict[Key, float]:
    (rated,) = read_rounds([round_])
    return {key: float(grade) for key, grade in label(rated, RULE).labels.items()}


def _doubts(round_: Round, most: int | None) -> dict[int, tuple[Key, int, int]]:
    """Return the widest conflicts: pair to its ids, its lowest and its highest grade."""
    given: dict[int, list[int]] = defaultdict(list)
    keys: dict[int, Key] = {}
    rows = Judgment.objects.counted().of_round(round_).filter(pair__spread__gt=0).order_by()
    names = ("pair_id", "pair__query__query_id", "pair__document__doc_id", "grade")
    for pair, query_id, doc_id, grade in rows.values_list(*names):
        given[pair].append(grade)
        keys[pair] = (query_id, doc_id)
    ends = {pair: (keys[pair], min(grades), max(grades)) for pair, grades in given.items()}
    widest = sorted(ends, key=lambda pair: (ends[pair][1] - ends[pair][2], keys[pair]))
    return {pair: ends[pair] for pair in widest[:most] if ends[pair][1] < ends[pair][2]}
