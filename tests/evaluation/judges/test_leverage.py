"""Tests of routing pairs that decide a score to people, without revealing the reason."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.qrels import Qrels
from assay.scoring.evaluate import evaluate
from judgments.machines.calibration import calibration, routing
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall
from pooling.runs import runs as stored_runs
from tests.world import World

pytestmark = pytest.mark.django_db


def test_doubtful_pairs_come_first_then_those_that_decide_a_score(world: World) -> None:
    round_ = world.closed
    judges = [Judge.objects.create(collection=world.collection, name=name, kind="graded") for name in ("a", "b")]
    pairs = list(round_.pairs.select_related("query", "document").order_by("position"))
    failed, apart = pairs[0], pairs[1]
    for judge in judges:
        for pair in pairs:
            word: dict[str, Any] = {"outcome": "graded", "grade": 1}
            if pair == failed:
                word = {"outcome": "refused"}
            elif pair == apart and judge.name == "b":
                word = {"outcome": "graded", "grade": 3}
            MachineJudgment.objects.create(judge=judge, pair=pair, **word)
    result = routing.routed(round_)
    assert [(one.pair, one.reason) for one in result[:2]] == [(failed, "failed"), (apart, "apart")]
    (heavy,) = [one for one in result if one.reason == "leverage"]
    # What the metric itself says of each pair beyond doubt, with a grade a step lower and a step higher.
    weights = {pair: _moved(world, pair) for pair in pairs[2:]}
    assert heavy.leverage == pytest.approx(max(weights.values()))
    assert weights[heavy.pair] == pytest.approx(max(weights.values()))
    assert heavy.leverage > 0


def test_a_flip_sends_a_pair_to_people_and_the_slice_comes_before_all(world: World) -> None:
    round_ = world.closed
    judge = Judge.objects.create(collection=world.collection, name="a", kind="graded")
    run = JudgeRun.objects.create(round=round_, judge=judge, cap_calls=10, audit_share=0.0, seed=1)
    pairs = list(round_.pairs.select_related("query", "document").order_by("position"))
    for pair in pairs:
        MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", grade=0)
    ModelCall.objects.create(
        run=run, judge=judge, pair=pairs[2], purpose="canary", trap="instruction", key="k", prompt_sha256="",
        requested_model="m", outcome="graded", grade=3,
    )  # fmt: skip
    assert next((one.pair, one.reason) for one in routing.routed(round_)) == (pairs[2], "flipped")
    JudgeRun.objects.filter(pk=run.pk).update(audit_share=1.0)
    assert {one.reason for one in routing.routed(round_)} == {"audit"}


def _moved(world: World, pair: Any) -> float:
    """How far nDCG@10 of either run goes, by scoring the run twice."""
    query_id, doc_id = pair.query.query_id, pair.document.doc_id
    labels = calibration.labels_of(world.closed)
    means = []
    for grade in (0, 2):
        nested: dict[str, dict[str, float]] = {}
        for (query, document), value in {**labels, (query_id, doc_id): grade}.items():
            nested.setdefault(query, {})[document] = value
        evaluation = evaluate(
            Qrels.from_dict(nested), [stored_runs.ranked(run) for run in world.runs], ["nDCG@10"], ranges=False
        )
        means.append([float(run.per_query["nDCG@10"].mean()) for run in evaluation.runs])
    return max(abs(high - low) for low, high in zip(*means, strict=True))
