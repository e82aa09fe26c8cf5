"""Snapshots: frozen labels with their provenance, hash and stored files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.core.files.storage import default_storage
from django.db import models

from assay.core.errors import AssayError, NotFound
from judgments.models.fields import EventModel, EventQuerySet, Named, PublicModel, unique
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.round import Round

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.formats.row_types import QueryRow

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
# Column 2 of a snapshot's qrels: where a label comes from.
HUMAN, MACHINE, IMPORTED, CARRIED = "0", "1", "2", "3"


class SnapshotsOfDocuments(models.Manager.from_queryset(EventQuerySet)):  # type: ignore[misc]
    """The snapshots with labels of documents: runs can be scored on them, and they can become stale."""

    def get_queryset(self) -> Any:
        of_answers = Snapshot.rounds.through.objects.exclude(round__dimension="")
        return super().get_queryset().exclude(pk__in=of_answers.values("snapshot"))


class Snapshot(Named, PublicModel, EventModel):
    """A frozen, hashed set of labels: this row points to its files in storage."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="snapshots")
    name = models.CharField(max_length=120)
    content_sha256 = models.CharField(max_length=64)
    rule = models.CharField(max_length=20)
    folder = models.CharField(max_length=200)
    manifest = models.JSONField()
    summary = models.JSONField(default=dict)  # labels, queries, labels by grade and agreement, shown in lists
    override_reason = models.TextField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    rounds = models.ManyToManyField(Round, related_name="snapshots")

    objects = EventQuerySet.as_manager()
    of_documents = SnapshotsOfDocuments()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [unique("snapshot_name_once", "collection", "name")]

    @property
    def of_answers(self) -> bool:
        """Whether the labels are of answers of RAG systems."""
        return self.rounds.exclude(dimension="").exists()

    def entry(self, path: str) -> dict[str, Any]:
        """Return the manifest's entry for a file: path, size and hash."""
        entries = (entry for entry in self.manifest["files"] if entry["path"] == path)
        if (entry := next(entries, None)) is None:
            raise NotFound(f"This snapshot has no file {path}.")
        return entry

    def read_file(self, path: str) -> bytes:
        """Return one stored file, after checking it against the manifest."""
        expected = None if path == MANIFEST else self.entry(path)["sha256"]
        with default_storage.open(f"{self.folder}/{path}", "rb") as file:
            body: bytes = file.read()
        if expected is not None and hashlib.sha256(body).hexdigest() != expected:
            raise AssayError(
                f"{path} of snapshot {self} changed after freezing: its hash differs. Restore the file from a backup."
            )
        return body

    def qrels(self) -> Qrels:
        """Return the labels."""
        from assay.formats.trec_qrels import load_qrels

        path = FILES["trec-qrels"]
        return load_qrels(self.read_file(path), path=f"{self}/{path}")

    def queries(self) -> Sequence[QueryRow]:
        """Return the queries that were frozen with the labels."""
        from assay.formats.queries import read_written

        path = FILES["queries-csv"]
        return read_written(self.read_file(path), path)
