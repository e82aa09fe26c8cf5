"""The ``benchmark`` action of ``assay zelo``: compare a reranker with reference scores, by zbench's metrics."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from assay.cli import number, text_table
from assay.cli.inputs.documents import documents, format_of
from assay.cli.inputs.files import write_out
from assay.cli.zelo.grades import by_query, others
from assay.core.errors import NotValid
from assay.core.text_rules import agree, amount

BINS = 10
BAR = 40
Bins = Sequence[tuple[float, float, int]]


def benchmark(args: argparse.Namespace) -> int:
    """Compare scores or a run with reference scores, query by query."""
    from assay.llm.pairwise.benchmark_scores import figures

    (other,) = others(args, 1, "scores to compare with the reference")
    truth, mine = _limited(args, by_query(args.source)), by_query(other)
    if not any(query_id in mine for query_id in truth):
        raise NotValid(f"{other}: contains no query of {args.source}; use scores of the same queries")
    rows = []
    for query_id, right in truth.items():
        scores = asdict(figures(right, mine.get(query_id, {}), args.k, args.k_truth))
        scores[f"recall@{args.k}"] = scores.pop("recall")
        rows.append({"query_id": query_id, **scores})
    means = {name: _mean(rows, name) for name in ("ndcg", "accuracy", f"recall@{args.k}")}
    spreads = _spreads(rows, truth, mine)
    if args.format == "json":
        whole = {
            "means": {name: mean for name, (mean, _) in means.items()},
            "histogram": spreads["nDCG by query"],
            "histograms": {"truth": spreads["reference scores"], "scores": spreads["compared scores"]},
            "queries": rows,
        }
        write_out(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", args.out)
    else:
        write_out(_table(means) + "".join(_bars(name, bins) for name, bins in spreads.items()), args.out)
    _print_summary(args, other, rows, mine)
    return 0


def _limited(args: argparse.Namespace, truth: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the reference scores of the first documents of each query, in their order before reranking."""
    if args.most is not None and args.most < 1:
        raise NotValid(f"--most is {args.most}; use 1 or more")
    if args.documents is not None:
        listed = documents(args.documents)
        for query_id, scores in truth.items():
            places = {doc: place for place, doc in enumerate(listed.get(query_id, ()))}
            if missing := next((doc for doc in scores if doc not in places), None):
                what = f"{args.documents}: has no document {missing!r} of {query_id}, which {args.source} scored"
                raise NotValid(f"{what}; name the file with all documents in their original order")
        return {
            query_id: {doc: truth[query_id][doc] for doc in listed[query_id][: args.most] if doc in truth[query_id]}
            for query_id in truth
        }
    if args.most is not None and (args.source == "-" or format_of(args.source) != "zbench-annotated"):
        what = f"--most {args.most} needs the order of documents before reranking, and {args.source} is sorted by score"
        raise NotValid(f"{what}; name a file with that order with --documents FILE")
    return {query_id: dict(list(scores.items())[: args.most]) for query_id, scores in truth.items()}


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[float | None, int]:
    known = [row[name] for row in rows if row[name] is not None]
    return (fmean(known) if known else None), len(known)


def _spreads(
    rows: Sequence[Mapping[str, Any]], truth: Mapping[str, Mapping[str, float]], mine: Mapping[str, Mapping[str, float]]
) -> dict[str, Bins]:
    from assay.llm.pairwise.benchmark_scores import histogram

    right = [score for scores in truth.values() for score in scores.values()]
    given = [
        mine[query_id][doc]
        for query_id in truth
        if query_id in mine
        for doc in truth[query_id]
        if doc in mine[query_id]
    ]
    return {
        "nDCG by query": histogram([row["ndcg"] for row in rows if row["ndcg"] is not None], BINS),
        "reference scores": histogram(right, BINS, None, None),
        "compared scores": histogram(given, BINS, None, None),
    }


def _table(means: Mapping[str, tuple[float | None, int]]) -> str:
    return text_table(
        ["metric", "mean", "queries"], [[name, number(one), str(times)] for name, (one, times) in means.items()]
    )


def _bars(name: str, spread: Bins) -> str:
    if not spread:
        return f"\n{name}\nnone\n"
    most = max(count for _, _, count in spread) or 1
    # Enough decimals for the ends of a bin to differ by at least ten units of the last one.
    digits = max(1, 1 - math.floor(math.log10(spread[0][1] - spread[0][0])))
    wide = max(len(f"{end:.{digits}f}") for low, high, _ in spread for end in (low, high))
    bars = [
        f"{low:>{wide}.{digits}f} to {high:>{wide}.{digits}f}  {count:>6}  {'#' * round(BAR * count / most)}".rstrip()
        for low, high, count in spread
    ]
    return f"\n{name}\n" + "".join(f"{bar}\n" for bar in bars)


def _print_summary(
    args: argparse.Namespace, other: str, rows: Sequence[Mapping[str, Any]], mine: Mapping[str, Mapping[str, float]]
) -> None:
    left = sum(row["query_id"] not in mine for row in rows)
    omitted = sum(row["omitted"] for row in rows if row["query_id"] in mine)
    if left:
        sys.stderr.write(
            f"note: counted as 0, because not in {other}: {amount(left, 'query', 'queries')} of {args.source}\n"
        )
    if omitted:
        what = amount(omitted, "document has", "documents have")
        sys.stderr.write(
            f"note: {what} no score in {other} and {agree(omitted, 'ranks', 'rank')} below all scored documents\n"
        )
    if unknown := sum(row["unknown"] for row in rows) if args.most is None else 0:
        what = amount(unknown, "document of", "documents of")
        sys.stderr.write(
            f"note: {what} {other} {'has' if unknown == 1 else 'have'} no reference score and "
            f"{'was' if unknown == 1 else 'were'} left out\n"
        )
