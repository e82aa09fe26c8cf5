"""Read the stored files of a snapshot, checked against its manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from assay.core.errors import AssayError, NotFound
from assay.core.qrels import Qrels
from assay.formats.queries import read_written
from assay.formats.row_types import QueryRow
from assay.formats.trec_qrels import load_qrels
from judgments.jobs import storage
from judgments.models import Snapshot

MANIFEST = "manifest.json"
# The bundle's file for each export format of assay.formats.
FILES = {
    "trec-qrels": "qrels.txt",
    "judgment-list": "judgments.json",
    "queries-csv": "queries.csv",
    "queries-tsv": "queries.tsv",
    "ratings-csv": "ratings.csv",
    "document-hashes-csv": "document-hashes.csv",
}
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


def read_file(snapshot: Snapshot, path: str) -> bytes:
    """Return one file of the bundle, after checking it against the manifest."""
    if path == MANIFEST:
        return storage.read_bytes(f"{snapshot.folder}/{MANIFEST}")
    entry = next((entry for entry in snapshot.manifest["files"] if entry["path"] == path), None)
    if entry is None:
        raise NotFound(f"This snapshot has no file {path}.")
    body = storage.read_bytes(f"{snapshot.folder}/{path}")
    if hashlib.sha256(body).hexdigest() != entry["sha256"]:
        raise AssayError(
            f"{path} of snapshot {snapshot} changed after freezing: its hash differs. Restore the file from a backup."
        )
    return body


def qrels_of(snapshot: Snapshot) -> Qrels:
    """Return the snapshot's labels."""
    return load_qrels(read_file(snapshot, FILES["trec-qrels"]), path=f"{snapshot}/{FILES['trec-qrels']}")


def queries_of(snapshot: Snapshot) -> Sequence[QueryRow]:
    """Return the queries that were frozen with the labels."""
    return read_written(read_file(snapshot, FILES["queries-csv"]), FILES["queries-csv"])
