"""Effect of pairs with only machine grades on a metric, as `judgments.routing` needs it."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.round_runs import METRIC, is_large, metric_named, runs_of, state_key
from judgments.computed import once
from judgments.core.errors import NotValid
from judgments.models import Round
from judgments.round_labels import Key
from pooling import runs as pooled

DAY = 24 * 3600
FORM = 1
# What a page can wait for.
MOST = 5_000


def leverage(round_: Round, labels: Mapping[Key, float], doubts: Mapping[Key, tuple[int, int]]) -> dict[Key, float]:
    """The largest change of any run's mean nDCG@10 when a pair goes from its lowest to its highest grade in doubt.

    Parameters
    ----------
    round_ : Round
        Whose collection's runs are moved.
    labels : mapping of (query_id, doc_id) to float
        The labels as they are: people's, else a machine's.
    doubts : mapping of (query_id, doc_id) to (int, int)
        Lowest and highest grade that is thought possible.

    Returns
    -------
    dict
        By pair; empty where there is no run, or where runs or round are too large for a page.
    """
    try:
        runs = [] if is_large(round_) or len(doubts) > MOST else runs_of(round_)
    except NotValid:
        runs = []
    if not runs or not doubts:
        return {}

    def compute() -> dict[Key, float]:
        from evaluation.regrading.conflicts import Doubt, moves

        keys = sorted(doubts)
        asked = [Doubt(key, *doubts[key]) for key in keys]
        found = abs(moves(labels, asked, [pooled.ranked(run) for run in runs], metric_named(METRIC, round_)))
        return dict(zip(keys, found.max(axis=0).tolist(), strict=True))

    known = state_key(round_, runs, sorted(labels.items()), sorted(doubts.items()))
    return once(f"leverage:{FORM}:{known}", compute, keep=DAY)
