"""Time of one tiny query through the Python interface, repeated in one process.

    python benchmarks/side_by_side/tiny.py {assay,pytrec_eval} [ROUNDS]

A query has 100 documents, 30 of them judged. The labels are prepared once, which both sides allow; each repetition
passes another run as plain dictionaries. Prints JSON: seconds per repetition, and the means over the runs as a check.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable

RUNS = 50
METRICS = ("nDCG@10", "AP", "RR@10", "R@100", "R@1000", "P@10")
Ranked = dict[str, dict[str, float]]


def data() -> tuple[dict[str, dict[str, int]], list[Ranked]]:
    """One query's labels and fifty runs; scores of two decimals tie."""
    draw = random.Random(8_140_227)
    documents = [f"page-{draw.getrandbits(100):025x}" for _ in range(200)]
    qrels = {"q1": {document: draw.choice((0, 0, 0, 1, 1, 2, 3)) for document in draw.sample(documents, 60)}}
    unjudged = [document for document in documents if document not in qrels["q1"]]
    runs = []
    for _ in range(RUNS):
        returned = draw.sample(sorted(qrels["q1"]), 30) + draw.sample(unjudged, 70)
        runs.append({"q1": {document: round(draw.uniform(5, 25), 2) for document in returned}})
    return qrels, runs


def assay(qrels: dict[str, dict[str, int]]) -> Callable[[Ranked], dict[str, float]]:
    """Prepare ours."""
    from assay.core.qrels import Qrels
    from assay.core.run import Run
    from assay.metrics.metric import parse_metrics
    from evaluation import evaluate

    judged, metrics = Qrels.from_dict(qrels), parse_metrics(METRICS)

    def score(run: Ranked) -> dict[str, float]:
        result = evaluate(judged, Run.from_dict(run), metrics, ranges=False)
        return {name: float(values[0]) for name, values in result.runs[0].per_query.items()}

    return score


def pytrec_eval(qrels: dict[str, dict[str, int]]) -> Callable[[Ranked], dict[str, float]]:
    """Prepare the peer."""
    import pytrec_eval

    names = {"ndcg_cut.10", "map", "recip_rank", "recall.100,1000", "P.10"}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, names)

    def score(run: Ranked) -> dict[str, float]:
        query_values = evaluator.evaluate(run)["q1"]
        first = query_values["recip_rank"]
        values = (
            query_values["ndcg_cut_10"],
            query_values["map"],
            first if first >= 1 / 10 else 0.0,
            query_values["recall_100"],
        )
        return dict(zip(METRICS, (*values, query_values["recall_1000"], query_values["P_10"]), strict=True))

    return score


SIDES = {"assay": assay, "pytrec_eval": pytrec_eval}


def main(side: str, rounds: int) -> None:
    """Warm up on every run, which also gives the check; then count the seconds."""
    qrels, runs = data()
    score = SIDES[side](qrels)
    scores = [score(run) for run in runs]
    began = time.perf_counter()
    for at in range(rounds):
        score(runs[at % RUNS])
    seconds = (time.perf_counter() - began) / rounds
    means = {metric: sum(values[metric] for values in scores) / RUNS for metric in METRICS}
    print(json.dumps({"seconds": seconds, "means": means}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
