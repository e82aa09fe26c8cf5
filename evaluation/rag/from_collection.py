"""Samples made from a collection: its queries, the labels of a snapshot, and a run as a system that only retrieves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.urls import reverse

from assay.core.errors import NotFound, NotValid
from assay.rag import outputs_jsonl, samples_jsonl
from assay.rag.records import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from evaluation.rag import sample_sets, systems
from evaluation.scoring.scoring import relevant_from
from judgments.jobs import jobs
from judgments.models import Collection, Job, Snapshot, User, audit
from judgments.models.fields import rows_among
from judgments.snapshots import snapshots
from pooling.models import Run
from pooling.runs import runs

KIND = "rag-samples"
DEPTH, MOST_DEPTH = 10, 100


@transaction.atomic
def start(
    collection: Collection,
    *,
    name: str,
    snapshot: Snapshot | None = None,
    run: Run | None = None,
    threshold: int | None = None,
    depth: int = DEPTH,
    actor: User,
) -> Job:
    """Queue the job that creates a sample set."""
    if not collection.queries.exists():
        raise NotValid("This collection has no queries. Import queries first.")
    if not 1 <= depth <= MOST_DEPTH:
        raise NotValid(f"The depth {depth} is out of range.", {"depth": f"Enter a number from 1 to {MOST_DEPTH}."})
    if snapshot is not None:
        sample_sets.check_reader(actor, snapshot)
    parameters = {
        "name": sample_sets.free_name(collection, name),
        "snapshot": str(snapshot.uuid) if snapshot else None,
        "run": str(run.uuid) if run else None,
        "threshold": threshold,
        "depth": depth,
    }
    title = f"Create the RAG samples {parameters['name']}"
    audit.record(
        "rag.from_collection",
        f"{actor} created the RAG samples {parameters['name']}",
        actor=actor,
        collection=collection,
    )
    return jobs.start(KIND, title=title, parameters=parameters, collection=collection, actor=actor)


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Create the sample set; the set, its system and the job's result are stored in one transaction."""
    collection, parameters = work.job.collection, work.job.parameters
    if collection is None:
        raise NotFound("The collection was deleted.")
    snapshot = _named(collection.snapshots.all(), parameters["snapshot"], "snapshot")
    run = _named(collection.runs.all(), parameters["run"], "run")
    samples = samples_of(collection, snapshot, parameters["threshold"])
    work.progress(1, 2)
    outputs = (
        [] if run is None else outputs_of(collection, run, [one.sample_id for one in samples], parameters["depth"])
    )
    written = sample_sets.write(samples, samples_jsonl.to_dict, work.job.uuid.hex)
    answered = sample_sets.write(outputs, outputs_jsonl.to_dict, f"{work.job.uuid.hex}-run") if run else None
    try:
        with transaction.atomic():
            made = sample_sets.add(
                collection,
                written,
                name=parameters["name"],
                filename=f"{parameters['name']}.jsonl"[:255],
                origin={key: parameters[key] for key in ("snapshot", "run", "threshold", "depth")},
                snapshot=snapshot,
                actor=work.job.created_by,
            )
            if run is not None and answered is not None:
                systems.add(
                    made,
                    answered,
                    name=run.name,
                    filename=run.filename,
                    missing="zero",
                    description=f"The first {parameters['depth']} documents of the run {run.name}"[:300],
                    actor=work.job.created_by,
                )
            page = reverse("rag_set", args=[collection.slug, made.uuid])
            return work.keep({"id": str(made.uuid), "samples": made.rows, "page": page})
    except BaseException:
        for stored in filter(None, (written, answered)):
            default_storage.delete(stored.path)
        raise


def _named(rows: Any, uuid: str | None, noun: str) -> Any:
    if uuid is None:
        return None
    row = rows.filter(uuid=uuid).first()
    if row is None:
        raise NotFound(f"The {noun} was deleted before the samples were created.")
    return row


def samples_of(
    collection: Collection, snapshot: Snapshot | None, threshold: int | None = None
) -> list[EvaluationSample]:
    """Return the collection's queries as samples; with a snapshot, only labeled queries, with their relevant
    documents."""
    labels: Mapping[str, Mapping[str, float]] = snapshots.labels_of(snapshot) if snapshot else {}
    lowest = threshold if threshold is not None else relevant_from(snapshot) if snapshot else 1
    relevant = {
        query_id: sorted(
            (doc_id for doc_id, grade in grades.items() if grade >= lowest), key=lambda one: (-grades[one], one)
        )
        for query_id, grades in labels.items()
    }
    texts = _texts(collection, (doc_id for doc_ids in relevant.values() for doc_id in doc_ids))
    samples = []
    for query_id, text, tier in collection.queries.order_by("query_id").values_list("query_id", "text", "tier"):
        if snapshot is not None and query_id not in labels:
            continue
        docs = tuple(Document(doc_id, texts.get(doc_id, "")) for doc_id in relevant.get(query_id, ()))
        samples.append(
            EvaluationSample(
                query_id, text, relevant_docs=docs if snapshot else None, labels={"tier": tier} if tier else {}
            )
        )
    if not samples:
        raise NotValid("No query of the collection has a label in this snapshot. Choose another snapshot.")
    return samples


def outputs_of(collection: Collection, run: Run, sample_ids: Iterable[str], depth: int) -> list[SystemOutputs]:
    """Return the documents that a run retrieved for these queries, with their texts."""
    ranked = runs.ranked(run).to_dict()
    chosen = {query_id: list(ranked[query_id].items())[:depth] for query_id in sample_ids if query_id in ranked}
    texts = _texts(collection, (doc_id for scores in chosen.values() for doc_id, _ in scores))
    return [
        SystemOutputs(
            query_id,
            tuple(
                RetrievedDocument(Document(doc_id, texts.get(doc_id, "")), rank, float(score))
                for rank, (doc_id, score) in enumerate(scores, 1)
            ),
        )
        for query_id, scores in chosen.items()
    ]


def _texts(collection: Collection, doc_ids: Iterable[str]) -> dict[str, str]:
    """Return title and text of documents, by id."""
    rows = rows_among(collection.documents.values_list("doc_id", "title", "text"), "doc_id", dict.fromkeys(doc_ids))
    return {doc_id: "\n".join(filter(None, (title, text))) for doc_id, title, text in rows}
