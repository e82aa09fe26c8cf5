"""Snapshots: freeze labels, decide who may see them, read their values, and export their files."""

from __future__ import annotations

import io
import uuid as uuid_module
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.urls import reverse

from assay.core.errors import Conflict, NotAllowed, NotFound, NotValid
from assay.core.text_rules import amount
from assay.formats import FORMATS
from assay.formats.manifest import manifest_bytes, write_zip
from judgments.agreement import gate
from judgments.agreement.gate import GateResult
from judgments.events.events import emit
from judgments.hooks import SNAPSHOT_LISTENERS
from judgments.labels import grade_visibility
from judgments.models import Collection, Judgment, Pair, Round, Snapshot, User, audit
from judgments.models.fields import checked_name, duplicates_raise
from judgments.models.snapshot import FILES, MANIFEST
from judgments.snapshots import baselines, bundle, data_card, merging
from judgments.snapshots.final_labels import Consolidation, LabelSet, compute_labels

# The formats into which an export converts the bundle's ratings, with their file names.
CONVERTED = {
    "ratings-xlsx": "ratings.xlsx",
    "label-studio-json": "label-studio.json",
    "label-studio-min-json": "label-studio-min.json",
    "label-studio-csv": "label-studio.csv",
    "argilla-json": "argilla.json",
    "quepid-book": "quepid-book.json",
    "quepid-book-csv": "quepid-book.csv",
}
EXPORTS = (*FILES, *CONVERTED, "bundle")


def freeze(
    collection: Collection,
    *,
    name: str,
    rounds: Sequence[Round],
    actor: User,
    override_reason: str = "",
    **choice: Any,
) -> Snapshot:
    """Freeze the labels of one or more rounds; the choice of the labels are the fields of a `Consolidation`."""
    name = name.strip()
    if not name:
        raise NotValid("The name of the snapshot is missing.", {"name": "Enter a name, for example autumn-1."})
    checked_name(name)
    how = Consolidation(**choice)
    taken = Conflict(f"A snapshot named {name} already exists. Choose another name.", "name")
    if collection.snapshots.filter(name=name).exists():
        raise taken
    # Compute this before locking rows; the call below then uses the cache.
    gate.evaluate_gates(rounds, how.sources)
    # Another snapshot with this name may be frozen at the same time.
    with duplicates_raise(taken):
        locked = _locked(rounds)
        _refuse_to_unblind(locked, actor)
        settled = compute_labels(collection, locked, **vars(how))
        if not settled.labels:
            nothing = "No pair has a grade yet, so there is nothing to freeze."
            raise NotValid(nothing, {"rounds": "Rate some pairs first."})
        merging.check_bridges(settled.merged, how.merge)
        held = gate.evaluate_gates(locked, how.sources)
        reason = override_reason.strip()
        gate.check(held, reason)
        frozen = _write(collection, locked, settled, how, held, name=name, override_reason=reason, created_by=actor)
        frozen.rounds.set(locked)
        audit.record(
            "snapshots.freeze",
            f"{actor} froze snapshot {name} with {amount(len(settled.labels), 'label')}",
            actor=actor,
            target=frozen,
            content_sha256=frozen.content_sha256,
            override_reason=reason,
        )
        emit(
            "snapshot.frozen",
            collection,
            text=f"Snapshot {name} was frozen.",
            page=reverse("snapshot", args=[frozen.uuid]),
            data={"snapshot": str(frozen.uuid), "name": name},
            actor=actor,
        )
        for tell in SNAPSHOT_LISTENERS:
            transaction.on_commit(partial(tell, frozen, actor))
        return frozen


def _locked(rounds: Sequence[Round]) -> list[Round]:
    """Lock the rounds and their pairs, so that no answer or resolution changes between the files of a bundle."""
    # In the order of keys, as answers lock them. Raters can still lease pairs.
    list(Pair.objects.select_for_update(no_key=True).filter(round__in=rounds).order_by("pk").values_list("pk"))
    rows = Round.objects.select_for_update(of=("self",)).filter(pk__in=[round_.pk for round_ in rounds])
    return list(rows.select_related("scale", "guidelines", "collection"))


