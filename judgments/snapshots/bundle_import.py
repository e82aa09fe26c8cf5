"""Import of a snapshot's bundle: another collection gets a snapshot with the same hash and the same files."""

from __future__ import annotations

import uuid as uuid_module
from collections import Counter
from functools import partial
from typing import IO, Any

from django.db import transaction

from assay.core.counted_nouns import amount
from assay.core.errors import Conflict, NotValid, UnreadableInput
from assay.core.ids import id_fault
from assay.core.read_report import BINS, Report
from assay.formats.bundles import zipped
from assay.formats.manifest import FILE
from assay.formats.snapshot_bundle import SnapshotBundle, read_bundle
from judgments.documents.answers import answers_by_id
from judgments.hooks import SNAPSHOT_LISTENERS
from judgments.imports import queries
from judgments.imports.documents import stubs_for
from judgments.imports.kinds import Checked, ImportKind
from judgments.jobs import storage
from judgments.models import Collection, Snapshot, Upload, User, audit
from judgments.models.fields import duplicates_raise
from judgments.snapshots.manifest_schema import shape_fault
from judgments.web.access import LEADS

# The part of a manifest that describes the collection in which the labels were frozen, not the one that imports them.
ELSEWHERE = "baseline"


def read(stream: IO[bytes], upload: Upload) -> tuple[SnapshotBundle, Report]:
    """Return the bundle if its files agree with its manifest and its hash."""
    name = upload.filename
    bundle = read_bundle(zipped(stream, name), name)  # type: ignore[arg-type]
    nested = [entry["path"] for entry in bundle.manifest["files"] if "/" in entry["path"]]
    if fault := f"lists the file {nested[0]} in a folder" if nested else shape_fault(bundle.manifest):
        raise UnreadableInput(name, None, f"its manifest {fault}", "export the bundle again", "F06")
    if any("dimension" in one for one in bundle.manifest["rounds"]):
        what = "has labels of answers of RAG systems, which belong to outputs that it does not contain"
        raise UnreadableInput(name, None, what, "import a bundle with labels of documents", "F06")
    rows = len(bundle)
    bins = dict.fromkeys(BINS, 0) | {"accepted": rows}
    return bundle, Report(name, "manifest", upload.sha256, upload.bytes, rows, rows, bins)


def check(collection: Collection, bundle: SnapshotBundle, upload: Upload) -> Checked:
    """Refuse a bundle that the collection has, or whose queries have another text here; count what is new."""
    sha256 = bundle.manifest["content_sha256"]
    if existing := collection.snapshots.filter(content_sha256=sha256).defer("manifest").first():
        raise Conflict(f"The collection already has these labels, as the snapshot {existing}. Nothing was stored.")
    compared = queries.check(collection, bundle.queries, upload)
    if faults := [finding for finding in compared.findings if finding.severity == "error"]:
        problem = f"{amount(len(faults), 'query', 'queries')} of the bundle cannot be added here: {faults[0].what}"
        raise NotValid(f"{problem}. Import the bundle into another collection.")
    answers = answers_by_id(collection, [row.doc_id for row in bundle])
    if answers:
        problem = f"the document id {next(iter(answers))} is the id of an answer in this collection"
        raise NotValid(f"{problem.capitalize()}. Import the bundle into another collection.")
    known = set(collection.queries.values_list("query_id", flat=True))
    documents = {row.doc_id for row in bundle}
    figures = {
        "labels": len(bundle),
        "queries": len(bundle.queries),
        "new queries": sum(row.query_id not in known for row in bundle.queries),
        "documents": len(documents),
    }
    return Checked(bundle, compared.findings, figures, name=bundle.manifest["list"]["name"])


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Add the snapshot with the files of the bundle, its new queries, and unknown documents without content."""
    bundle: SnapshotBundle = checked.rows  # type: ignore[assignment]
    manifest = bundle.manifest
    name = str(options.get("name") or manifest["list"]["name"]).strip()[:120]
    if fault := id_fault(name):
        raise NotValid(f"The name {fault[1]}.", {"name": f"The name {fault[1]}. Use letters, digits and punctuation."})
    known = set(collection.queries.values_list("query_id", flat=True))
    new = [row for row in bundle.queries if row.query_id not in known]
    queries.store(collection, Checked(new), upload, {}, actor)
    stubs_for(collection, (row.doc_id for row in bundle))
    folder = f"snapshots/{uuid_module.uuid4().hex}"
    with duplicates_raise(Conflict(f"A snapshot named {name} already exists. Choose another name.", "name")):
        snapshot = Snapshot.objects.create(
            collection=collection,
            name=name,
            content_sha256=manifest["content_sha256"],
            rule=manifest["consolidation"]["rule"],
            folder=folder,
            manifest={
                **{key: value for key, value in manifest.items() if key != ELSEWHERE},
                "imported": {"file": upload.filename, "sha256": upload.sha256},
            },
            summary=_summary(bundle),
            override_reason=manifest["override_reason"],
            created_by=actor,
        )
    with storage.local(upload.path) as path, path.open("rb") as stream:
        files = zipped(stream, upload.filename)
        for part in [FILE, *(entry["path"] for entry in manifest["files"])]:
            storage.keep(folder, part, files[part]())
    audit.record(
        "snapshots.import",
        f"{actor} imported snapshot {snapshot} with {amount(len(bundle), 'label')}",
        actor=actor,
        target=snapshot,
        content_sha256=snapshot.content_sha256,
    )
    for tell in SNAPSHOT_LISTENERS:
        transaction.on_commit(partial(tell, snapshot, actor))
    return {"rows": len(bundle), "id": str(snapshot.uuid), "name": name, "new": len(new)}


def _summary(bundle: SnapshotBundle) -> dict[str, Any]:
    """Return the numbers that lists of snapshots show."""
    counts = bundle.manifest["counts"]
    return {
        "labels": len(bundle),
        "queries": len({row.query_id for row in bundle}),
        "by_grade": {f"{grade:.0f}": number for grade, number in Counter(row.grade for row in bundle).items()},
        "conflicts": counts["conflicts"],
        "adjudicated": counts["adjudicated"],
    }


def _existing(collection: Collection, sha256: str) -> dict[str, Any] | None:
    row = collection.snapshots.filter(manifest__imported__sha256=sha256).defer("manifest").first()
    return None if row is None else {"id": str(row.uuid), "name": row.name}


BUNDLES = ImportKind(
    name="bundles",
    title="Snapshot bundle",
    format_kind="manifest",
    default_format="manifest",
    read=read,
    check=check,
    store=store,
    roles=LEADS,
    columns=("query_id", "doc_id", "grade", "origin"),
    asks=("name",),
    existing=_existing,
)
