"""Tests of the effect of a conflict: the difference between two evaluations."""

from __future__ import annotations

import random

import numpy as np
import pytest

from assay.core import Qrels, Run
from assay.effects import pair_effects
from assay.effects.pair_effects import Doubt, moves
from assay.metrics.metric import parse_metric
from assay.scoring.evaluate import evaluate
from tests.assay.effects.test_raters import labels, world


def mean(made: dict, run: Run, metric: str) -> float:
    qrels = Qrels.from_rows((*key, grade) for key, grade in made.items())
    return evaluate(qrels, [run], [metric], level=None, scale_top=3).runs[0].metrics[metric].mean


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["nDCG@5", "AP(rel=2)", "RR@10", "Bpref", "INST(T=3)"])
def test_every_move_is_the_difference_of_two_evaluations(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_effects, "BLOCK", 40)  # several blocks
    rows, runs = world(5)
    made = labels(rows, "median", {})
    chance = random.Random(1)
    doubts = [Doubt(key, *sorted(chance.sample(range(4), 2))) for key in chance.sample(sorted(made), 20)]
    unlabelled = Doubt(("q0", "d77"), 0, 3)
    result = moves(made, [*doubts, unlabelled], runs, parse_metric(metric).on_scale(3))
    assert result.shape == (len(runs), 21)
    for at, run in enumerate(runs):
        for place, doubt in enumerate([*doubts, unlabelled]):
            base = {unlabelled.key: 0.0, **made}
            low, high = (mean(base | {doubt.key: grade}, run, metric) for grade in (doubt.low, doubt.high))
            assert result[at, place] == pytest.approx(high - low, abs=1e-12)


def test_without_a_conflict_there_is_nothing() -> None:
    assert moves({("q", "a"): 1.0}, [], [Run.from_dict({"q": {"a": 1.0}}, "x")], parse_metric("P@1")).shape == (1, 0)
    assert np.isfinite(moves({}, [Doubt(("q", "a"), 0, 1)], [], parse_metric("P@1"))).all()