def _refuse_to_unblind(rounds: Sequence[Round], actor: User) -> None:
    """Refuse a lead who still rates in an open round, because the labels would reveal other raters' grades."""
    for round_ in rounds:
        hidden = grade_visibility.hidden_pairs(actor, round_)
        if Judgment.objects.counted().filter(pair__in=hidden).exclude(rater=actor).exists():
            raise Conflict(
                f"You may still grade pairs in {round_}, and its labels would reveal other raters' grades. Finish "
                "rating or close the round first."
            )


def _write(
    collection: Collection,
    rounds: list[Round],
    settled: LabelSet,
    how: Consolidation,
    held: Sequence[GateResult],
    *,
    name: str,
    override_reason: str,
    created_by: User,
) -> Snapshot:
    """Store the bundle, and the row that refers to it."""
    queries = bundle.judged_queries(collection, rounds, settled)
    content = bundle.content(queries, rounds, settled, how)
    freezing = baselines.Freezing(collection, rounds, queries, settled)
    files = bundle.files(queries, rounds, settled, freezing.hashes)
    manifest = {
        **bundle.about(rounds, settled, how, held),
        **bundle.identity(name, content),
        "baseline": baselines.take(freezing),
        "license": collection.license,
        "override_reason": override_reason,
    }
    files |= bundle.texts(content, rounds)
    files[data_card.FILE] = bundle.text_file(data_card.write(manifest, content, rounds))
    manifest["files"] = bundle.entries(files)
    folder = f"snapshots/{uuid_module.uuid4().hex}"
    # Create the row first, so that a name that was taken in the meantime is refused before a file is stored.
    snapshot = Snapshot.objects.create(
        collection=collection,
        name=name,
        content_sha256=manifest["content_sha256"],
        rule=how.rule,
        folder=folder,
        manifest=manifest,
        summary=bundle.summary(manifest, settled),
        override_reason=override_reason,
        created_by=created_by,
    )
    for path, (_, body) in files.items():
        default_storage.save(f"{folder}/{path}", ContentFile(body))
    default_storage.save(f"{folder}/{MANIFEST}", ContentFile(manifest_bytes(manifest)))
    return snapshot


# Converting more ratings would take too long for a request.
WORKBOOK, MOST_CONVERTED = "ratings-xlsx", 50_000

# Labels of a snapshot never change, so smaller ones are cached, because every opened query reads them again.
CACHED_LABELS = 200_000
CACHE_SECONDS = 600


def check_reader(snapshot: Snapshot, reader: User) -> None:
    """Refuse a reader who may still grade a pair whose label the snapshot contains, in any round."""
    round_ = grade_visibility.hiding_round(reader, snapshot.collection, lambda: labels_of(snapshot))
    if round_ is not None:
        raise NotAllowed(
            f"You may still grade pairs in {round_}, and these labels contain their grades. You can read the labels "
            "after you finish rating or the round closes."
        )


def withheld_queries(
    reader: User, snapshot: Snapshot, hidden: set[grade_visibility.Key] | None = None
) -> frozenset[str]:
    """Return the queries whose labels and scores the reader may not see; `hidden` saves computing their keys again."""
    keys = grade_visibility.hidden_keys(reader, snapshot.collection) if hidden is None else hidden
    return grade_visibility.withheld_queries(keys, lambda: labels_of(snapshot))


