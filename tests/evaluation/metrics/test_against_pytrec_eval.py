"""Is every metric equal to trec_eval's, query by query, on runs full of ties, holes and odd grades?"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
import pytrec_eval

from evaluation import evaluate
from evaluation.metrics.names import parse_metrics
from judgments.core import Qrels, Run

NAMES = (
    "nDCG nDCG@1,5,10,100 RR AP AP@5,100 P@1,5,10,30 R@1,5,100 Success@1,5,10 Rprec "
    "AP(rel=2) P(rel=2)@10 R(rel=3)@5 Rprec(rel=2) RR(rel=2) Success(rel=2)@5"
)
Table = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def generated(seed: int, queries: int = 30) -> tuple[Table, Scores]:
    """Few distinct scores (ties), some queries unanswered, negative grades, ids of every kind."""
    draw = random.Random(seed)
    pool = [f"d{n}" for n in range(60)] + ["Z", "a", "9", "10", "é", "ß", "日本"]
    qrels = {
        f"q{n}": {doc: draw.choice([-2, -1, 0, 0, 0, 1, 1, 2, 3]) for doc in draw.sample(pool, draw.randint(1, 40))}
        for n in range(queries)
    }
    for judged in qrels.values():
        judged["d0"] = max(judged.get("d0", 0), 0)
    run = {
        f"q{n}": {doc: draw.randint(-8, 8) / 4 for doc in draw.sample(pool, draw.randint(1, len(pool)))}
        for n in range(2, queries + 3)
    }
    return qrels, run


def theirs(qrels: Table, run: Scores, name: str) -> dict[str, float]:
    (metric,) = parse_metrics(name)
    level = int(metric.parameters.get("rel", 1))
    plain = parse_metrics(re.sub(r"\(.*\)", "", name))[0].trec_name
    asked = ".".join(plain.rsplit("_", 1)) if metric.cutoff else plain
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {asked}, relevance_level=level)
    return {query_id: values[plain] for query_id, values in evaluator.evaluate(run).items()}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", [metric.name for metric in parse_metrics(NAMES)])
def test_every_query_equals_pytrec_eval(name: str, seed: int) -> None:
    qrels, run = generated(seed)
    result = evaluate(Qrels.from_dict(qrels), Run.from_dict(run, "run"), name)
    expected = theirs(qrels, run, name)
    ours = result.runs[0].per_query[name]
    wanted = [expected.get(query_id, 0.0) for query_id in result.query_ids]
    assert ours == pytest.approx(wanted, abs=1e-12)
    assert result.runs[0].metrics[name].mean == pytest.approx(np.mean(wanted), abs=1e-12)


def test_the_control_would_show_a_difference() -> None:
    qrels, run = generated(0)
    other = {query_id: dict.fromkeys(docs, 0.0) for query_id, docs in run.items()}
    result = evaluate(Qrels.from_dict(qrels), Run.from_dict(other, "run"), "nDCG@10")
    expected = theirs(qrels, run, "nDCG@10")
    assert result.runs[0].metrics["nDCG@10"].mean != pytest.approx(sum(expected.values()) / len(qrels), abs=1e-6)
