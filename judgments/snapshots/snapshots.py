"""Frozen labels of a snapshot: their visibility, their values, and the export of their files.

`judgments.snapshots.freezing` freezes snapshots and `judgments.labels.snapshot_files` reads them. Their functions are
also available here.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.core.cache import cache

from assay.core.errors import NotAllowed, NotFound
from judgments.labels import grade_visibility
from judgments.labels.snapshot_files import FILES, MANIFEST, read_file
from judgments.models import Collection, Snapshot, User, audit
from judgments.snapshots.freezing import freeze, preview

if TYPE_CHECKING:
    from assay.core.qrels import Qrels

# Labels of a snapshot never change, so smaller ones are cached, because every opened query reads them again.
CACHED_LABELS = 200_000
CACHE_SECONDS = 600

__all__ = [
    "FILES",
    "MANIFEST",
    "check_reader",
    "chosen_snapshot",
    "download",
    "export",
    "freeze",
    "labels_of",
    "preview",
    "qrels_of",
    "read_file",
    "redacted_for",
    "withheld_queries",
]


def check_reader(snapshot: Snapshot, reader: User) -> None:
    """Refuse a reader who may still grade a pair whose label the snapshot contains, in any round."""
    round_ = grade_visibility.hiding_round(reader, snapshot.collection, lambda: labels_of(snapshot))
    if round_ is not None:
        raise NotAllowed(
            f"You still rate in {round_}, and these labels contain grades of pairs that you may still grade. You can "
            "read them after you finish rating, or after the round closes."
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


def qrels_of(snapshot: Snapshot) -> Qrels:
    """Return the snapshot's labels, read from its qrels file, whose hash is checked."""
    from assay.formats.trec_qrels import load_qrels

    return load_qrels(read_file(snapshot, FILES["trec-qrels"]), path=f"{snapshot}/{FILES['trec-qrels']}")


def labels_of(snapshot: Snapshot) -> Mapping[str, Mapping[str, float]]:
    """Return the snapshot's labels by query and document."""
    key = f"labels:{snapshot.uuid}"
    labels: Mapping[str, Mapping[str, float]] | None = cache.get(key)
    if labels is None:
        labels = qrels_of(snapshot).to_dict()
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
        file = f"{snapshot.collection.slug}-{MANIFEST}", read_file(snapshot, MANIFEST)
    else:
        file = export(snapshot, format)
    audit.record(
        "snapshots.download",
        f"{reader} downloaded {format} of snapshot {snapshot}",
        actor=reader,
        collection=snapshot.collection,
        target=snapshot,
        format=format,
    )
    return file


def export(snapshot: Snapshot, format: str) -> tuple[str, bytes]:
    """Return file name and bytes of one format, or of all files with the manifest as ``bundle``."""
    if format == "bundle":
        return f"{_file_name(snapshot)}.zip", _zipped(snapshot)
    if format not in FILES:
        raise NotFound(f"Unknown export format {format!r}. Available formats: {', '.join([*FILES, 'bundle'])}.")
    return f"{_file_name(snapshot)}-{FILES[format]}", read_file(snapshot, FILES[format])


def _file_name(snapshot: Snapshot) -> str:
    safe_name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in snapshot.name)
    return f"{snapshot.collection.slug}-{safe_name}"


def _zipped(snapshot: Snapshot) -> bytes:
    from assay.formats.bundles import write_zip

    stream = io.BytesIO()
    paths = [MANIFEST, *(entry["path"] for entry in snapshot.manifest["files"])]
    write_zip({path: read_file(snapshot, path) for path in paths}, stream)
    return stream.getvalue()
