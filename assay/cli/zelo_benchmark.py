"""How near does a reranker come to the scores that are taken for the truth, by zbench's own figures?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from assay.cli.files import write_out
from assay.cli.text_table import number, text_table
from assay.cli.zelo_scores import by_query, others
from judgments.core.errors import NotValid

BINS = 10
BAR = 40


def benchmark(args: argparse.Namespace) -> int:
    """Hold scores or a run against scores, query by query."""
    from judgments.preferences.against_truth import histogram

    (other,) = others(args, 1, "the scores to be held against the truth")
    truth, mine = by_query(args.source), by_query(other)
    rows = [_query(query_id, truth[query_id], mine[query_id], args) for query_id in truth if query_id in mine]
    if not rows:
        raise NotValid(f"{other}: has no query of {args.source}")
    means = {name: _mean(rows, name) for name in ("ndcg", "accuracy", f"recall@{args.k}")}
    spread = histogram([row["ndcg"] for row in rows if row["ndcg"] is not None], BINS)
    if args.format == "json":
        whole = {"means": means, "histogram": spread, "queries": rows}
        write_out(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", args.out)
    else:
        write_out(_table(means, spread, len(rows)), args.out)
    if left := len(truth) - len(rows):
        sys.stderr.write(f"note: {left} queries of {args.source} are not in {other}\n")
    return 0


def _query(
    query_id: str, right: Mapping[str, float], given: Mapping[str, float], args: argparse.Namespace
) -> dict[str, Any]:
    from judgments.preferences.against_truth import accuracy, ndcg, recall

    docs = [doc for doc in right if doc in given][: args.most]
    a, b = [right[doc] for doc in docs], [given[doc] for doc in docs]
    figures = {"ndcg": ndcg(a, b), "accuracy": accuracy(a, b), f"recall@{args.k}": recall(a, b, args.k, args.k_truth)}
    return {"query_id": query_id, "documents": len(docs), **figures}


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    known = [row[name] for row in rows if row[name] is not None]
    return fmean(known) if known else None


def _table(means: Mapping[str, float | None], spread: Sequence[tuple[float, float, int]], queries: int) -> str:
    table = text_table(
        ["metric", "mean", "queries"], [[name, number(one), str(queries)] for name, one in means.items()]
    )
    most = max(count for _, _, count in spread) or 1
    bars = [
        f"{low:.1f}-{high:.1f}  {count:>6}  {'#' * round(BAR * count / most)}".rstrip() for low, high, count in spread
    ]
    return f"{table}\nndcg of the queries\n" + "\n".join(bars) + "\n"
