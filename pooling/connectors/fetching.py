"""Fetch jobs: collect a live engine's results for every query into a run.

A fetch stores the results in parts as it goes. After an error, a cancellation or a server restart, a resumed fetch
requests only the queries that have no results yet.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from assay.connectors import CONNECTORS, Engine, EngineFault
from assay.connectors.collected_answers import Gathered
from assay.connectors.connector import Hit
from assay.connectors.fetch import Answer, Plan, changed_since, fetch, run_scores
from assay.core.csv_cells import csv_row, escape
from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import agree, amount
from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.models import Collection, Job, Upload, User, audit
from judgments.web import access
from pooling.connectors import connections
from pooling.models import Connector, Fetch, Run
from pooling.runs.runs import free_name


def store(work: jobs.Work, row: Fetch, gathered: Gathered, changed: list[str]) -> dict[str, Any]:
    """Store the run and the documents that have no content in the collection, atomically."""
    collection, actor = row.connector.collection, work.job.created_by
    if actor is None:
        raise Conflict("The account that requested this run was deleted. Another user must resume the fetch.")
    ordered = [gathered.answers[query_id] for query_id, _ in row.queries if query_id in gathered]
    if not any(answer.hits for answer in ordered):
        raise NotValid("The engine returned no documents for any query. Test one query on the connector's page.")
    content, documents = _run_file(ordered), _documents(collection, gathered)
    earlier = collection.runs.filter(sha256=hashlib.sha256(content).hexdigest()).first()
    uploads = []
    if earlier is None:
        uploads.append(_received(collection, "runs", "run-csv", f"{row.run_name}.csv", content, actor))
    if documents:
        uploads.append(_received(collection, "documents", "documents-jsonl", f"{row.run_name}.jsonl", documents, actor))
    try:
        with transaction.atomic():
            return work.keep(_stored(row, earlier, uploads, actor, ordered, changed, len(gathered.differing)))
    except Exception:
        for upload in uploads:
            ingestion.throw_away(upload)
        raise


def _stored(
    row: Fetch,
    earlier: Run | None,
    uploads: list[Upload],
    actor: User,
    answers: list[Answer],
    changed: list[str],
    differing: int,
) -> dict[str, Any]:
    about = f"Fetched from {row.connector.name}, depth {row.depth}"
    if changed:
        about += "; the index changed during the fetch"
    run, documents = earlier, 0
    for upload in uploads:
        if upload.kind == "documents":
            documents = ingestion.store(upload, actor=actor, accept_errors=True)["rows"]
        else:
            made = ingestion.store(upload, actor=actor, options={"name": row.run_name, "description": about})
            run = Run.objects.get(uuid=made["id"])
    if run is None:
        raise AssertionError("neither an earlier run nor an upload of this run exists")
    Fetch.objects.filter(pk=row.pk).update(run=run)
    result = {
        "run": run.name,
        "queries": len(answers),
        "queries without a document": sum(1 for answer in answers if not answer.hits),
        "queries with fewer documents than requested": sum(1 for answer in answers if len(answer.hits) < row.depth),
        "documents stored": documents,
        "page": f"/c/{row.connector.collection.slug}/runs/{run.uuid}/",
    }
    exclusions = {
        "unchanged": "yes" if earlier is not None else "",
        "duplicate documents left out": sum(answer.repeated for answer in answers),
        "documents returned with different contents": differing,
        "queries left out": row.query_count - len(answers),
        "index changed during the fetch": "yes" if changed else "",
    }
    return {**result, **{name: value for name, value in exclusions.items() if value}}


def _run_file(answers: Iterable[Answer]) -> bytes:
    lines = [csv_row(["query_id", "doc_id", "score", "rank"])]
    for answer in answers:
        scores = run_scores(answer.hits)
        for rank, (hit, score) in enumerate(zip(answer.hits, scores, strict=True), start=1):
            lines.append(csv_row([escape(answer.query_id), escape(hit.doc_id), repr(score), str(rank)]))
    return "".join(lines).encode("utf-8", "surrogatepass")


def _documents(collection: Collection, gathered: Gathered) -> bytes:
    """Return the documents to store: those without content in the collection."""
    here = set(collection.documents.filter(stub=False).values_list("doc_id", flat=True))
    lines = [
        json.dumps({"doc_id": hit.doc_id, **_content(hit)}) for hit in gathered.readable() if hit.doc_id not in here
    ]
    return "\n".join(lines).encode()


def _content(hit: Hit) -> dict[str, Any]:
    return {"title": hit.title, "text": hit.text, "url": hit.url, "image": hit.image, "fields": dict(hit.fields)}


def _received(collection: Collection, kind: str, format: str, name: str, content: bytes, actor: User) -> Upload:
    return ingestion.receive(collection, kind=kind, file=io.BytesIO(content), filename=name, actor=actor, format=format)


# A part is stored after this many responses or seconds, so a killed server loses no more than that.
PART = 100
SECONDS = 5.0
# The first queries are sent again at the end: different results show that the index changed during the fetch.
REPEATED_QUERIES = 3


@transaction.atomic
def start(connector: Connector, *, actor: User, run_name: str, depth: int) -> Fetch:
    """Start a job that fetches the results of every query of the collection."""
    CONNECTORS[connector.kind].check_depth(depth, connector.settings)
    queries = [list(pair) for pair in connector.collection.queries.order_by("query_id").values_list("query_id", "text")]
    if not queries:
        raise NotValid("This collection has no queries. Draw queries from a query log, or upload a queries file.")
    made = Fetch.objects.create(
        connector=connector,
        run_name=free_name(connector.collection, run_name),
        depth=depth,
        queries=queries,
        settings={"kind": connector.kind, **connector.settings},
        created_by=actor,
    )
    what = amount(len(queries), "query", "queries")
    sentence = f"{actor} started fetching {what} from {connector.name} for the run {made.run_name}"
    audit.record("fetching.start", sentence, actor=actor, collection=connector.collection, target=made)
    _queue(made, actor, without_failed=False)
    return made


@transaction.atomic
def resume(row: Fetch, *, actor: User, without_failed: bool = False) -> Job:
    """Resume a fetch, or create the run without the failed queries."""
    row = Fetch.objects.select_for_update(of=("self",)).select_related("connector__collection", "job").get(pk=row.pk)
    if row.run is not None:
        raise Conflict(f"This fetch is complete. Its run is {row.run}.")
    if not row.waits:
        raise Conflict("This fetch is running. Open its job to see the progress.")
    sentence = f"{actor} resumed the fetch of the run {row.run_name} from {row.connector.name}"
    audit.record("fetching.go_on", sentence, actor=actor, collection=row.connector.collection, target=row)
    return _queue(row, actor, without_failed)


def _queue(row: Fetch, actor: User, without_failed: bool) -> Job:
    parameters = {"fetch": str(row.uuid), "without_failed": without_failed}
    title = f"Fetch {row.run_name} from {row.connector.name}"
    row.job = jobs.start("fetch", title=title, parameters=parameters, collection=row.connector.collection, actor=actor)
    Fetch.objects.filter(pk=row.pk).update(job=row.job)
    return row.job


def work_on_fetch(work: jobs.Work) -> dict[str, Any]:
    """Run the job: fetch and store results, and create the run when every query has results."""
    rows = Fetch.objects.select_related("connector__collection", "run")
    row = access.existing(
        rows.filter(uuid=work.job.parameters["fetch"]), "The connector was removed before the job started."
    )
    if row.run is not None:
        return {"run": row.run.name, "already": True}
    gathered = stored_answers(row)
    without_failed = bool(work.job.parameters.get("without_failed"))
    with closing(connections.engine_of(row.connector)) as engine:
        if not without_failed:
            _ask(work, row, engine, gathered)
        changed = _changed(work, row, engine, gathered)
    missing = [query_id for query_id, _ in row.queries if query_id not in gathered]
    if missing and not without_failed:
        raise NotValid(_failure_message(row, gathered))
    return store(work, row, gathered, changed)


def stored_answers(row: Fetch) -> Gathered:
    """Return the results stored so far."""
    gathered = Gathered()
    for path in row.parts:
        with default_storage.open(path) as stream, gzip.open(stream) as lines:
            for line in lines:
                answer = json.loads(line)
                hits = tuple(Hit(**hit) for hit in answer.pop("hits"))
                gathered.add(Answer(hits=hits, **answer))
    return gathered


def _ask(work: jobs.Work, row: Fetch, engine: Engine, gathered: Gathered) -> None:
    """Fetch results for the remaining queries, and store them even after an error."""
    plan = Plan(depth=row.depth, concurrency=row.connector.concurrency)
    left = [(query_id, text) for query_id, text in row.queries if query_id not in gathered]
    waiting: list[Answer] = []
    row.failed = {}
    last = time.monotonic()

    def beat() -> None:
        work.progress(len(gathered), row.query_count)

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
        raise  # another worker now writes to the row
    except EngineFault as fault:
        _keep(row, waiting, len(gathered))
        raise NotValid(f"{fault} {_so_far(row, gathered)}") from fault
    except BaseException:
        _keep(row, waiting, len(gathered))
        raise
    _keep(row, waiting, len(gathered))


def _keep(row: Fetch, answers: Iterable[Answer], answered: int) -> None:
    """Store results in a file, and its path in the database row."""
    lines = [json.dumps(asdict(answer), separators=(",", ":")) for answer in answers]
    if lines:
        content = ContentFile(gzip.compress("\n".join(lines).encode(), 6, mtime=0))
        row.parts.append(default_storage.save(f"fetches/{row.uuid.hex}-{len(row.parts):05}.jsonl.gz", content))
    Fetch.objects.filter(pk=row.pk).update(parts=row.parts, answered=answered, failed=row.failed)


def _changed(work: jobs.Work, row: Fetch, engine: Engine, gathered: Gathered) -> list[str]:
    """Return the early queries whose results changed; empty if the engine does not respond."""
    early = [(query_id, text) for query_id, text in row.queries if query_id in gathered][:REPEATED_QUERIES]
    plan = Plan(depth=row.depth, attempts=1)
    try:
        changed = changed_since(engine, early, [gathered.answers[query_id] for query_id, _ in early], plan)
    except EngineFault:
        return []
    if changed:
        work.say(
            f"the index changed during the fetch: {len(changed)} of the first "
            f"{amount(len(early), 'query', 'queries')} now have other results"
        )
    return changed


def _failure_message(row: Fetch, gathered: Gathered) -> str:
    query_id, fault = next(iter(row.failed.items()))
    return (
        f"{amount(len(row.failed), 'query', 'queries')} failed; the first is {query_id}: {fault} "
        f"{_so_far(row, gathered)}"
    )


def _so_far(row: Fetch, gathered: Gathered) -> str:
    return (
        f"The results of {len(gathered):,} of {amount(row.query_count, 'query', 'queries')} "
        f"{agree(len(gathered), 'is', 'are')} stored. Resume the fetch on the connector's page."
    )
