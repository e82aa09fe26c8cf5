"""Client for rerankers behind an address.

A request has ``model``, ``query`` and ``documents``; a response has ``results`` with ``index`` and
``relevance_score``, as with ZeroEntropy, Cohere, Jina and vLLM; Voyage calls the list ``data``. Calls work as for
models: several at once, within limits, with retries when the server is busy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgments.core.errors import NotValid
from judgments.judges.answers import Reply
from judgments.preferences.rerankers import Candidates, Told, checked
from judgments.providers.calls import Ended, ask
from judgments.providers.limits import Limits
from judgments.providers.protocol import Endpoint, Protocol, Question, as_text


def score_by_address(
    endpoint: Endpoint, queries: Sequence[Candidates], told: Told, *, limits: Limits | None = None
) -> Ended:
    """Ask for the scores of each query's documents; a query that fails takes nothing from the others.

    Parameters
    ----------
    endpoint : Endpoint
        With the protocol `RERANK`; its base address is the whole address, its model may be empty.
    queries : sequence of Candidates
        One request for each.
    told : callable
        ``told(query, scores or None, why not)``, one call after the other, in the order in which answers come.
    limits : Limits, optional
        How fast.

    Returns
    -------
    Ended
        Why it ended: what was not told was not asked for.
    """
    of = {one.query_id: one for one in queries}

    def answered(question: Question, reply: Reply) -> None:
        one = of[question.key]
        if reply.fault:
            told(one, None, reply.fault)
            return
        scores = dict(json.loads(reply.text))
        try:
            found = checked(one, [scores.get(place) for place in range(len(one.doc_ids))])
        except NotValid as fault:
            told(one, None, str(fault))
        else:
            told(one, found, "")

    return ask(endpoint, _questions(queries), answered, limits=limits)


def _questions(queries: Sequence[Candidates]) -> Iterator[Question]:
    for one in queries:
        asked = json.dumps({"query": one.query, "documents": one.texts}, ensure_ascii=False)
        yield Question(one.query_id, "", asked, most_tokens=0)


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _body(question: Question, model: str) -> dict[str, Any]:
    return {**({"model": model} if model else {}), **json.loads(question.prompt)}


def _read(told: Mapping[str, Any]) -> Reply:
    """The scores by place; a list whose rows name none is not read as if it were in order."""
    rows = told["results"] if "results" in told else told["data"]
    found = {}
    for row in rows:
        place, score = row["index"], row["relevance_score"] if "relevance_score" in row else row["score"]
        if isinstance(place, bool) or not isinstance(place, int) or isinstance(score, bool | str) or place in found:
            raise ValueError("no place and score")
        found[place] = float(score)
    return Reply(json.dumps(list(found.items())), model=as_text(told.get("model")))


RERANK = Protocol(
    name="rerank",
    title="a reranker",
    description="An address that takes query and documents, and answers results with index and relevance_score.",
    base_url="",
    key_variable="",
    path=lambda model: "",
    headers=_headers,
    body=_body,
    read=_read,
)
