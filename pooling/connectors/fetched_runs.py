"""Storage of an engine's results as a run, with the documents for raters."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from typing import Any

from django.db import transaction

from assay.connectors.connector import Hit
from assay.connectors.fetch import Answer, Gathered, run_scores
from assay.core.csv_cells import csv_row, escape
from assay.core.errors import Conflict, NotValid
from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.models import Collection, Upload, User
from pooling.models import Fetch, Run


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
        raise AssertionError("without an earlier run there is an upload of this one")
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