def redacted_for(reader: User, collection: Collection, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a file or an API response, with hashes over labels null if the reader may not see them."""
    return body if grade_visibility.may_read_hashes(reader, collection) else _without_hashes(body)


def _without_hashes(body: Any, name: str = "") -> Any:
    if isinstance(body, dict):
        hidden = {"content_sha256", *(["sha256"] if name == "qrels" else [])}
        return {key: None if key in hidden else _without_hashes(value, key) for key, value in body.items()}
    return [_without_hashes(value, name) for value in body] if isinstance(body, list | tuple) else body


def labels_of(snapshot: Snapshot) -> Mapping[str, Mapping[str, float]]:
    """Return the snapshot's labels by query and document."""
    key = f"labels:{snapshot.uuid}"
    labels: Mapping[str, Mapping[str, float]] | None = cache.get(key)
    if labels is None:
        labels = snapshot.qrels().to_dict()
        if snapshot.summary.get("labels", 0) <= CACHED_LABELS:
            cache.set(key, labels, CACHE_SECONDS)
    return labels


def chosen_snapshot(collection: Collection, uuid: str) -> Snapshot | None:
    """Return the snapshot with this id, or the newest one; None if there is no snapshot."""
    rows = collection.snapshots(manager="of_documents").defer("manifest")
    if not uuid:
        return rows.first()
    snapshot = next((row for row in rows if str(row.uuid) == uuid), None)
    if snapshot is None:
        raise NotFound("This collection has no such snapshot.")
    return snapshot


def download(snapshot: Snapshot, format: str, *, reader: User) -> tuple[str, bytes]:
    """Return the file of `export`, or the ``manifest``, for a permitted reader, and record the download."""
    check_reader(snapshot, reader)
    if format == "manifest":
        file = f"{snapshot.collection.slug}-{MANIFEST}", snapshot.read_file(MANIFEST)
    else:
        file = export(snapshot, format)
    audit.record(
        "snapshots.download",
        f"{reader} downloaded {format} of snapshot {snapshot}",
        actor=reader,
        target=snapshot,
        format=format,
    )
    return file


def workbook_fault() -> str:
    """Return why this server cannot write workbooks, or an empty string."""
    if find_spec("openpyxl"):
        return ""
    return (
        "XLSX needs the extra xlsx, which is not installed on this server. The operator can install it: "
        "pip install 'assay[xlsx]'."
    )


def formats() -> list[str]:
    """Return the formats of `export` on this server."""
    return [name for name in EXPORTS if name != WORKBOOK or not workbook_fault()]


def export(snapshot: Snapshot, format: str) -> tuple[str, bytes]:
    """Return file name and bytes of one format, or of all files with the manifest as ``bundle``."""
    if format == "bundle":
        return f"{_file_name(snapshot)}.zip", _zipped(snapshot)
    if format in CONVERTED:
        return f"{_file_name(snapshot)}-{CONVERTED[format]}", _converted(snapshot, format)
    path = FILES.get(format, format)
    if path not in {entry["path"] for entry in snapshot.manifest["files"]}:
        raise NotFound(f"Unknown export format {format!r}. Available formats: {', '.join(formats())}.")
    return f"{_file_name(snapshot)}-{path}", snapshot.read_file(path)


def _converted(snapshot: Snapshot, format: str) -> bytes:
    """Return the frozen ratings in another format, which may not be able to store all of them."""
    if format == WORKBOOK and (fault := workbook_fault()):
        raise Conflict(fault)
    path, stream, write = FILES["ratings-csv"], io.BytesIO(), FORMATS[format].write
    read = FORMATS["ratings-csv"].read(snapshot.read_file(path), path=f"{snapshot}/{path}")
    if len(read.rows) > MOST_CONVERTED:
        raise Conflict(
            f"This snapshot has {len(read.rows):,} ratings, and at most {MOST_CONVERTED:,} are converted for a "
            f"download. Download {path} and convert it: assay convert {path} --to {format} --out {CONVERTED[format]}"
        )
    if write is None:
        raise AssertionError(f"{format} cannot be written")
    try:
        write(read.strict().rows, stream)
    except NotValid as error:
        raise Conflict(f"{path} cannot be written as {format}: {error}.") from error
    return stream.getvalue()


def _file_name(snapshot: Snapshot) -> str:
    safe_name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in snapshot.name)
    return f"{snapshot.collection.slug}-{safe_name}"


def _zipped(snapshot: Snapshot) -> bytes:
    stream = io.BytesIO()
    paths = [MANIFEST, *(entry["path"] for entry in snapshot.manifest["files"])]
    write_zip({path: snapshot.read_file(path) for path in paths}, stream)
    return stream.getvalue()
