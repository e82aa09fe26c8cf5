"""Scores of a peer tool for the same files: its own readers and metrics, in a fresh process.

    python benchmarks/side_by_side/peers.py PEER [--per-query] [--judged] [--file-order] QRELS RUN...

Prints JSON: for each run its name, its means and, with --per-query, the value of each query, under our metric names.
A peer may be installed in another Python, so this file imports nothing from Assay.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Values = dict[str, dict[str, float]]
PYTREC_EVAL = {"ndcg_cut_10": "nDCG@10", "map": "AP", "recall_100": "R@100", "recall_1000": "R@1000", "P_10": "P@10"}
RANX = {
    "ndcg@10": "nDCG@10",
    "map": "AP",
    "mrr@10": "RR@10",
    "recall@100": "R@100",
    "recall@1000": "R@1000",
    "precision@10": "P@10",
}
METRICS = ("nDCG@10", "AP", "RR@10", "R@100", "R@1000", "P@10", "Judged@10")


def pytrec_eval(qrels: str, runs: list[str], args: argparse.Namespace) -> Iterator[Values]:
    """Score with pytrec_eval: six of the seven metrics; the seventh, if asked, by its definition."""
    import pytrec_eval

    with open(qrels) as file:
        judged = pytrec_eval.parse_qrel(file)
    names = {"ndcg_cut.10", "map", "recip_rank", "recall.100,1000", "P.10"}
    # Once for all runs, and each run gone before the next is read: the least that it can take.
    evaluator = pytrec_eval.RelevanceEvaluator(judged, names)

    def scored(path: str) -> Values:
        with open(path) as file:
            run = pytrec_eval.parse_run(file)
        if args.file_order:
            run = {query: {document: -place for place, document in enumerate(of)} for query, of in run.items()}
        scores = evaluator.evaluate(run)
        values = {query: _from_pytrec_eval(scores.get(query)) for query in judged}
        if args.judged:
            for query, of_query in values.items():
                of_query["Judged@10"] = judged_share(judged[query], run.get(query, {}))
        return values

    return map(scored, runs)


def judged_share(grades: dict[str, int], returned: dict[str, float]) -> float:
    """Count the judged among the ten best: by score, then by id, both from the largest down."""
    top = heapq.nlargest(10, ((score, document) for document, score in returned.items()))
    return sum(document in grades for _, document in top) / len(top) if top else 0.0


def _from_pytrec_eval(scores: dict[str, float] | None) -> dict[str, float]:
    # A judged query that the run does not answer counts as 0, as trec_eval -c does.
    if scores is None:
        return dict.fromkeys([*PYTREC_EVAL.values(), "RR@10"], 0.0)
    values = {ours: scores[theirs] for theirs, ours in PYTREC_EVAL.items()}
    return {**values, "RR@10": scores["recip_rank"] if scores["recip_rank"] >= 1 / 10 else 0.0}


def ir_measures(qrels: str, runs: list[str], args: argparse.Namespace) -> Iterator[Values]:
    """Score with ir_measures: all seven, by the tie rules of its providers."""
    import ir_measures

    names = {ir_measures.parse_measure(name): name for name in METRICS}
    judged = list(ir_measures.read_trec_qrels(qrels))
    evaluator = ir_measures.evaluator(list(names), judged)
    for path in runs:
        values: Values = {}
        for one in evaluator.iter_calc(ir_measures.read_trec_run(path)):
            values.setdefault(one.query_id, {})[names[one.measure]] = one.value
        yield values


def ranx(qrels: str, runs: list[str], args: argparse.Namespace) -> Iterator[Values]:
    """Score with ranx: six of the seven; its sort leaves ties in any order."""
    from ranx import Qrels, Run, evaluate

    judged = Qrels.from_file(qrels, kind="trec")
    for path in runs:
        run = Run.from_file(path, kind="trec")
        evaluate(judged, run, list(RANX), make_comparable=True)
        yield {
            query: {ours: float(run.scores[theirs].get(query, 0.0)) for theirs, ours in RANX.items()}
            for query in judged.keys()  # noqa: SIM118 - its Qrels is no dictionary
        }


PEERS: dict[str, Callable[[str, list[str], argparse.Namespace], Iterator[Values]]] = {
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
}


def summary(name: str, values: Values, per_query: bool) -> dict[str, Any]:
    """Take the means of one run."""
    metrics = next(iter(values.values()), {})
    means = {metric: sum(of[metric] for of in values.values()) / len(values) for metric in metrics}
    return {"name": name, "means": means, **({"per_query": values} if per_query else {})}


def main() -> None:
    """Score each run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=sorted(PEERS))
    parser.add_argument("--per-query", action="store_true")
    parser.add_argument("--judged", action="store_true", help="add Judged@10, which pytrec_eval lacks")
    parser.add_argument("--file-order", action="store_true", help="the control: leave ties as they stand in the file")
    parser.add_argument("qrels")
    parser.add_argument("runs", nargs="+")
    args = parser.parse_args()
    scored = PEERS[args.peer](args.qrels, args.runs, args)
    summaries = [
        summary(Path(path).stem, values, args.per_query) for path, values in zip(args.runs, scored, strict=True)
    ]
    print(json.dumps(summaries))


if __name__ == "__main__":
    main()
