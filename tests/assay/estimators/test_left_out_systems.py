"""Tests of leaving a run out: same as a pool without it."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.estimators.left_out_systems import families, leave_out
from assay.estimators.pooled_documents import pooled
from assay.estimators.reusability import reuse
from evaluation import evaluate

DEPTH = 5


@pytest.fixture(scope="module")
def world():
    """Thirty queries over forty documents, five runs that see their grades through noise of their own."""
    generator = np.random.default_rng(11)
    truth = {f"q{n:02d}": dict(zip(_ids(), generator.integers(0, 4, 40).tolist(), strict=True)) for n in range(30)}
    runs = [
        Run.from_dict(
            {
                query_id: {doc_id: float(grade + generator.normal(0, noise)) for doc_id, grade in grades.items()}
                for query_id, grades in truth.items()
            },
            name,
        )
        for name, noise in (("bm25-a", 2.0), ("bm25-b", 2.5), ("neural", 1.0), ("splade", 1.5), ("random", 9.0))
    ]
    return truth, runs


def _ids():
    return [f"d{n:02d}" for n in range(40)]


def labels_of(truth, runs):
    """What would have been judged, had the pool been drawn from these runs."""
    judged = {
        query_id: {doc_id: truth[query_id][doc_id] for run in runs for doc_id in run.ranking(query_id)[:DEPTH]}
        for query_id in truth
    }
    return Qrels.from_dict(judged)


def test_a_run_left_out_scores_as_on_a_pool_drawn_without_it(world):
    truth, runs = world
    whole = labels_of(truth, runs)
    result = reuse(whole, runs, "nDCG@10", depth=DEPTH)
    full = evaluate(whole, runs, ["nDCG@10", "Judged@10"])
    for one in result.left_out:
        others = [run for run in runs if run.name != one.name]
        rest = labels_of(truth, others)
        scores = {run.name: run.metrics for run in evaluate(rest, runs, ["nDCG@10", "Judged@10"]).runs}
        (hurt,) = one.runs
        assert hurt.score_without == pytest.approx(scores[one.name]["nDCG@10"].mean, abs=1e-12)
        assert hurt.judged_without == pytest.approx(scores[one.name]["Judged@10"].mean, abs=1e-12)
        assert hurt.score == {run.name: run.metrics["nDCG@10"].mean for run in full.runs}[one.name]
        means = sorted((metrics["nDCG@10"].mean for metrics in scores.values()), reverse=True)
        assert hurt.rank_without == 1 + means.index(scores[one.name]["nDCG@10"].mean)
        assert one.unique == len(whole) - len(rest)
        assert one.queries == 30


def test_a_group_is_left_out_as_one(world):
    truth, runs = world
    whole = labels_of(truth, runs)
    result = reuse(whole, runs, "AP", depth=DEPTH, together=["neural", "splade"])
    assert [group.name for group in result.groups] == ["neural + splade", "bm25"]
    both = result.groups[0]
    rest = labels_of(truth, [run for run in runs if run.name not in ("neural", "splade")])
    scores = {run.name: run.metrics["AP"].mean for run in evaluate(rest, runs, ["AP"]).runs}
    assert [one.score_without for one in both.runs] == pytest.approx([scores["neural"], scores["splade"]], abs=1e-12)
    assert both.unique == len(whole) - len(rest)
    # What only the two of them returned is unique to the group and to neither alone.
    assert both.unique > sum(one.unique for one in result.left_out if one.name in ("neural", "splade"))


def test_tau_by_hand():
    """d2 of q1 is relevant and was returned by `late` alone: without it, `late` falls from the first to the last."""
    qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 1, "d3": 0}, "q2": {"d1": 0, "d2": 1}})
    late = Run.from_dict({"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d2": 1.0}}, "late")
    first = Run.from_dict({"q1": {"d1": 2.0, "d3": 1.0}, "q2": {"d1": 1.0}}, "first")
    result = reuse(qrels, [late, first], "P@1", depth=1)
    by = {one.name: one for one in result.left_out}
    assert (by["late"].unique, by["late"].unique_relevant) == (2, 2)
    (hurt,) = by["late"].runs
    assert (hurt.score, hurt.score_without, hurt.rank, hurt.rank_without) == (1.0, 0.0, 1, 2)
    assert by["late"].tau == -1.0
    assert (by["late"].worst, by["late"].ranks_lost) == (-1.0, 1)


def test_a_query_that_loses_every_judgment_is_reported_and_left_out_of_both_means():
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"b": 1}})
    one = Run.from_dict({"q1": {"a": 1.0}, "q2": {"c": 1.0}}, "one")
    two = Run.from_dict({"q2": {"b": 1.0}}, "two")
    by = {left.name: left for left in reuse(qrels, [one, two], "P@1").left_out}
    assert by["one"].queries == 1
    assert (by["one"].runs[0].score, by["one"].runs[0].score_without) == (0.0, 0.0)


def test_labels_from_other_sources_stay():
    """A judged document that no contributor returned, and one that a run below the depth returned."""
    qrels = Qrels.from_dict({"q1": {"a": 1, "b": 1, "x": 1}})
    runs = [Run.from_dict({"q1": {"a": 2.0, "b": 1.0}}, "one"), Run.from_dict({"q1": {"c": 1.0}}, "two")]
    deep, shallow = (reuse(qrels, runs, "P@1", depth=depth).left_out[0] for depth in (2, 1))
    assert (deep.unique, shallow.unique) == (2, 1)


def test_a_lone_contributor_cannot_be_left_out():
    qrels = Qrels.from_dict({"q1": {"a": 1}})
    runs = [Run.from_dict({"q1": {"a": 1.0}}, "one"), Run.from_dict({"q1": {"a": 1.0}}, "two")]
    result = reuse(qrels, runs, "P@1", contributors=["one"])
    assert (result.left_out, result.reason) == ((), "only one run contributed, and without it there would be no pool")
    assert reuse(qrels, runs, "P@1", contributors=[]).reason == "no run is known to have contributed to the pool"
    with pytest.raises(NotValid, match="unknown run 'three'"):
        reuse(qrels, runs, "P@1", contributors=["three"])
    with pytest.raises(NotValid, match="all contributors"):
        reuse(qrels, runs, "P@1", together=["one", "two"])
    with pytest.raises(NotValid, match="one metric"):
        reuse(qrels, runs, "P@1 P@2")
    with pytest.raises(NotValid, match="did not contribute"):
        leave_out(qrels, runs, {"one": pooled(qrels, runs, 1).contributed[:, 0]}, [("two", ["two"])], "P@1")


def test_a_missing_depth_is_derived_from_the_labels():
    """Two deep in both runs all is judged; below, b stands third in `one`, which would not have brought it."""
    labels = {"a": 1, "b": 1, "x": 0}
    qrels = Qrels.from_dict({f"q{n}": labels for n in range(3)})
    first, second = {"a": 9.0, "x": 8.0, "b": 7.0, "y": 6.0}, {"b": 9.0, "a": 8.0, "z": 7.0}
    one = Run.from_dict(dict.fromkeys(qrels.query_ids, first), "one")
    two = Run.from_dict(dict.fromkeys(qrels.query_ids, second), "two")
    result = reuse(qrels, [one, two], "P@1")
    assert (result.depth, result.depth_told) == (2, False)
    assert [left.unique for left in result.left_out] == [3, 3]
    assert (reuse(qrels, [one, two], "P@1", depth=3).depth_told, result.curve.whole) == (True, 2)
    assert [left.unique for left in reuse(qrels, [one, two], "P@1", depth=3).left_out] == [3, 0]


def test_families_are_parts_of_the_whole():
    assert families(["bm25-v1", "bm25-v2"]) == {}
    assert families(["BM25.a", "bm25_b", "x"]) == {"bm25": ("BM25.a", "bm25_b")}
