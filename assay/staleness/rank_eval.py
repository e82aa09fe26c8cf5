"""Reader of Elasticsearch's ``_rank_eval`` responses and the unrated documents in them.

OpenSearch responds in the same format. ``details`` contains the ``hits`` and ``unrated_docs`` of each query;
``failures`` contains the failed queries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UnreadableInput
from assay.core.text_rules import id_fault
from assay.staleness.signal import RunHoles
from assay.staleness.unjudged_documents import Judged, count_holes

NAME = "_rank_eval"
EXPECTED = 'expected a _rank_eval response: {"details": {"q1": {"unrated_docs": [...], "hits": [...]}}, ...}'


@dataclass(frozen=True)
class RankEval:
    """The engine's results for each query in order, and its unrated documents. ``failed`` contains the queries that
    it could not answer.
    """

    hits: Mapping[str, tuple[str, ...]]
    unrated: Mapping[str, tuple[str, ...]]
    failed: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the parts of the response that are stored."""
        details = {
            query_id: {"unrated_docs": [{"_id": one} for one in self.unrated[query_id]], "hits": _hits(hits)}
            for query_id, hits in self.hits.items()
        }
        return {"details": details, "failures": {query_id: {} for query_id in self.failed}}

    def pairs(self) -> list[tuple[str, str]]:
        """Return the unrated pairs in the order of the response."""
        return [(query_id, doc_id) for query_id, doc_ids in self.unrated.items() for doc_id in doc_ids]


def _hits(hits: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"hit": {"_id": one}} for one in hits]


def read(content: bytes | str, path: str = "-") -> RankEval:
    """Read a response."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(path, None, f"is not JSON: {error}", EXPECTED) from error
    return of(body, path)


def of(body: Any, path: str = "-") -> RankEval:
    """Return the response from parsed JSON."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict) and "details" not in body:
        reason = body["error"].get("reason") or body["error"].get("type") or "no reason given"
        raise UnreadableInput(path, None, f"the engine returned an error: {reason}", "fix the request")
    details = body.get("details") if isinstance(body, dict) else None
    if not isinstance(details, dict):
        raise UnreadableInput(path, None, "has no `details` by query", EXPECTED)
    failures = body.get("failures") or {}
    failed = tuple(failures) if isinstance(failures, dict) else ()
    for query_id in (*details, *failed):
        _checked(query_id, "the id of a query", path)
    by_query = {query_id: _query(one, f"details.{query_id}", path) for query_id, one in details.items()}
    return RankEval(
        hits={query_id: hits for query_id, (hits, _) in by_query.items()},
        unrated={query_id: unrated for query_id, (_, unrated) in by_query.items()},
        failed=failed,
    )


def _query(entry: Any, place: str, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("unrated_docs"), list):
        raise UnreadableInput(path, None, f"{place} has no list `unrated_docs`", EXPECTED)
    if not isinstance(entry.get("hits"), list):
        raise UnreadableInput(path, None, f"{place} has no list `hits`", "the unjudged share needs this list")
    unrated = tuple(_id(one, f"{place}.unrated_docs", path) for one in entry["unrated_docs"])
    hits = (one.get("hit") if isinstance(one, dict) else None for one in entry["hits"])
    return tuple(_id(one, f"{place}.hits", path) for one in hits), unrated


def _id(hit: Any, place: str, path: str) -> str:
    doc_id = hit.get("_id") if isinstance(hit, dict) else None
    if not isinstance(doc_id, str) or not doc_id:
        raise UnreadableInput(path, None, f"an entry of {place} has no `_id`", EXPECTED)
    return _checked(doc_id, f"an _id of {place}", path)


def _checked(text: str, what: str, path: str) -> str:
    fault = id_fault(text)
    if fault:
        raise UnreadableInput(path, None, f"{what} {fault[1]}", "use the ids of the collection and its runs")
    return text


def holes_of(reply: RankEval, judged: Judged, name: str = NAME, sha256: str = "") -> RunHoles:
    """Count the response as a run. Documents that the engine calls unrated but that have labels are not unjudged."""
    rankings = (
        (query_id, [*hits, *(one for one in reply.unrated[query_id] if one not in hits)])
        for query_id, hits in reply.hits.items()
    )
    return count_holes(judged, rankings, name, sha256, depth=max(map(len, reply.hits.values()), default=1) or 1)
