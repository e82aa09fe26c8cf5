"""Sample sets of a collection: import, storage and visibility."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.http import FileResponse, HttpRequest

from assay.core.errors import AssayError, Conflict, NotAllowed, NotValid
from assay.core.run import stem
from assay.core.text_rules import amount, storable
from assay.formats.json_lines import dump
from assay.rag import samples_jsonl
from assay.rag.metric import Skip
from assay.rag.metrics.sliced_metric import label_text
from assay.rag.metrics.variants import parents
from assay.rag.records import EvaluationSample
from evaluation.models import RagOutput, RagSample, RagSampleSet, RagSystem
from judgments.imports import ingestion
from judgments.imports.kinds import Checked, Finding, ImportKind, stored_as
from judgments.models import Collection, Snapshot, Upload, User
from judgments.models.fields import checked_name
from judgments.snapshots import snapshots
from judgments.web import access
from judgments.web.downloads import CONTENT_TYPES, disposition

Record = TypeVar("Record")


@dataclass(frozen=True)
class Placed(Generic[Record]):
    """A record with the byte position of its line in the file."""

    record: Record
    start: int
    length: int


@dataclass(frozen=True)
class Stored(Generic[Record]):
    """A file in storage, with its hash and records."""

    path: str
    sha256: str
    records: list[Placed[Record]]


def write(records: Iterable[Record], to_dict: Callable[[Record], dict[str, Any]], name: str) -> Stored[Record]:
    """Write records to a new file."""
    body, placed = io.BytesIO(), []
    for record in records:
        start = body.tell()
        try:
            body.write(dump(to_dict(record)))
        except NotValid as error:
            raise NotValid(f"sample {record.sample_id!r} {error}") from error  # type: ignore[attr-defined]
        placed.append(Placed(record, start, body.tell() - start))
    content = body.getvalue()
    path = default_storage.save(f"rag/{name}.jsonl", ContentFile(content))
    return Stored(path, hashlib.sha256(content).hexdigest(), placed)


def write_upload(
    checked: Checked, upload: Upload, to_dict: Callable[[Any], dict[str, Any]], format_name: str
) -> Checked:
    """Write the records of an upload to the file that stays in storage."""
    stored = write(checked.rows, to_dict, upload.uuid.hex)
    return replace(checked, rows=stored.records, stored=(stored.path, format_name), hashes=(stored.sha256,))


def of_upload(checked: Checked) -> Stored[Any]:
    """Return the file that `write_upload` wrote."""
    if checked.stored is None:
        raise AssertionError("an upload is written before it is stored")
    return Stored(checked.stored[0], checked.hashes[0], list(checked.rows))


def upload_fields(upload: Upload, options: Mapping[str, Any], default: str) -> dict[str, Any]:
    """Return the fields that a sample set or a system stores about its upload: name, file and report."""
    return {
        "name": str(options.get("name") or stem(upload.filename) or default),
        "filename": upload.filename,
        "sha256": upload.sha256,
        "report": {name: upload.report.get(name, {}) for name in ("bins", "codes")},
    }


@contextmanager
def checked(row: RagSampleSet | RagSystem) -> Iterator[Path]:
    """Return the file of a sample set or a system, after checking its hash."""
    try:
        with ingestion.local(row.path) as path:
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            if digest != row.stored_sha256:
                raise AssayError(f"The file of {row} changed in storage: its hash differs. Restore it from a backup.")
            yield path
    except FileNotFoundError as error:
        raise AssayError(f"The file of {row} is not in storage. Restore it from a backup.") from error


def download(row: RagSampleSet | RagSystem, name: str) -> FileResponse:
    """Return the file of a sample set or a system, after checking its hash."""
    with checked(row):
        response = FileResponse(default_storage.open(row.path), content_type=CONTENT_TYPES["jsonl"])
    response.headers["Content-Disposition"] = disposition(name)
    return response


def objects(row: RagSampleSet | RagSystem, index: Iterable[RagSample | RagOutput]) -> list[dict[str, Any]]:
    """Return the objects on the lines of these index rows."""
    records = []
    try:
        with default_storage.open(row.path) as stream:
            for one in index:
                stream.seek(one.start)
                records.append(json.loads(stream.read(one.length)))
    except (FileNotFoundError, ValueError) as error:
        raise AssayError(f"The file of {row} is missing or damaged in storage. Restore it from a backup.") from error
    return records


# Labels with more or longer values identify samples instead of grouping them.
MOST_VALUES, LONGEST_VALUE = 20, 100
PARENT = "variant_of"


def check(collection: Collection, rows: Sequence[EvaluationSample], upload: Upload) -> Checked:
    """Compare samples with the collection, and warn about samples that few metrics can use."""
    earlier = collection.rag_sample_sets.filter(sha256=upload.sha256).first()
    if earlier is not None:
        raise Conflict(f"This collection already contains {upload.filename} as the sample set {earlier}.")
    findings = []
    links = list(zip(rows, parents(rows), strict=True))
    strays = [row for row, parent in links if parent == Skip("unknown_parent")]
    if strays:
        what = f"{amount(len(strays), 'variant')} of samples that are not in the file. The first is "
        fix = "Add the samples that `variant_of` names, or correct the ids."
        done = "stored; robustness metrics skip these samples"
        findings.append(_finding("W60", strays[0], what + repr(strays[0].sample_id), done, fix))
    circular = [row for row, parent in links if parent == Skip("circular_variant")]
    if circular:
        what = f"{amount(len(circular), 'sample')} with a circular `variant_of`. The first is "
        fix = "Correct `variant_of`, so that every variant leads to a sample that is not a variant."
        done = "stored; robustness metrics skip these samples"
        findings.append(_finding("W62", circular[0], what + repr(circular[0].sample_id), done, fix))
    answerable = (row for row in rows if row.labels.get("scenario") != "unanswerable")
    bare = [row for row in answerable if not row.references and not row.relevant_docs]
    if bare:
        what = f"{amount(len(bare), 'sample')} without a reference answer or relevant documents. The first is "
        fix = "Add `reference_answer` or `relevant_docs`."
        done = "stored; metrics that need them skip these samples"
        findings.append(_finding("W61", bare[0], what + repr(bare[0].sample_id), done, fix))
    return Checked(rows, findings, figures_of(rows))


def _finding(code: str, row: EvaluationSample, what: str, done: str, fix: str) -> Finding:
    return Finding(None, code, row.sample_id, what, done, fix)


def figures_of(rows: Sequence[EvaluationSample]) -> dict[str, Any]:
    """Count the fields that metrics can use."""
    return {
        "samples": len(rows),
        "with a reference answer": sum(bool(row.references) for row in rows),
        "with relevant documents": sum(bool(row.relevant_docs) for row in rows),
        "with a parent sample": sum(PARENT in row.labels for row in rows),
    }


def labels_of(rows: Sequence[EvaluationSample]) -> dict[str, dict[str, int]]:
    """Return the labels that samples can be sliced by, with the number of samples of each value."""
    names = dict.fromkeys(name for row in rows for name in row.labels if name != PARENT)
    labels = {}
    for name in names:
        values = Counter(label_text(row.labels.get(name)) for row in rows)
        if 1 < len(values) <= MOST_VALUES and all(len(value) <= LONGEST_VALUE for value in (name, *values)):
            labels[storable(name)] = {storable(value): count for value, count in sorted(values.items())}
    return labels


def prepare(checked: Checked, upload: Upload, *, progress: object = None) -> Checked:
    """Write the samples to the file that stays in storage."""
    return write_upload(checked, upload, samples_jsonl.to_dict, samples_jsonl.NAME)


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Add an uploaded file as a sample set."""
    fields = upload_fields(upload, options, "samples")
    made = add(collection, of_upload(checked), actor=actor, **fields)
    return {"rows": made.rows, "id": str(made.uuid), "name": made.name}


