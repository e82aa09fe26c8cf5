"""API endpoint to list and upload documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers

from judgments.imports.api.imports import Imports
from judgments.imports.api.serializers import documented
from judgments.imports.posted_lists import PostedFile, json_lines
from judgments.models import Document


class DocumentSent(serializers.Serializer):
    """A document. Other keys are stored in `fields`."""

    doc_id = serializers.CharField(help_text="The collection's own id. The keys `id` and `_id` are accepted too.")
    title = serializers.CharField(required=False)
    text = serializers.CharField(required=False)
    url = serializers.CharField(required=False)
    image = serializers.CharField(required=False)
    fields = serializers.DictField(required=False)


class DocumentBody(serializers.Serializer):
    """A stored document."""

    id = serializers.UUIDField(source="uuid")
    doc_id = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    url = serializers.CharField()
    image = serializers.CharField()
    fields = serializers.DictField()
    content_sha256 = serializers.CharField()
    stub = serializers.BooleanField(help_text="Whether only the id is known, from a run or a label.")
    changed_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="List documents", parameters=[OpenApiParameter("doc_id", str)]),
    post=documented(
        "Upload documents", DocumentSent, [{"doc_id": "d1", "title": "Fell jacket", "text": "Three layers, taped."}]
    ),
)
class Documents(Imports):
    """The documents of a collection."""

    kind = "documents"
    queryset = Document.objects.order_by("doc_id")
    serializer_class = DocumentBody
    filters = {"doc_id": "doc_id"}
    tag = "documents"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return json_lines("documents-jsonl", rows)
