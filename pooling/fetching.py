"""Fetch jobs: collect a live engine's results for every query into a run.

A fetch stores the results in parts as it goes. After it stops, through an error, by a user or with the server,
resuming it requests only the queries that have no results yet.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from typing import Any

from django.db import transaction

from judgments import audit, jobs, storage
from judgments.core.amounts import agree, amount
from judgments.core.errors import Conflict, NotFound, NotValid
from judgments.models import Job, User
from pooling import connected, fetched
from pooling.connectors import CONNECTORS, Engine, EngineFault
from pooling.connectors.contract import Hit
from pooling.connectors.fetch import Answer, Plan, changed_since, fetch
from pooling.connectors.gathered import Gathered
from pooling.models import Connector, Fetch
from pooling.runs import free_name

# So many answers, or so many seconds, between two parts: what a killed server loses at most.
PART = 100
SECONDS = 5.0
# The first queries are asked once more at the end: other answers tell that the index changed meanwhile.
ASKED_TWICE = 3


@transaction.atomic
def start(connector: Connector, *, actor: User, run_name: str, depth: int) -> Fetch:
    """Ask an engine every query of the collection, as a job.

    Parameters
    ----------
    connector : Connector
        Whom to ask.
    actor : User
        Who wants the run.
    run_name : str
        What the run will be called.
    depth : int
        How many documents of each query.

    Raises
    ------
    NotValid
        There is no query to ask, or the engine cannot be asked for so many documents.
    Conflict
        The name is taken.
    """
    CONNECTORS[connector.kind].check_depth(depth, connector.settings)
    queries = [list(pair) for pair in connector.collection.queries.order_by("query_id").values_list("query_id", "text")]
    if not queries:
        raise NotValid("There is no query to ask. Draw queries from a log, or store a file of them.")
    made = Fetch.objects.create(
        connector=connector,
        run_name=free_name(connector.collection, run_name),
        depth=depth,
        queries=queries,
        settings={"kind": connector.kind, **connector.settings},
        created_by=actor,
    )
    sentence = f"{actor} asked {connector.name} {amount(len(queries), 'query', 'queries')} for the run {made.run_name}"
    audit.record("fetching.start", sentence, actor=actor, collection=connector.collection, target=made)
    _queue(made, actor, without_failed=False)
    return made


@transaction.atomic
def go_on(row: Fetch, *, actor: User, without_failed: bool = False) -> Job:
    """Ask what has no answer yet; or make the run without the queries that failed.

    Raises
    ------
    Conflict
        It is a run already, or it is being worked on.
    """
    row = Fetch.objects.select_for_update(of=("self",)).select_related("connector__collection", "job").get(pk=row.pk)
    if row.run is not None:
        raise Conflict(f"This is the run {row.run} already.")
    if not row.waits:
        raise Conflict("It is being worked on. Look at its job.")
    sentence = f"{actor} went on with the run {row.run_name} from {row.connector.name}"
    audit.record("fetching.go_on", sentence, actor=actor, collection=row.connector.collection, target=row)
    return _queue(row, actor, without_failed)


def _queue(row: Fetch, actor: User, without_failed: bool) -> Job:
    parameters = {"fetch": str(row.uuid), "without_failed": without_failed}
    title = f"Fetch {row.run_name} from {row.connector.name}"
    row.job = jobs.start("fetch", title=title, parameters=parameters, collection=row.connector.collection, actor=actor)
    Fetch.objects.filter(pk=row.pk).update(job=row.job)
    return row.job


def work_on_fetch(work: jobs.Work) -> dict[str, Any]:
    """The job: ask, keep, and when every query has its answer, make the run."""
    rows = Fetch.objects.select_related("connector__collection", "run")
    row = rows.filter(uuid=work.job.parameters["fetch"]).first()
    if row is None:
        raise NotFound("The connector was removed before the job began.")
    if row.run is not None:
        return {"run": row.run.name, "already": True}
    gathered = kept(row)
    without_failed = bool(work.job.parameters.get("without_failed"))
    with closing(connected.engine_of(row.connector)) as engine:
        if not without_failed:
            _ask(work, row, engine, gathered)
        changed = _changed(work, row, engine, gathered)
    missing = [query_id for query_id, _ in row.queries if query_id not in gathered]
    if missing and not without_failed:
        raise NotValid(_told(row, gathered))
    return fetched.store(work, row, gathered, changed)


def kept(row: Fetch) -> Gathered:
    """What was answered so far."""
    gathered = Gathered()
    for path in row.parts:
        with storage.open_file(path) as stream, gzip.open(stream) as lines:
            for line in lines:
                found = json.loads(line)
                hits = tuple(Hit(**hit) for hit in found.pop("hits"))
                gathered.add(Answer(hits=hits, **found))
    return gathered


def _ask(work: jobs.Work, row: Fetch, engine: Engine, gathered: Gathered) -> None:
    """Ask what has no answer yet; whatever ends it, what was answered is kept."""
    plan = Plan(depth=row.depth, concurrency=row.connector.concurrency)
    left = [(query_id, text) for query_id, text in row.queries if query_id not in gathered]
    waiting: list[Answer] = []
    row.failed = {}
    last = time.monotonic()

    def beat() -> None:
        work.progress(len(gathered), row.asked)

    beat()
    try:
        for answer in fetch(engine, left, plan, beat):
            if answer.error:
                row.failed[answer.query_id] = answer.error
                continue
            waiting.append(answer)
            gathered.add(answer)
            if len(waiting) >= PART or time.monotonic() - last > SECONDS:
                _keep(row, waiting, len(gathered))
                waiting, last = [], time.monotonic()
                beat()
    except jobs.Lost:
        raise  # another worker writes to the row by now
    except EngineFault as fault:
        _keep(row, waiting, len(gathered))
        raise NotValid(f"{fault} {_so_far(row, gathered)}") from fault
    except BaseException:
        _keep(row, waiting, len(gathered))
        raise
    _keep(row, waiting, len(gathered))


def _keep(row: Fetch, answers: Iterable[Answer], answered: int) -> None:
    """Put answers into storage, and the path on the row."""
    lines = [json.dumps(asdict(answer), separators=(",", ":")) for answer in answers]
    if lines:
        content = gzip.compress("\n".join(lines).encode(), 6, mtime=0)
        row.parts.append(storage.keep("fetches", f"{row.uuid.hex}-{len(row.parts):05}.jsonl.gz", content))
    Fetch.objects.filter(pk=row.pk).update(parts=row.parts, answered=answered, failed=row.failed)


def _changed(work: jobs.Work, row: Fetch, engine: Engine, gathered: Gathered) -> list[str]:
    """The early queries that the engine answers otherwise by now; nothing where it cannot be asked."""
    early = [(query_id, text) for query_id, text in row.queries if query_id in gathered][:ASKED_TWICE]
    plan = Plan(depth=row.depth, attempts=1)
    try:
        changed = changed_since(engine, early, [gathered.answers[query_id] for query_id, _ in early], plan)
    except EngineFault:
        return []
    if changed:
        work.say(
            f"{len(changed)} of the first {amount(len(early), 'query', 'queries')} "
            f"{agree(len(changed), 'is', 'are')} answered otherwise by now: the index changed"
        )
    return changed


def _told(row: Fetch, gathered: Gathered) -> str:
    query_id, said = next(iter(row.failed.items()))
    return (
        f"{amount(len(row.failed), 'query', 'queries')} got no "
        f"answer, the first {query_id}: {said} {_so_far(row, gathered)}"
    )


def _so_far(row: Fetch, gathered: Gathered) -> str:
    return (
        f"{len(gathered):,} of {amount(row.asked, 'answer')} "
        f"{agree(len(gathered), 'is', 'are')} kept; go on from the connector's page."
    )
