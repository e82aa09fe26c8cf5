"""Shared fixtures of pool tests: the worked example as uploaded files, and an engine."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from tests.cached_rows import cached_fixture

BM25 = b"q1 Q0 d1 1 9.1 bm25\nq1 Q0 d2 2 8.7 bm25\nq1 Q0 d3 3 8.7 bm25\n"
NEURAL = b"q1 Q0 d4 1 0.9 neural\nq1 Q0 d1 2 0.8 neural\nq1 Q0 d5 3 0.7 neural\n"
QUERIES = b"query_id,query,tier\nq1,rain jacket,head\nq2,tent,tail\n"
LOG = b"query,count\nrain jacket,50\ntent,20\nstove,10\nrope,5\nmug,5\nlamp,4\nsock,3\nmap,2\nbag,1\n"


@pytest.fixture
def store(lead: Any) -> Callable[..., dict[str, Any]]:
    """``store(collection, "runs", b"...", "bm25.run")``: a file read and stored as its kind."""
    from judgments.imports import ingestion

    def put(collection: Any, kind: str, content: bytes, filename: str, **options: Any) -> dict[str, Any]:
        upload = ingestion.receive(
            collection, kind=kind, file=io.BytesIO(content), filename=filename, actor=lead, **options
        )
        return ingestion.store(upload, actor=lead)

    return put


@pytest.fixture
@cached_fixture
def example(collection: Any, store: Callable[..., Any]) -> Any:
    """The collection of the design's example: one query that two runs answer, and one that none does."""
    store(collection, "queries", QUERIES, "queries.csv")
    store(collection, "runs", BM25, "bm25.run")
    store(collection, "runs", NEURAL, "neural.run")
    return collection


@pytest.fixture
@cached_fixture
def log(collection: Any, store: Callable[..., Any]) -> Any:
    """A counted log of nine queries and 100 searches."""
    from pooling.models import QueryLog

    return QueryLog.objects.get(uuid=store(collection, "query-logs", LOG, "site.csv")["id"])


@pytest.fixture
def pool(example: Any, lead: Any) -> Any:
    """The depth-3 pool of the example: d1 to d5 for q1."""
    from pooling.pools import pools

    return pools.draw_pool(
        example, strategy="depth", actor=lead, runs=list(example.runs.all()), parameters={"depth": 3}
    )


@pytest.fixture
def guidelines(collection: Any, lead: Any) -> Any:
    from judgments.guidelines.guidelines import add_version

    return add_version(collection, markdown="Grade what you see.", actor=lead)


@pytest.fixture
def open_round(pool: Any, guidelines: Any, lead: Any, rater: Any) -> Any:
    """A round over the example's pool, open for one rater."""
    from judgments.rounds import rounds
    from pooling.pools import pools

    made = pools.make_round(pool, actor=lead, name="Round 1", guidelines=guidelines, ratings_per_pair=1, raters=[rater])
    return rounds.open_round(made, actor=lead)


@pytest.fixture
def at() -> Callable[..., str]:
    """``at("run", collection, run)``: the address of a page."""
    from django.urls import reverse

    def address(name: str, collection: Any, row: Any = None) -> str:
        return reverse(name, args=[collection.slug, *([row.uuid] if row else [])])

    return address
