"""API endpoint to list and upload documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers

from judgments.api.import_bodies import documented
from judgments.api.imports import Imports
from judgments.api.posted import PostedFile, json_lines
from judgments.models import Document


class DocumentSent(serializers.Serializer):
    """A document; keys that are not listed here go to its fields."""

    doc_id = serializers.CharField(help_text="The collection's own id; `id` and `_id` are read for it.")
    title = serializers.CharField(required=False)
    text = serializers.CharField(required=False)
    url = serializers.CharField(required=False)
    image = serializers.CharField(required=False)
    fields = serializers.DictField(required=False)


class DocumentBody(serializers.Serializer):
    """A document as it is now."""

    id = serializers.UUIDField(source="uuid")
    doc_id = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    url = serializers.CharField()
    image = serializers.CharField()
    fields = serializers.DictField()
    content_sha256 = serializers.CharField()
    stub = serializers.BooleanField(help_text="Named by a run or a label; nobody has sent its content yet.")
    changed_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="The documents", parameters=[OpenApiParameter("doc_id", str)]),
    post=documented(
        "Send documents", DocumentSent, [{"doc_id": "d1", "title": "Fell jacket", "text": "Three layers, taped."}]
    ),
)
class Documents(Imports):
    """The documents of a collection, by their ids."""

    kind = "documents"
    queryset = Document.objects.order_by("doc_id")
    serializer_class = DocumentBody
    filters = {"doc_id": "doc_id"}
    tag = "documents"

    def as_file(self, rows: Sequence[Any], asked: dict[str, Any]) -> PostedFile:
        return json_lines("documents-jsonl", rows)
