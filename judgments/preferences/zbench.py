"""How are zbench's files read and written: data sets, annotated data sets, and scores of pairs?

A data set has one query with its documents a line, an annotated one a score for each document: natural logarithms,
comparable only within a query, and no grade.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgments.core.errors import NotValid
from judgments.formats.battles_jsonl import Battle

MODELS = ("openai", "gemini", "anthropic")
SWAPPED = "(SWAPPED)"


@dataclass(frozen=True)
class ScoredQuery:
    """A query with its documents in the order of the file.

    Parameters
    ----------
    query_id, query : str
        The query.
    doc_ids, texts : tuple of str
        Its documents.
    scores : tuple of float, or None
        Of an annotated file.
    """

    query_id: str
    query: str
    doc_ids: tuple[str, ...]
    texts: tuple[str, ...]
    scores: tuple[float, ...] | None = None


def looks_like(head: bytes) -> bool:
    """Whether a file begins as a data set does.

    Examples
    --------
    >>> looks_like(b'{"query": {"id": "q1", "query": "tent"}, "documents": []}'), looks_like(b'{"query_id": "q1"}')
    (True, False)
    """
    line = head.lstrip().split(b"\n", 1)[0]
    return line.startswith(b"{") and b'"documents"' in head and b'"query"' in line and b'"query_id"' not in line[:40]


def read(path: str) -> list[ScoredQuery]:
    """Read a data set, annotated or not.

    Raises
    ------
    NotValid
        With the line: no query or document id, a document twice, a score that is no number, scores in part, or a query
        that stands twice.
    """
    found: dict[str, ScoredQuery] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            one = _query(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as fault:
            said = f" ({fault})" if isinstance(fault, NotValid) else ""
            what = f"{path}:{number}: is no line of a zbench data set{said}"
            raise NotValid(f"{what}; expected query.id, query.query, documents[].id and .content") from None
        if one.query_id in found:
            raise NotValid(f"{path}:{number}: the query {one.query_id!r} stands there twice")
        found[one.query_id] = one
    if len({one.scores is None for one in found.values()}) > 1:
        raise NotValid(f"{path}: some queries have scores and some have none")
    return list(found.values())


def _query(told: Mapping[str, Any]) -> ScoredQuery:
    query, documents = told["query"], told["documents"]
    ids = tuple(one["id"] for one in documents)
    texts = tuple(one["content"] for one in documents)
    for text in (query["id"], query["query"], *ids, *texts):
        if not isinstance(text, str):
            raise NotValid(f"{text!r} is not text")
    if len(set(ids)) < len(ids):
        raise NotValid("a document stands there twice")
    scored = [one["score"] for one in documents if one.get("score") is not None]
    if scored and len(scored) < len(ids):
        raise NotValid("some documents have a score and some have none")
    if any(isinstance(one, bool) or not isinstance(one, int | float) or not math.isfinite(one) for one in scored):
        raise NotValid("a score is not a finite number")
    return ScoredQuery(query["id"], query["query"], ids, texts, tuple(map(float, scored)) if scored else None)


def annotate(path: str, scores: Mapping[tuple[str, str], float]) -> Iterator[str]:
    """Yield the lines of a data set with a score for each document.

    Documents and fields stay as they are. A query of which no document has a score is left out, since zbench asks for
    all; a document that met nobody gets 0, the mean.
    """
    for line in Path(path).read_text(encoding="utf-8-sig").split("\n"):
        if not line.strip():
            continue
        told = json.loads(line)
        query_id = told["query"]["id"]
        if not any((query_id, one["id"]) in scores for one in told["documents"]):
            continue
        for one in told["documents"]:
            one["score"] = scores.get((query_id, one["id"]), 0.0)
        yield json.dumps(told, ensure_ascii=False) + "\n"


def battles(path: str) -> list[Battle]:
    """Read ``ai_scores.json``, the answers of zbench's three models.

    Returns
    -------
    list of Battle
        Three for each pair. A reason that begins with ``(SWAPPED)`` says that the second document was shown first; the
        score was turned round already. A score of 0 without a reason is a call that failed there: it has no score here.

    Raises
    ------
    NotValid
        It is no such file.
    """
    try:
        pairs = json.loads(Path(path).read_text(encoding="utf-8-sig"))["scored_pairs"]
        return [battle for one in pairs for battle in _of_pair(one)]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotValid(
            f"{path}: is none of zbench's ai_scores.json; expected scored_pairs[].pair and three scores"
        ) from None


def _of_pair(told: Mapping[str, Any]) -> Iterator[Battle]:
    pair = told["pair"]
    a, b = pair["document_a"]["document_id"], pair["document_b"]["document_id"]
    for model in MODELS:
        answer = told.get(f"{model}_score")
        if answer is None or a == b:
            continue
        thought, score = str(answer["thought"]), float(answer["score"])
        swapped = thought.startswith(SWAPPED)
        reason = thought.removeprefix(SWAPPED).strip()
        failed = score == 0 and not reason
        known = None if failed else max(-1.0, min(1.0, score))
        yield Battle(str(pair["query_id"]), str(a), str(b), known, model, swapped, reason)


def documents(found: Iterable[ScoredQuery], most: int | None = None) -> dict[str, Sequence[str]]:
    """The documents of each query, the first so many."""
    return {one.query_id: one.doc_ids[:most] for one in found}
