"""Effect of pairs with only machine grades on a metric, as `judgments.machines.calibration.routing` needs it."""

from __future__ import annotations

from collections.abc import Mapping

from assay.core.errors import NotValid
from evaluation.effects.round_runs import METRIC, is_large, metric_named, runs_of, state_key
from judgments.jobs.single_flight import compute_once
from judgments.labels.round_labels import Key
from judgments.models import Round
from pooling.runs import runs as stored_runs

DAY = 24 * 3600
FORM = 1
# Limits for a computation during a page request.
MOST = 5_000


def leverage(round_: Round, labels: Mapping[Key, float], doubts: Mapping[Key, tuple[int, int]]) -> dict[Key, float]:
    """Return the largest change of any run's mean nDCG@10 when a pair moves from its lowest to its highest possible
    grade."""
    try:
        runs = [] if is_large(round_) or len(doubts) > MOST else runs_of(round_)
    except NotValid:
        runs = []
    if not runs or not doubts:
        return {}

    def compute() -> dict[Key, float]:
        from assay.effects.pair_effects import Doubt, moves

        keys = sorted(doubts)
        pair_doubts = [Doubt(key, *doubts[key]) for key in keys]
        shifts = abs(
            moves(labels, pair_doubts, [stored_runs.ranked(run) for run in runs], metric_named(METRIC, round_))
        )
        return dict(zip(keys, shifts.max(axis=0).tolist(), strict=True))

    known = state_key(round_, runs, sorted(labels.items()), sorted(doubts.items()))
    return compute_once(f"leverage:{FORM}:{known}", compute, keep=DAY)
