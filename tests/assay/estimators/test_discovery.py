"""Tests of the discovery curve: counts by depth, and its extrapolation against deeper ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.discovery_curve import discovery, missed_by_curve
from assay.estimators.pooled_documents import pooled

CRANFIELD = Path(__file__).resolve().parents[4] / "shared" / "data" / "cranfield"


def one_run(queries: int, depth: int, judged: int, relevant: int) -> tuple[Qrels, list[Run]]:
    """Every query returns the same documents; the first are judged, and the first of these are relevant."""
    labels = {f"q{n}": {f"d{k:02d}": int(k < relevant) for k in range(judged)} for n in range(queries)}
    ranking = {f"d{k:02d}": float(depth - k) for k in range(depth)}
    return Qrels.from_dict(labels), [Run.from_dict(dict.fromkeys(labels, ranking), "run")]


def curve_of(qrels: Qrels, runs: list[Run]):
    return discovery(qrels, pooled(qrels, runs, 1_000))


def test_documents_added_by_each_depth():
    qrels, runs = one_run(queries=3, depth=6, judged=4, relevant=2)
    curve = curve_of(qrels, runs)
    assert curve.whole == 4
    assert curve.steps()[0] == {"depth": 1, "pooled": 3, "judged": 3, "relevant": 3}
    assert curve.steps()[-1] == {"depth": 6, "pooled": 18, "judged": 12, "relevant": 6}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((12, 30, 4, 2), "only to rank 4"),
        ((9, 30, 12, 5), "9 judged queries are too few"),
        ((12, 30, 12, 1), "12 relevant documents are too few"),
        ((12, 30, 12, 12), "do not become rarer"),
    ],
)
def test_no_estimate_without_a_reason(options, message):
    result = missed_by_curve(curve_of(*one_run(*options)))
    assert (result.value, result.low, result.high, result.share_found) == (None, None, None, None)
    assert message in result.reason


def test_all_that_was_returned_is_judged():
    result = missed_by_curve(curve_of(*one_run(12, 10, 10, 3)))
    assert (result.value, result.low, result.high, result.unjudged) == (0.0, 0.0, 0.0, 0)


def test_the_same_seed_gives_the_same_interval():
    generator = np.random.default_rng(2)
    labels = {
        f"q{n}": {f"d{k:02d}": int(generator.random() < 0.9 / (k + 1) ** 0.7) for k in range(20)} for n in range(30)
    }
    ranking = {f"d{k:02d}": float(60 - k) for k in range(60)}
    curve = curve_of(Qrels.from_dict(labels), [Run.from_dict(dict.fromkeys(labels, ranking), "run")])
    first, again, other = (missed_by_curve(curve, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.value == other.value
    assert (first.low, first.high) != (other.low, other.high)
    # Each of the 40 unjudged ranks holds one with 0.9 / k^0.7, so that there are 177 to be expected.
    expected = 30 * sum(0.9 / k**0.7 for k in range(21, 61))
    assert first.low < expected < first.high


@pytest.mark.shared
@pytest.mark.skipif(not CRANFIELD.exists(), reason="../shared/data is not here")
@pytest.mark.parametrize("depth", [10, 20, 30])
def test_pools_of_cranfield_hold_what_deeper_ranks_held(depth):
    """Pools are cut out of a collection that was judged whole, so that what they missed is known."""
    from assay.formats.qrels_and_runs import load_run
    from assay.formats.trec_qrels import load_qrels

    truth = load_qrels((CRANFIELD / "qrels.txt").read_bytes(), path="qrels.txt")
    names = ("gen_bm25_stem", "gen_char35_cos", "gen_lsa150")
    runs = [load_run((CRANFIELD / "runs" / f"{n}.run.gz").read_bytes(), path=f"{n}.gz", name=n)[0] for n in names]
    known = truth.to_dict()
    labels = {
        query_id: {doc_id: known[query_id].get(doc_id, 0.0) for run in runs for doc_id in run.ranking(query_id)[:depth]}
        for query_id in known
    }
    result = missed_by_curve(curve_of(Qrels.from_dict(labels), runs))
    everything = pooled(truth, runs, 1_000)
    relevant = int((truth.grades[everything.place[everything.place >= 0]] >= 1).sum())
    assert result.low < relevant - result.found < result.high
