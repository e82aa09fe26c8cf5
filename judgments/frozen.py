"""Read the stored files of a snapshot, checked against its manifest."""

from __future__ import annotations

import hashlib

from judgments import storage
from judgments.core.errors import AssayError, NotFound
from judgments.models import Snapshot

MANIFEST = "manifest.json"
# Export format to the bundle's file. Formats are those of judgments.formats.
FILES = {
    "trec-qrels": "qrels.txt",
    "judgment-list": "judgments.json",
    "queries-csv": "queries.csv",
    "queries-tsv": "queries.tsv",
    "ratings-csv": "ratings.csv",
    "document-hashes-csv": "document-hashes.csv",
}


def read_file(snapshot: Snapshot, path: str) -> bytes:
    """One file of the bundle, checked against the manifest each time that it leaves the house.

    Raises
    ------
    NotFound
        The bundle has no such file.
    AssayError
        The stored bytes are not the ones that were frozen.
    """
    if path == MANIFEST:
        return storage.read_bytes(f"{snapshot.folder}/{MANIFEST}")
    entry = next((entry for entry in snapshot.manifest["files"] if entry["path"] == path), None)
    if entry is None:
        raise NotFound(f"This snapshot has no file {path}.")
    body = storage.read_bytes(f"{snapshot.folder}/{path}")
    if hashlib.sha256(body).hexdigest() != entry["sha256"]:
        raise AssayError(f"{path} of snapshot {snapshot} is not what was frozen: its hash differs. Restore it.")
    return body
