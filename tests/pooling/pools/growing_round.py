"""A collection of three queries and two runs, and a round over it that goes on choosing."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from judgments.guidelines import guidelines
from judgments.models import Pair, Round
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from pooling.models import Refill
from pooling.pools import pools, refill, refill_job

QUERIES = b"query_id,query\nq1,rain jacket\nq2,tent\nq3,stove\n"
DEEP = 30


def run_file(name: str, step: int) -> bytes:
    """Each query's documents d0 to d39 in an order of the run's own, 30 of them."""
    lines = []
    for query in ("q1", "q2", "q3"):
        for rank in range(1, DEEP + 1):
            lines.append(f"{query} Q0 {query}-d{(rank * step + len(name)) % 41} {rank} {1 / rank} {name}\n")
    return "".join(lines).encode()


def relevant(doc_id: str) -> int:
    """What everybody says of a document."""
    return 2 if int(doc_id.split("-d")[1]) % 3 == 0 else 0


def make_growing(store: Callable[..., Any], collection: Any, lead: Any, raters: list[Any], **options: Any) -> Refill:
    """An open round that begins with four pairs a query."""
    store(collection, "queries", QUERIES, "queries.csv")
    store(collection, "runs", run_file("one", 1), "one.run")
    store(collection, "runs", run_file("other", 7), "other.run")
    documents = options.pop("documents", None)
    if documents:
        store(collection, "documents", documents, "documents.jsonl")
    how = {name: options.pop(name) for name in ("strategy", "duplicates") if name in options}
    pool = pools.draw_pool(
        collection, **{"strategy": "thompson", **how}, actor=lead, runs=list(collection.runs.all()), budget=4, seed=5
    )
    version = guidelines.add_version(collection, markdown="Grade what you see.", actor=lead)
    plan: dict[str, Any] = {"most_pairs": 60, "pairs_per_query": 20, "batch": 4, "ratings_per_pair": 1, **options}
    made = refill.begin(pool, actor=lead, name="Growing", guidelines=version, raters=raters, **plan)
    rounds.open_round(made, actor=lead)
    return Refill.objects.get(round=made)


def choose_all(row: Refill) -> int:
    """What the job does: step by step until there is nothing to do now."""
    added, spread = 0, 1
    while (step := refill_job.choose_next(row, spread=spread)) is not None:
        added += step
        spread = 1 if step else spread * refill_job.WIDER
    return added


def rate(round_: Round, rater: Any, size: int = 5) -> list[Pair]:
    """One batch, graded."""
    batch = assignment.claim_batch(round_, rater=rater, size=size)
    answers = [submission.Answer(uuid.uuid4(), pair.uuid, relevant(pair.document.doc_id)) for pair in batch]
    assert all(isinstance(one, submission.Receipt) for one in submission.submit_all(round_, answers, rater=rater))
    return batch
