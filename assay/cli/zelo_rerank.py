"""The ``rerank`` act of ``assay zelo``: rank documents with any function, object or address that scores."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.cli import provider_options
from assay.cli.files import write_out
from assay.cli.progress import progress
from assay.cli.text_table import counted
from assay.cli.zelo_documents import texts
from assay.cli.zelo_scored import Scored
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.preferences.rerankers import Candidates, Told
    from judgments.providers.protocol import Endpoint

GROUP = "assay.rerankers"
DONE, NOT_ALL = 0, 1
MOST_TOLD = 5


def rerank(args: argparse.Namespace) -> int:
    """Score every query's documents and write a TREC run; what failed is told, and what was scored is kept.

    Raises
    ------
    NotValid
        No reranker, or one that scored nothing.
    """
    if (args.scorer is None) == (args.url is None):
        raise NotValid("name a reranker: --scorer MODULE:NAME, or --url ADDRESS")
    if args.model and len(args.model) > 1:
        raise NotValid("a reranker has one --model; rerank once for each")
    queries = _candidates(args)
    scored = Scored(args.out, args.scorer or f"{args.url} {(args.model or [''])[0]}")
    found = scored.known(queries, resume=bool(args.resume))
    failed: dict[str, str] = {}
    draw = progress(len(queries), "reranking")
    with scored.opened() as keep:

        def told(one: Candidates, scores: list[float] | None, fault: str) -> None:
            if scores is None:
                failed[one.query_id] = fault
            else:
                found[one.query_id] = scores
                keep(one, scores)
            draw(len(found) + len(failed))

        said = _ask(args, [one for one in queries if one.query_id not in found], told)
    left = len(queries) - len(found)
    if not found:
        # Nothing was scored: there is nothing to go on with.
        scored.done()
        raise NotValid(said or next(iter(failed.values()), f"{args.source}: has no documents to score"))
    _write(args, queries, found)
    sys.stderr.write(
        f"{counted(sum(map(len, found.values())), 'document')} of {counted(len(found), 'query', 'queries')}\n"
    )
    if not left:
        scored.done()
        return DONE
    for query_id, fault in list(failed.items())[:MOST_TOLD]:
        sys.stderr.write(f"note: {query_id}: {fault}\n")
    kept = f"what was scored is kept in {scored.path}: " if scored.path is not None else ""
    why = f": {said}" if said else ""
    sys.stderr.write(
        f"not scored: {counted(left, 'query', 'queries')}{why}; {kept}give the same command with --resume to go on\n"
    )
    return NOT_ALL


def _candidates(args: argparse.Namespace) -> list[Candidates]:
    from judgments.formats.writing import refuse_ids
    from judgments.preferences.rerankers import Candidates

    if args.most is not None and args.most < 1:
        raise NotValid(f"--most is {args.most}; give 1 document or more")
    queries: dict[str, list[Any]] = {}
    for row in texts(args.source):
        queries.setdefault(row.query_id, []).append(row)
    # Before anything is asked: what the run could not hold afterwards would have been paid for in vain.
    refuse_ids("trec-run", (text for rows in queries.values() for row in rows for text in (row.query_id, row.doc_id)))
    taken = {query_id: rows[: args.most] for query_id, rows in queries.items()}
    return [
        Candidates(query_id, rows[0].query, tuple(row.doc_id for row in rows), tuple(row.text for row in rows))
        for query_id, rows in taken.items()
    ]


def _ask(args: argparse.Namespace, queries: Sequence[Candidates], told: Told) -> str:
    """Have all of them scored; answer why not all were asked for, empty where they were."""
    if args.scorer is not None:
        from judgments.preferences.rerankers import score_all, scorer

        score_all(scorer(_named(args.scorer)), queries, told, concurrency=args.concurrency)
        return ""
    from judgments.providers.reranking import score_by_address

    limits = provider_options.limits(args)
    ended = score_by_address(_endpoint(args), queries, told, limits=limits)
    # What stands behind the address may be a secret.
    return f"{provider_options.address(args.url).partition('?')[0]}: {ended.said}" if ended.said else ""


def _endpoint(args: argparse.Namespace) -> Endpoint:
    from urllib.parse import urlsplit

    from judgments.providers.protocol import Endpoint
    from judgments.providers.reranking import RERANK

    if urlsplit(args.url).scheme not in ("http", "https") or not urlsplit(args.url).netloc:
        raise NotValid(f"--url is {args.url!r}; give an address such as https://api.zeroentropy.dev/v1/models/rerank")
    key = provider_options.named_key(args.key_variable)
    return Endpoint(RERANK, (args.model or [""])[0], args.url, key)


def _write(args: argparse.Namespace, queries: Sequence[Candidates], found: Mapping[str, Sequence[float]]) -> None:
    from judgments.formats import FORMATS
    from judgments.formats.rows import RunRow

    rows = [
        RunRow(one.query_id, doc_id, score)
        for one in queries
        if one.query_id in found
        for doc_id, score in zip(one.doc_ids, found[one.query_id], strict=True)
    ]
    stream, write = io.BytesIO(), FORMATS["trec-run"].write
    assert write is not None  # noqa: S101 (told to mypy)
    written = write(rows, stream, tag=args.name or "rerank")
    write_out(stream.getvalue().decode(), args.out)
    for note in written.notes[:MOST_TOLD]:
        sys.stderr.write(f"note: {note}\n")


def _named(name: str) -> Any:
    """What ``MODULE:NAME`` names, or an entry point of the group ``assay.rerankers``."""
    if ":" not in name:
        from importlib.metadata import entry_points

        points = {point.name: point for point in entry_points(group=GROUP)}
        if name not in points:
            raise NotValid(f"there is no reranker {name!r}; write MODULE:NAME, or one of {', '.join(points) or 'none'}")
        return points[name].load()
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as fault:
        raise NotValid(f"--scorer {name}: {fault}") from None
    finally:
        sys.path.remove("")
