"""Storage of an engine's results as a run, with documents for raters to read."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

from django.db import transaction

from judgments import ingestion, jobs
from judgments.core.cells import csv_row, escape
from judgments.core.errors import Conflict, NotValid
from judgments.models import Collection, Upload, User
from pooling.connectors.contract import Hit
from pooling.connectors.fetch import Answer, run_scores
from pooling.connectors.gathered import Gathered
from pooling.models import Fetch, Run


def store(work: jobs.Work, row: Fetch, gathered: Gathered, changed: list[str]) -> dict[str, Any]:
    """Store the run, and the documents that the collection has no content of; all of it, or nothing.

    Raises
    ------
    NotValid
        The engine returned no document for any query.
    Conflict
        The same run is here already.
    """
    collection, actor = row.connector.collection, work.job.created_by
    if actor is None:
        raise Conflict("The account that asked for this run is gone. Somebody else has to go on with it.")
    ordered = [gathered.answers[query_id] for query_id, _ in row.queries if query_id in gathered]
    if not any(answer.hits for answer in ordered):
        raise NotValid("The engine returned no document for any query. Try one on the connector's page.")
    documents = _documents(collection, gathered)
    uploads = [_received(collection, "runs", "run-csv", f"{row.run_name}.csv", _run_file(ordered), actor)]
    if documents:
        uploads.append(_received(collection, "documents", "documents-jsonl", f"{row.run_name}.jsonl", documents, actor))
    try:
        with transaction.atomic():
            return work.keep(_stored(row, uploads, actor, ordered, changed, len(gathered.differing)))
    except Exception:
        for upload in uploads:
            ingestion.throw_away(upload)
        raise


def _stored(
    row: Fetch, uploads: list[Upload], actor: User, answers: list[Answer], changed: list[str], differing: int
) -> dict[str, Any]:
    about = f"Asked of {row.connector.name}, {row.depth} deep"
    if changed:
        about += "; its index changed meanwhile"
    made = ingestion.store(uploads[0], actor=actor, options={"name": row.run_name, "description": about})
    documents = ingestion.store(uploads[1], actor=actor, accept_errors=True)["rows"] if len(uploads) > 1 else 0
    run = Run.objects.get(uuid=made["id"])
    Fetch.objects.filter(pk=row.pk).update(run=run)
    result = {
        "run": run.name,
        "queries": len(answers),
        "queries without a document": sum(1 for answer in answers if not answer.hits),
        "queries with fewer documents than asked for": sum(1 for answer in answers if len(answer.hits) < row.depth),
        "documents stored": documents,
        "page": f"/c/{row.connector.collection.slug}/runs/{run.uuid}/",
    }
    told = {
        "repeated documents left out": sum(answer.repeated for answer in answers),
        "documents sent with two contents": differing,
        "queries left out": row.asked - len(answers),
        "index changed meanwhile": "yes" if changed else "",
    }
    return {**result, **{name: value for name, value in told.items() if value}}


def _run_file(answers: Iterable[Answer]) -> bytes:
    lines = [csv_row(["query_id", "doc_id", "score", "rank"])]
    for answer in answers:
        scores = run_scores(answer.hits)
        for rank, (hit, score) in enumerate(zip(answer.hits, scores, strict=True), start=1):
            lines.append(csv_row([escape(answer.query_id), escape(hit.doc_id), repr(score), str(rank)]))
    return "".join(lines).encode("utf-8", "surrogatepass")


def _documents(collection: Collection, gathered: Gathered) -> bytes:
    """The content of the documents of which the collection has none.

    Content that is here already stays: judgments were made on it.
    """
    here = set(collection.documents.filter(stub=False).values_list("doc_id", flat=True))
    lines = [
        json.dumps({"doc_id": hit.doc_id, **_content(hit)}) for hit in gathered.readable() if hit.doc_id not in here
    ]
    return "\n".join(lines).encode()


def _content(hit: Hit) -> dict[str, Any]:
    return {"title": hit.title, "text": hit.text, "url": hit.url, "image": hit.image, "fields": dict(hit.fields)}


def _received(collection: Collection, kind: str, format: str, name: str, content: bytes, actor: User) -> Upload:
    return ingestion.receive(collection, kind=kind, file=io.BytesIO(content), filename=name, actor=actor, format=format)
