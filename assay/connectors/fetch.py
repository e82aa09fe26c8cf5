"""Fetch many queries from one engine: in parallel, with retries, and resumable."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import pairwise

from assay.connectors.connector import Engine, Hit
from assay.core.text_rules import amount
from assay.network.faults import EngineFault

# Seconds between two progress reports while an engine is slow.
BEAT = 5.0
# Limits: concurrent queries, and seconds for one request.
MOST_AT_ONCE = 16
LONGEST_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of a fetch."""

    depth: int = 10
    concurrency: int = 4
    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0
    give_up_after: int = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one query."""

    query_id: str
    hits: tuple[Hit, ...] = ()
    error: str = ""
    repeated: int = 0
    attempts: int = 1


def fetch(
    engine: Engine, queries: Sequence[tuple[str, str]], plan: Plan, beat: Callable[[], None] = lambda: None
) -> Iterator[Answer]:
    """Send every query and yield the answers as they arrive."""
    halt = threading.Event()
    waiting = iter(queries)
    failed_in_a_row = 0
    with ThreadPoolExecutor(plan.concurrency, thread_name_prefix="fetch") as threads:
        running: set[Future[Answer]] = set()
        try:
            while True:
                running |= _started(threads, engine, waiting, plan, halt, plan.concurrency - len(running))
                if not running:
                    return
                done, running = wait(running, BEAT, return_when=FIRST_COMPLETED)
                if not done:
                    beat()
                fault: EngineFault | None = None
                for future in done:
                    try:
                        answer = future.result()
                    except EngineFault as hopeless:
                        fault = hopeless
                        continue
                    failed_in_a_row = failed_in_a_row + 1 if answer.error else 0
                    yield answer
                if fault is not None:
                    raise fault
                if failed_in_a_row >= plan.give_up_after:
                    message = (
                        f"{amount(failed_in_a_row, 'query', 'queries')} in a row got no answer; last error: "
                        f"{answer.error}"
                    )
                    raise EngineFault("refused", message)
        finally:
            # A caller that stops early does not wait for the delays between attempts.
            halt.set()


def _started(
    threads: ThreadPoolExecutor,
    engine: Engine,
    waiting: Iterator[tuple[str, str]],
    plan: Plan,
    halt: threading.Event,
    free: int,
) -> set[Future[Answer]]:
    started = set()
    for _ in range(free):
        following = next(waiting, None)
        if following is None:
            break
        started.add(threads.submit(answer_of, engine, *following, plan, halt))
    return started


def answer_of(engine: Engine, query_id: str, query: str, plan: Plan, halt: threading.Event | None = None) -> Answer:
    """Send a query, and retry if that can help."""
    halt = halt or threading.Event()
    # The random factor keeps several clients from retrying at the same moment; it depends only on the query.
    chance = random.Random(query_id)  # noqa: S311
    for attempt in range(1, plan.attempts + 1):
        try:
            hits = engine.search(query, plan.depth)
        except EngineFault as fault:
            if fault.hopeless:
                raise
            if not fault.passing or attempt == plan.attempts or halt.wait(_seconds(plan, attempt, fault, chance)):
                return Answer(query_id, error=str(fault), attempts=attempt)
            continue
        each: dict[str, Hit] = {}
        for hit in hits:
            each.setdefault(hit.doc_id, hit)
        return Answer(query_id, tuple(each.values()), repeated=len(hits) - len(each), attempts=attempt)
    raise AssertionError("a plan needs at least one attempt")


def changed_since(
    engine: Engine, queries: Sequence[tuple[str, str]], answers: Sequence[Answer], plan: Plan
) -> list[str]:
    """Return the ids of the queries whose answers changed. Repeating a few early queries at the end shows whether
    the index changed in between; if so, the run does not match any single state of the engine.
    """
    before = {answer.query_id: [hit.doc_id for hit in answer.hits] for answer in answers if not answer.error}
    changed = []
    for query_id, query in queries:
        again = answer_of(engine, query_id, query, plan)
        if query_id in before and not again.error and [hit.doc_id for hit in again.hits] != before[query_id]:
            changed.append(query_id)
    return changed


def run_scores(hits: Sequence[Hit]) -> list[float]:
    """Return a score for each hit so that sorting by score gives the engine's order. These are the engine's scores if
    every hit has one and they never increase; otherwise n, n - 1, ..., 1, because an engine may sort by something other
    than its score.

    Examples
    --------
    >>> run_scores([Hit("a", 2.5), Hit("b", 2.5), Hit("c", 1.0)]), run_scores([Hit("a", 1.0), Hit("b", 3.0)])
    ([2.5, 2.5, 1.0], [2.0, 1.0])
    """
    scores = [hit.score for hit in hits if hit.score is not None]
    if len(scores) == len(hits) and all(scores[rank] >= scores[rank + 1] for rank in range(len(scores) - 1)):
        return scores
    return [float(len(hits) - rank) for rank in range(len(hits))]


def falling_scores(hits: Sequence[Hit]) -> list[float]:
    """Return scores as `run_scores`, but without ties, because a TREC file expresses the engine's order only through
    its scores.

    Examples
    --------
    >>> falling_scores([Hit("a", 2.5), Hit("b", 1.0)]), falling_scores([Hit("a", 2.5), Hit("b", 2.5)])
    ([2.5, 1.0], [2.0, 1.0])
    """
    scores = run_scores(hits)
    if all(high > low for high, low in pairwise(scores)):
        return scores
    return [float(len(hits) - rank) for rank in range(len(hits))]


def _seconds(plan: Plan, attempt: int, fault: EngineFault, chance: random.Random) -> float:
    backoff = plan.first_wait * 2.0 ** (attempt - 1) * (0.5 + chance.random() / 2)
    return min(plan.longest_wait, fault.wait if fault.wait is not None else backoff)
