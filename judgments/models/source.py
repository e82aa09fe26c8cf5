"""Label sources and imported labels, stored separately from judgments."""

from __future__ import annotations

from django.db import models

from judgments.models.document import Document
from judgments.models.fields import Authored, Named, PublicModel, check, unique
from judgments.models.members.collection import Collection
from judgments.models.members.user import User
from judgments.models.query import Query


class Upload(PublicModel):
    """A file that was read and is not stored in the collection yet."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=20)
    format = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    filename = models.CharField(max_length=255)
    path = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    bytes = models.BigIntegerField()
    report = models.JSONField(default=dict)
    preview = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="uploads")
    created_at = models.DateTimeField(auto_now_add=True)
    stored_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.filename


class UploadSession(PublicModel):
    """A file that a program sends in chunks, which are stored separately until the file is complete."""

    class State(models.TextChoices):
        RECEIVING = "receiving", "receiving"
        IMPORTING = "importing", "importing"
        DONE = "done", "done"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="upload_sessions")
    kind = models.CharField(max_length=20)
    filename = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    bytes = models.BigIntegerField()
    # The number of bytes received, and the paths of the chunks in storage, in order.
    offset = models.BigIntegerField(default=0)
    chunks = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RECEIVING)
    # The response to the import (status and body), which is repeated if the client did not receive it.
    outcome = models.JSONField(null=True)
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="upload_sessions")
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [check("upload_session_state_known", state__in=["receiving", "importing", "done"])]

    def __str__(self) -> str:
        return self.filename


class LabelSource(Named, PublicModel, Authored):
    """One import of labels, or labels computed from clicks."""

    class Kind(models.TextChoices):
        IMPORT = "import", "imported"
        CLICKS = "clicks", "from clicks"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="label_sources")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.IMPORT)
    sha256 = models.CharField(max_length=64)
    report = models.JSONField(default=dict)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            unique("label_source_name_once", "collection", "name"),
            unique("label_source_file_once", "collection", "sha256"),
            check("label_source_kind_known", kind__in=["import", "clicks"]),
        ]


class ImportedLabel(models.Model):
    """One label of a source, stored unchanged. It may be fractional or negative."""

    source = models.ForeignKey(LabelSource, on_delete=models.CASCADE, related_name="labels")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="imported_labels")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="imported_labels")
    value = models.FloatField()

    class Meta:
        constraints = [
            unique("imported_label_once", "source", "query", "document"),
        ]

    def __str__(self) -> str:
        return f"{self.value:g}"
