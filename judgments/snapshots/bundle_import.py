"""Import of a snapshot's bundle: another collection gets a snapshot with the same hash and the same files."""

from __future__ import annotations

import json
import re
import uuid as uuid_module
from collections import Counter
from functools import partial
from typing import IO, Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from assay.aggregation import RULES
from assay.core.errors import Conflict, NotValid, UnreadableInput
from assay.core.read_report import BINS, Report
from assay.core.text_rules import amount
from assay.formats.manifest import FILE, zipped
from assay.formats.snapshot_bundle import CONTENT, SnapshotBundle, read_bundle
from judgments.documents.answers import answers_by_id
from judgments.hooks import SNAPSHOT_LISTENERS
from judgments.imports import ingestion, queries
from judgments.imports.documents import stubs_for
from judgments.imports.kinds import Checked, ImportKind
from judgments.labels import grade_visibility
from judgments.models import Collection, Snapshot, Upload, User, audit
from judgments.models.fields import checked_name, duplicates_raise
from judgments.models.snapshot import FILES
from judgments.snapshots import data_card
from judgments.web.access import LEADS

MOST_CHARACTERS = 1 << 20
COUNT = {"type": "integer", "minimum": 0}
NUMBER = {"type": ["number", "null"]}
TEXT = {"type": "string", "maxLength": 10_000}
SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


COEFFICIENT = _object({"value": NUMBER, "low": NUMBER, "high": NUMBER, "n": COUNT})
AGREEMENT = _object({"alpha": _object({"ordinal": COEFFICIENT}), "overlap": COUNT})
GATE = _object(
    {
        "state": {"enum": ["passed", "undecided", "failed", "undefined"]},
        "coefficient": TEXT,
        "threshold": {"type": "number"},
    }
)
POOL = {
    **_object({}, strategy=TEXT, runs=_list(_object({"sha256": TEXT})), seed={"type": ["integer", "null"]}),
    "if": {"properties": {"strategy": {"const": "depth"}}, "required": ["strategy", "runs"]},
    "then": _object({"parameters": _object({"depth": COUNT})}),
}
BRIDGE = _object(
    {
        "round": TEXT,
        "rated_again": COUNT,
        "labelled": COUNT,
        "same": COUNT,
        "agreement": _object({"alpha": COEFFICIENT}),
    }
)
SCHEMA = _object(
    {
        "content_sha256": SHA256,
        "consolidation": _object(
            {"rule": {"enum": list(RULES)}, "tie": TEXT, "merge": TEXT, "sources": _list(TEXT)}, unrateable=TEXT
        ),
        "counts": _object(
            dict.fromkeys(
                ("labels", "queries", "ratings", "raters", "unrated_omitted", "unrateable", "conflicts", "adjudicated"),
                COUNT,
            ),
            carried=COUNT,
            unrateable_as_zero=COUNT,
            by_machine=COUNT,
        ),
        "list": _object({"name": {"type": "string", "minLength": 1}, "frozen_at": TEXT}),
        "license": {"type": "string", "maxLength": 200},
        "override_reason": TEXT,
        "scale": _object(
            {"grades": _list({"type": "integer"}), "labels": _list(TEXT)}, relevant_from={"type": "integer"}
        ),
        "rounds": _list(_object({"name": TEXT, "guidelines_version": COUNT, "agreement": AGREEMENT}, gate=GATE)),
        "provenance": _object(
            {
                "rounds": _list(_object({"guidelines_sha256": SHA256, "pool": POOL})),
                "sampling": _list(_object({"log_sha256": TEXT, "method": TEXT, "seed": {"type": "integer"}})),
                "software": TEXT,
            }
        ),
        "warnings": _list(TEXT),
    },
    merge=_object({"bridges": _list(BRIDGE)}),
)


def shape_fault(manifest: dict[str, Any]) -> str:
    """Return the first fault in a manifest's shape, or an empty string."""
    from jsonschema import Draft202012Validator

    if len(json.dumps(manifest)) > MOST_CHARACTERS:
        return f"is larger than {MOST_CHARACTERS >> 20} MB"

    error = next(iter(Draft202012Validator(SCHEMA).iter_errors(manifest)), None)
    if error is None:
        return ""
    place = ".".join(map(str, error.absolute_path)) or "the manifest"
    return f"is not one of a snapshot: {place}: {error.message[:200]}"


KNOWN = re.compile("|".join([*map(re.escape, (*FILES.values(), CONTENT, data_card.FILE)), r"guidelines-\d{1,9}\.md"]))
MOST_UNPACKED = 1 << 29
# Of a manifest. Its "baseline" describes the collection in which the labels were frozen, not the one that imports them.
CONTENT_KEYS = {*SCHEMA["properties"], "assay_manifest", "files", "options"}


def read(stream: IO[bytes], upload: Upload) -> tuple[SnapshotBundle, Report]:
    """Return the bundle if its files agree with its manifest and its hash."""
    name = upload.filename
    files = zipped(stream, name)  # type: ignore[arg-type]
    if strange := [path for path in files if path != FILE and not KNOWN.fullmatch(path)]:
        what = f"contains {strange[0][:80]!r}, which is no file of a snapshot"
        raise UnreadableInput(name, None, what, "remove it or export the bundle again", "F06")
    bundle = read_bundle(files, name)
    paths = [entry["path"] for entry in bundle.manifest["files"]]
    unpacked = sum(entry["bytes"] for entry in bundle.manifest["files"])
    if unpacked > MOST_UNPACKED:
        what = f"has more than {MOST_UNPACKED >> 20:,} MB when unpacked"
        raise UnreadableInput(name, None, what, "import its qrels and queries instead", "F06")
    if fault := "lists a file twice" if len(set(paths)) < len(paths) else shape_fault(_of_row(bundle.manifest)):
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
    _refuse_guesses(collection, upload.created_by)
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
    name = checked_name(str(options.get("name") or manifest["list"]["name"]).strip()[:120])
    _refuse_guesses(collection, actor)
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
                **_of_row(manifest),
                "imported": {"file": upload.filename, "sha256": upload.sha256},
            },
            summary=_summary(bundle),
            override_reason=manifest["override_reason"],
            created_by=actor,
        )
    _keep_files(folder, upload, [FILE, *(entry["path"] for entry in manifest["files"])])
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


def _refuse_guesses(collection: Collection, actor: User) -> None:
    """Refuse a lead who may still grade pairs here: whether a hash is known would confirm a guess of hidden labels."""
    if not grade_visibility.may_read_hashes(actor, collection):
        raise Conflict("You may still grade pairs in this collection. Finish rating before you import a bundle.")


def _of_row(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what the database keeps of a manifest; its file has everything."""
    return {key: value for key, value in manifest.items() if key in CONTENT_KEYS}


def _keep_files(folder: str, upload: Upload, names: list[str]) -> None:
    """Store the files; if one cannot be stored, none stays."""
    stored = []
    try:
        with ingestion.local(upload.path) as path, path.open("rb") as stream:
            files = zipped(stream, upload.filename)
            for name in names:
                stored.append(default_storage.save(f"{folder}/{name}", ContentFile(files[name]())))
    except BaseException:
        for path_stored in stored:
            default_storage.delete(path_stored)
        raise


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
    file_help="The zip file from Download bundle on a snapshot’s page.",
    existing=_existing,
)
