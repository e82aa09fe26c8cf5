"""The first step of a decision: store the systems' files, queries and documents, or pasted lists."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from assay.core.errors import AssayError, BeyondLimits, NotValid
from judgments.imports import ingestion
from judgments.jobs.limited_process import small, turns
from judgments.models import Collection, Query, User
from pooling.models import Run
from pooling.rounds import quick_start
from pooling.runs import runs as stored_runs


def store_file(collection: Collection, kind: str, file: UploadedFile, *, actor: User, field: str) -> str:
    """Store an uploaded file in the collection and return the id of its row; errors name the form's field."""
    name = str(file.name)
    if (file.size or 0) > settings.JOB_FROM_BYTES:
        limit = settings.JOB_FROM_BYTES // (1024 * 1024)
        message = f"This page takes files of up to {limit} MB. Import {name} on its own page, then choose it here."
        raise NotValid(message, field)
    try:
        upload = ingestion.take_in(collection, kind=kind, file=file.file, filename=name, actor=actor)
        try:
            if not upload.report:
                raise BeyondLimits("It takes too long to read here.")
            with turns().turn():
                made = ingestion.store(upload, actor=actor, limits=small())
        except ingestion.NothingNew:
            ingestion.throw_away(upload)
            return ""
        except BaseException:
            ingestion.throw_away(upload)
            raise
    except BeyondLimits as error:
        message = f"{name} takes too long to read here. Import it on its own page, then choose it here."
        raise NotValid(message, field) from error
    except NotValid as error:
        raise NotValid(f"{name}: {error}" if name not in str(error) else str(error), field) from error
    except AssayError as error:
        raise NotValid(str(error), field) from error
    return str(made.get("id", ""))


def store_run(collection: Collection, file: UploadedFile, *, actor: User, field: str) -> Run:
    """Store a run file, or return the run that has its content already."""
    digest = hashlib.sha256(file.read()).hexdigest()
    file.seek(0)
    known = collection.runs.filter(sha256=digest).first()
    return known or collection.runs.get(uuid=store_file(collection, "runs", file, actor=actor, field=field))


def store_texts(
    collection: Collection,
    *,
    actor: User,
    queries: UploadedFile | None = None,
    documents: UploadedFile | None = None,
    typed: str = "",
) -> None:
    """Store files of queries and documents, and queries typed one per line."""
    for kind, file in (("queries", queries), ("documents", documents)):
        if file:
            store_file(collection, kind, file, actor=actor, field=kind)
    if typed.strip():
        quick_start.add_queries(collection, quick_start.read_queries(typed))


def store_pasted(collection: Collection, text: str, *, actor: User) -> tuple[Run, list[Run]]:
    """Store pasted lists of two or more systems as runs; the first system is the baseline."""
    systems = quick_start.read_systems(text)
    if len(systems) < 2:
        message = f"All lines belong to the system {next(iter(systems))}. Paste the results of two systems."
        raise NotValid(message, "pasted")
    stored = []
    for name, starts in systems.items():
        pairs = quick_start.store_lists(collection, starts, actor=actor, name=name)
        stored.append(quick_start.run_of(collection, pairs))
    return stored[0], stored[1:]


def add_queries(collection: Collection, runs: Sequence[Run]) -> None:
    """Create the queries of the runs in a collection without queries; their ids serve as texts."""
    if collection.queries.exists():
        return
    query_ids = list(dict.fromkeys(query_id for run in runs for query_id in stored_runs.ranked(run).query_ids))
    Query.objects.bulk_create(
        Query(collection=collection, query_id=query_id, text=query_id[:2048]) for query_id in query_ids
    )


@transaction.atomic
def store(
    collection: Collection,
    *,
    actor: User,
    baseline: Run | UploadedFile | None,
    candidates: Sequence[Run | UploadedFile],
    pasted: str = "",
    **texts: Any,
) -> tuple[Run, list[Run]]:
    """Store what the first step received, all of it or nothing, and return baseline and candidates.

    ``texts`` are the arguments of `store_texts`.
    """
    if pasted.strip():
        first, others = store_pasted(collection, pasted, actor=actor)
    else:
        store_texts(collection, actor=actor, **texts)
        if baseline is None:
            raise NotValid("The baseline is missing.", {"baseline_file": "Choose the run of your current system."})
        if not candidates:
            raise NotValid("The candidate is missing.", {"candidate_files": "Choose the run of the changed system."})
        first = (
            baseline
            if isinstance(baseline, Run)
            else store_run(collection, baseline, actor=actor, field="baseline_file")
        )
        others = [
            one if isinstance(one, Run) else store_run(collection, one, actor=actor, field="candidate_files")
            for one in candidates
        ]
    if first in others or len(set(others)) < len(others):
        message = "Two of these systems return identical lists, so there is no difference to judge."
        raise NotValid(message, "pasted" if pasted.strip() else "candidate_files")
    add_queries(collection, [first, *others])
    if not collection.runs.filter(baseline=True).exists():
        stored_runs.set_baseline(collection, first, actor=actor)
    return first, others
