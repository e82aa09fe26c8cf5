"""Adapter for rerankers written in Python.

A reranker is a function of query and documents, an object with ``score``, or a class of such objects; each may be
``async``. A reranker with a single argument gets both in one object, as in zbench.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from assay.core.errors import NotValid
from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import Endpoint, Protocol, Question, as_text
from assay.llm.providers.question_run import Ended, ask

# Default number of concurrent queries for an asynchronous reranker.
AT_ONCE = 8
MOST_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Candidates:
    """A query with the documents to rerank."""

    query_id: str
    query: str
    doc_ids: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RerankerInput:
    """Query and documents in one object."""

    query: str
    documents: list[str]


Scorer = Callable[[str, Sequence[str]], Any]
# The query, its scores or None, and why there are none.
OnScores = Callable[[Candidates, list[float] | None, str], None]


def scorer(target: Any) -> Scorer:
    """Wrap a reranker as a function of query and documents.

    Examples
    --------
    >>> scorer(lambda query, documents: [len(text) for text in documents])("tent", ["a", "bc"])
    [1, 2]
    """
    if isinstance(target, type):
        try:
            target = target()
        except TypeError as fault:
            what = f"{target.__name__} cannot be constructed without arguments ({fault})"
            raise NotValid(f"{what}; use an object that the module creates instead") from None
    call = getattr(target, "score", target)
    if not callable(call):
        raise NotValid(f"{type(target).__name__} is neither a function nor an object with score()")
    together = _takes_one(call)

    def given(query: str, documents: Sequence[str]) -> Any:
        return call(RerankerInput(query, list(documents))) if together else call(query, list(documents))

    async def awaited(query: str, documents: Sequence[str]) -> Any:
        return await given(query, documents)

    return awaited if _is_async(call) else given


def score_all(
    score: Scorer, queries: Sequence[Candidates], on_scores: OnScores, *, concurrency: int | None = None
) -> None:
    """Score the documents of all queries; the failure of one query does not affect the others."""
    at_once = concurrency if concurrency is not None else AT_ONCE if inspect.iscoroutinefunction(score) else 1
    if not 1 <= at_once <= MOST_AT_ONCE:
        raise NotValid(f"the concurrency is {at_once}; use 1 to {MOST_AT_ONCE}")
    if inspect.iscoroutinefunction(score):
        # In a separate thread, because the caller may already run an event loop, as notebooks do.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _in_one_loop(score, queries, on_scores, at_once)).result()
    elif at_once == 1:
        for one in queries:
            on_scores(one, *_score_one(score, one))
    else:
        with ThreadPoolExecutor(at_once) as threads:
            ends = {threads.submit(_score_one, score, one): one for one in queries}
            for end in as_completed(ends):
                on_scores(ends[end], *end.result())


def checked(one: Candidates, scores: Any) -> list[float]:
    """Return a finite score for each document."""
    try:
        values = [float(score) for score in scores]
    except (TypeError, ValueError):
        values = []
    if len(values) != len(one.doc_ids) or not all(map(math.isfinite, values)):
        number = len(one.doc_ids)
        raise NotValid(
            f"the reranker did not return a finite score for each of the {number} documents of {one.query_id}"
        )
    return values


async def _in_one_loop(
    score: Callable[..., Awaitable[Any]], queries: Iterable[Candidates], on_scores: OnScores, at_once: int
) -> None:
    gate = asyncio.Semaphore(at_once)

    async def ask(one: Candidates) -> None:
        async with gate:
            try:
                values, fault = checked(one, await score(one.query, one.texts)), ""
            except Exception as error:
                on_scores(one, None, _words(error))
                return
        on_scores(one, values, fault)

    await asyncio.gather(*(ask(one) for one in queries))


def _score_one(score: Scorer, one: Candidates) -> tuple[list[float] | None, str]:
    try:
        return checked(one, score(one.query, one.texts)), ""
    except Exception as error:
        return None, _words(error)


def _words(error: Exception) -> str:
    message = " ".join(str(error).split())
    return message if isinstance(error, NotValid) else f"{type(error).__name__}: {message}"


def _takes_one(call: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return False
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len(places) == 1 and not any(one.kind is one.VAR_POSITIONAL for one in parameters)


def _is_async(call: Any) -> bool:
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004


# A request has `model`, `query` and `documents`; a response has `results` with `index` and `relevance_score`, as with
# ZeroEntropy, Cohere, Jina and vLLM; Voyage calls the list `data`. Calls work as for models: several at once, within
# limits, with retries when the server is busy.
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
            raise ValueError("no index and score")
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