@transaction.atomic
def add(
    collection: Collection, stored: Stored[EvaluationSample], *, name: str, actor: Any, **more: Any
) -> RagSampleSet:
    """Add a file of samples as a sample set, with an index row for each sample."""
    records = [placed.record for placed in stored.records]
    made = RagSampleSet.objects.create(
        collection=collection,
        name=free_name(collection, name),
        path=stored.path,
        stored_sha256=stored.sha256,
        rows=len(records),
        figures=figures_of(records),
        labels=labels_of(records),
        created_by=actor,
        **more,
    )
    RagSample.objects.bulk_create(
        (
            RagSample(
                sample_set=made,
                sample_id=placed.record.sample_id,
                position=position,
                query=storable(placed.record.query)[:2000],
                labels={
                    storable(key): storable(label_text(value))[:LONGEST_VALUE]
                    for key, value in placed.record.labels.items()
                },
                start=placed.start,
                length=placed.length,
            )
            for position, placed in enumerate(stored.records)
        ),
        batch_size=1000,
    )
    return made


def free_name(collection: Collection, wanted: str) -> str:
    """Return the name if no other sample set has it."""
    name = checked_name(wanted.strip()[:120] or "samples")
    if collection.rag_sample_sets.filter(name=name).exists():
        raise Conflict(f"Another sample set is called {name}. Choose another name, for example {name[:110]}-2.")
    return name


def sample_set_for(user: Any, collection: Collection, uuid: Any) -> RagSampleSet:
    """Return a sample set of a collection that the user may access."""
    rows = RagSampleSet.objects.select_related("collection", "snapshot").filter(collection=collection)
    sample_set = access.reach(rows, user, access.STAFF, uuid=uuid)
    if sample_set.snapshot is not None:
        check_reader(user, sample_set.snapshot)
    return sample_set


def sample_set_of(request: HttpRequest, slug: str, uuid: str, roles: tuple[str, ...] = access.STAFF) -> RagSampleSet:
    """Return the sample set of a page."""
    return sample_set_for(request.user, access.collection_for(request.user, slug, roles), uuid)


def check_reader(user: Any, snapshot: Snapshot) -> None:
    """Refuse a reader who may still grade pairs of the snapshot."""
    if withheld := snapshots.withheld_queries(user, snapshot):
        raise NotAllowed(
            f"These samples reveal labels of {snapshot}, and you may still have to grade pairs of {len(withheld):,} of "
            "its queries. Finish grading first."
        )


SAMPLES = ImportKind(
    name="samples",
    existing=lambda collection, sha256: stored_as(collection.rag_sample_sets, sha256),
    title="RAG samples",
    format_kind="samples",
    default_format=samples_jsonl.NAME,
    check=check,
    store=store,
    prepare=prepare,
    roles=access.STAFF,
    columns=("sample_id", "query", "reference_answer"),
    asks=("name",),
    quiet=frozenset({"with relevant documents", "with a reference answer", "with a parent sample"}),
)
