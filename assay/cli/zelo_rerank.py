"""In which order does a reranker put the documents of each query? Any function, or any address that scores."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from assay.cli import provider_options
from assay.cli.files import write_out
from assay.cli.zelo_documents import texts
from judgments.core.errors import NotValid

GROUP = "assay.rerankers"
Scorer = Callable[[str, Sequence[str]], Sequence[float]]


def rerank(args: argparse.Namespace) -> int:
    """Score every query's documents and write a TREC run.

    Raises
    ------
    NotValid
        No reranker, or one that does not answer with a number for each document.
    """
    if (args.scorer is None) == (args.url is None):
        raise NotValid("name a reranker: --scorer MODULE:FUNCTION, or --url ADDRESS")
    scorer = _function(args.scorer) if args.scorer is not None else _address(args)
    queries: dict[str, list[Any]] = {}
    for row in texts(args.source):
        queries.setdefault(row.query_id, []).append(row)
    lines: list[str] = []
    name = args.name or "rerank"
    for query_id, rows in queries.items():
        taken = rows[: args.most]
        scores = _checked(query_id, scorer(taken[0].query, [row.text for row in taken]), len(taken))
        order = sorted(range(len(taken)), key=lambda at: -scores[at])
        lines += [
            f"{query_id} Q0 {taken[at].doc_id} {rank} {scores[at]!r} {name}\n" for rank, at in enumerate(order, 1)
        ]
    write_out("".join(lines), args.out)
    sys.stderr.write(f"{len(lines):,} documents of {len(queries):,} queries\n")
    return 0


def _checked(query_id: str, scores: Sequence[float], number: int) -> list[float]:
    try:
        found = [float(score) for score in scores]
    except (TypeError, ValueError):
        found = []
    if len(found) != number or any(score != score or abs(score) == float("inf") for score in found):
        raise NotValid(f"the reranker gave {query_id} no finite number for each of its {number} documents")
    return found


def _function(name: str) -> Scorer:
    """``MODULE:FUNCTION``, or the name of an entry point: ``function(query, documents)`` answers a score for each."""
    if ":" not in name:
        from importlib.metadata import entry_points

        points = {point.name: point for point in entry_points(group=GROUP)}
        if name not in points:
            raise NotValid(
                f"there is no reranker {name!r}; write MODULE:FUNCTION, or one of {', '.join(points) or 'none'}"
            )
        return points[name].load()  # type: ignore[no-any-return]
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), attribute)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, ValueError) as fault:
        raise NotValid(f"--scorer {name}: {fault}") from None
    finally:
        sys.path.remove("")


def _address(args: argparse.Namespace) -> Scorer:
    """An address that takes model, query and documents, and answers ``results`` with index and relevance_score."""
    import httpx

    key = provider_options.named_key(args.key_variable)
    model = (args.model or [None])[0]
    client = httpx.Client(timeout=args.timeout or 60.0, headers={"Authorization": f"Bearer {key}"} if key else {})

    def score(query: str, documents: Sequence[str]) -> list[float]:
        body = {"query": query, "documents": list(documents), **({"model": model} if model else {})}
        try:
            reply = client.post(args.url, json=body)
        except httpx.HTTPError as fault:
            raise NotValid(f"{args.url}: no answer ({type(fault).__name__})") from None
        if reply.status_code != 200:
            raise NotValid(f"{args.url}: status {reply.status_code}; check address, model and key")
        try:
            found = {int(one["index"]): float(one["relevance_score"]) for one in reply.json()["results"]}
        except (ValueError, KeyError, TypeError):
            raise NotValid(f"{args.url}: expected results with index and relevance_score") from None
        return [found.get(place, float("nan")) for place in range(len(documents))]

    return score
