"""The ``rerank`` action of ``assay zelo``: rank documents with a function, object or API that scores them."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import progress
from assay.cli.inputs.documents import texts
from assay.cli.inputs.files import STDIN, write_out
from assay.cli.options import provider
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.llm.providers.protocol import Endpoint, address

if TYPE_CHECKING:
    from assay.llm.providers.protocol import Endpoint
    from assay.llm.rerankers import Candidates, OnScores


GROUP = "assay.rerankers"
DONE, NOT_ALL = 0, 1
MAX_NOTES = 5


def rerank(args: argparse.Namespace) -> int:
    """Score the documents of every query and write a TREC run; failures are printed and scores are saved."""
    if (args.scorer is None) == (args.url is None):
        raise NotValid("use one reranker: --scorer MODULE:NAME or --url ADDRESS")
    if args.model and len(args.model) > 1:
        raise NotValid("--model appears more than once; run the command once for each model")
    queries = _candidates(args)
    scored = Scored(args.out, args.scorer or f"{args.url} {(args.model or [''])[0]}")
    scores_by_query = scored.known(queries, resume=bool(args.resume))
    failed: dict[str, str] = {}
    draw = progress(len(queries), "reranking")
    with scored.opened() as keep:

        def on_scores(one: Candidates, scores: list[float] | None, fault: str) -> None:
            if scores is None:
                failed[one.query_id] = fault
            else:
                scores_by_query[one.query_id] = scores
                keep(one, scores)
            draw(len(scores_by_query) + len(failed))

        reason = _ask(args, [one for one in queries if one.query_id not in scores_by_query], on_scores)
    left = len(queries) - len(scores_by_query)
    if not scores_by_query:
        # Nothing was scored, so there is nothing to resume.
        scored.done()
        raise NotValid(reason or next(iter(failed.values()), f"{args.source}: has no documents to score"))
    _write(args, queries, scores_by_query)
    scored_documents = sum(map(len, scores_by_query.values()))
    sys.stderr.write(
        f"{amount(scored_documents, 'document')} of {amount(len(scores_by_query), 'query', 'queries')} scored\n"
    )
    if not left:
        scored.done()
        return DONE
    for query_id, fault in list(failed.items())[:MAX_NOTES]:
        sys.stderr.write(f"note: {query_id}: {fault}\n")
    saved = f"scores are saved in {scored.path}: " if scored.path is not None else ""
    why = f": {reason}" if reason else ""
    sys.stderr.write(
        f"{amount(left, 'query', 'queries')} not scored{why}; {saved}run the same command with --resume to continue\n"
    )
    return NOT_ALL


def _candidates(args: argparse.Namespace) -> list[Candidates]:
    from assay.formats.writer import refuse_ids
    from assay.llm.rerankers import Candidates

    if args.most is not None and args.most < 1:
        raise NotValid(f"--most is {args.most}; use 1 or more")
    queries: dict[str, list[Any]] = {}
    for row in texts(args.source):
        queries.setdefault(row.query_id, []).append(row)
    # Check before any paid call that the run can contain the ids.
    refuse_ids("trec-run", (text for rows in queries.values() for row in rows for text in (row.query_id, row.doc_id)))
    taken = {query_id: rows[: args.most] for query_id, rows in queries.items()}
    return [
        Candidates(query_id, rows[0].query, tuple(row.doc_id for row in rows), tuple(row.text for row in rows))
        for query_id, rows in taken.items()
    ]


def _ask(args: argparse.Namespace, queries: Sequence[Candidates], on_scores: OnScores) -> str:
    """Score the candidates; return the reason for an early end, empty if all were scored."""
    if args.scorer is not None:
        from assay.llm.rerankers import score_all, scorer

        score_all(scorer(_named(args.scorer)), queries, on_scores, concurrency=args.concurrency)
        return ""
    from assay.llm.rerankers import score_by_address

    limits = provider.limits(args)
    ended = score_by_address(_endpoint(args), queries, on_scores, limits=limits)
    # The query string of the address may contain a secret.
    return f"{address(args.url).partition('?')[0]}: {ended.message}" if ended.message else ""


def _endpoint(args: argparse.Namespace) -> Endpoint:
    from urllib.parse import urlsplit

    from assay.llm.rerankers import RERANK

    if urlsplit(args.url).scheme not in ("http", "https") or not urlsplit(args.url).netloc:
        raise NotValid(f"--url is {args.url!r}; use an address such as https://api.zeroentropy.dev/v1/models/rerank")
    key = provider.named_key(args.key_variable)
    return Endpoint(RERANK, (args.model or [""])[0], args.url, key)


def _write(
    args: argparse.Namespace, queries: Sequence[Candidates], scores_by_query: Mapping[str, Sequence[float]]
) -> None:
    from assay.formats import FORMATS
    from assay.formats.row_types import RunRow

    rows = [
        RunRow(one.query_id, doc_id, score)
        for one in queries
        if one.query_id in scores_by_query
        for doc_id, score in zip(one.doc_ids, scores_by_query[one.query_id], strict=True)
    ]
    stream, write = io.BytesIO(), FORMATS["trec-run"].write
    assert write is not None  # noqa: S101 (for mypy)
    written = write(rows, stream, tag=args.name or "rerank")
    write_out(stream.getvalue().decode(), args.out)
    for note in written.notes[:MAX_NOTES]:
        sys.stderr.write(f"note: {note}\n")


def _named(name: str) -> Any:
    """Load ``MODULE:NAME``, or an entry point of the group ``assay.rerankers``."""
    if ":" not in name:
        from importlib.metadata import entry_points

        points = {point.name: point for point in entry_points(group=GROUP)}
        if name not in points:
            raise NotValid(f"unknown reranker {name!r}; use MODULE:NAME, or one of {', '.join(points) or 'none'}")
        return points[name].load()
    module, _, attribute = name.partition(":")
    sys.path.insert(0, "")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as fault:
        raise NotValid(f"--scorer {name}: {fault}") from None
    finally:
        sys.path.remove("")


class Scored:
    """A JSONL file next to the run, which exists until all queries are scored."""

    def __init__(self, out: str | None, who: str) -> None:
        path = None if out in (None, STDIN) else Path(str(out))
        self.path = None if path is None else path.with_name(f"{path.name}.scored.jsonl")
        self._who = who

    def known(self, queries: Sequence[Candidates], *, resume: bool) -> dict[str, list[float]]:
        """Return the saved scores by query; an incomplete last line is ignored."""
        if self.path is None:
            if resume:
                raise NotValid("--resume needs --out FILE with the run to complete")
            return {}
        if not self.path.exists():
            return {}
        if not resume:
            what = f"{self.path}: has the scores of an interrupted run"
            raise NotValid(f"{what}; use --resume to continue it, or remove the file to start again")
        lines = self.path.read_bytes().split(b"\n")[:-1]
        self.path.write_bytes(b"".join(line + b"\n" for line in lines))
        try:
            stored = {str(line["key"]): list(map(float, line["scores"])) for line in map(json.loads, lines)}
        except (KeyError, TypeError, ValueError):
            raise NotValid(f"{self.path}: is not a score file; remove it to start again") from None
        keys = {one.query_id: self._key(one) for one in queries}
        if stored and not stored.keys() & set(keys.values()):
            what = f"{self.path}: has scores of another reranker or other documents"
            raise NotValid(f"{what}; run the same command as before, or remove the file to start again")
        return {query_id: stored[key] for query_id, key in keys.items() if key in stored}

    @contextmanager
    def opened(self) -> Iterator[Callable[[Candidates, list[float]], None]]:
        """Yield a function that writes and flushes the scores of one query."""
        if self.path is None:
            yield lambda one, scores: None
            return
        with self.path.open("ab") as stream:

            def keep(one: Candidates, scores: list[float]) -> None:
                record = {"query_id": one.query_id, "key": self._key(one), "scores": scores}
                stream.write(json.dumps(record).encode() + b"\n")
                stream.flush()

            yield keep

    def done(self) -> None:
        """Remove the file, once the run is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _key(self, one: Candidates) -> str:
        identity = [self._who, one.query_id, one.query, one.doc_ids, one.texts]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()
