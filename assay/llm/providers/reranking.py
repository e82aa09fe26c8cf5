"""Client for rerankers with an HTTP API.

A request has ``model``, ``query`` and ``documents``; a response has ``results`` with ``index`` and
``relevance_score``, as with ZeroEntropy, Cohere, Jina and vLLM; Voyage calls the list ``data``. Calls work as for
models: several at once, within limits, with retries when the server is busy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.core.errors import NotValid
from assay.llm.model_reply import Reply
from assay.llm.providers.calls import Ended, ask
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import Endpoint, Protocol, Question, as_text
from assay.llm.rerankers import Candidates, OnScores, checked


def score_by_address(
    endpoint: Endpoint, queries: Sequence[Candidates], on_scores: OnScores, *, limits: Limits | None = None
) -> Ended:
    """Request the scores of each query's documents; the failure of one query does not affect the others."""
    of = {one.query_id: one for one in queries}

    def answered(question: Question, reply: Reply) -> None:
        one = of[question.key]
        if reply.fault:
            on_scores(one, None, reply.fault)
            return
        scores = dict(json.loads(reply.text))
        try:
            values = checked(one, [scores.get(place) for place in range(len(one.doc_ids))])
        except NotValid as fault:
            on_scores(one, None, str(fault))
        else:
            on_scores(one, values, "")

    return ask(endpoint, _questions(queries), answered, limits=limits)


def _questions(queries: Sequence[Candidates]) -> Iterator[Question]:
    for one in queries:
        content = json.dumps({"query": one.query, "documents": one.texts}, ensure_ascii=False)
        yield Question(one.query_id, "", content, most_tokens=0)


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _body(question: Question, model: str) -> dict[str, Any]:
    return {**({"model": model} if model else {}), **json.loads(question.prompt)}


def _read(body: Mapping[str, Any]) -> Reply:
    """Parse the scores by index; rows without an index are refused."""
    rows = body["results"] if "results" in body else body["data"]
    scores = {}
    for row in rows:
        place, score = row["index"], row["relevance_score"] if "relevance_score" in row else row["score"]
        if isinstance(place, bool) or not isinstance(place, int) or isinstance(score, bool | str) or place in scores:
            raise ValueError("no place and score")
        scores[place] = float(score)
    return Reply(json.dumps(list(scores.items())), model=as_text(body.get("model")))


RERANK = Protocol(
    name="rerank",
    title="a reranker",
    description="An endpoint that accepts a query and documents and returns results with index and relevance_score.",
    base_url="",
    key_variable="",
    path=lambda model: "",
    headers=_headers,
    body=_body,
    read=_read,
)
