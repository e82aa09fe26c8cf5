"""API endpoints to import labels as separate label sources, and judgments as closed rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers

from judgments.imports.api.imports import Imports
from judgments.imports.api.serializers import documented
from judgments.imports.imported_rounds import IMPORTED
from judgments.imports.posted_lists import PostedFile, labels, table
from judgments.labels import grade_visibility
from judgments.models import LabelSource, Round


class RatingSent(serializers.Serializer):
    """One rating of a judgment list."""

    doc_id = serializers.CharField()
    rating = serializers.IntegerField(allow_null=True)


class LabelsSent(serializers.Serializer):
    """One query of a judgment list. Flat rows of query_id, doc_id and grade are accepted too."""

    query_id = serializers.CharField()
    query = serializers.CharField()
    ratings = RatingSent(many=True)


class SourceBody(serializers.Serializer):
    """One import of labels."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=LabelSource.Kind.choices)
    labels = serializers.IntegerField(source="label_count")
    sha256 = serializers.SerializerMethodField(help_text="Null while you may still grade a pair.")
    created_at = serializers.DateTimeField()

    def get_sha256(self, source: LabelSource) -> str | None:
        if "hashes" not in self.context:
            shown = grade_visibility.may_read_hashes(self.context["request"].user, source.collection)
            self.context["hashes"] = shown
        return source.sha256 if self.context["hashes"] else None


@extend_schema_view(
    get=extend_schema(summary="List label sources"),
    post=documented(
        "Upload labels",
        LabelsSent,
        [{"query_id": "q1", "query": "rain jacket", "ratings": [{"doc_id": "d1", "rating": 3}]}],
    ),
)
class LabelSources(Imports):
    """The label sources of a collection."""

    kind = "qrels"
    queryset = (
        LabelSource.objects.select_related("collection")
        .annotate(label_count=Count("labels"))
        .order_by("-created_at", "-pk")
    )
    serializer_class = SourceBody
    tag = "labels"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return labels(rows)


class JudgmentSent(serializers.Serializer):
    """One judgment of one rater."""

    query_id = serializers.CharField()
    query = serializers.CharField(required=False)
    doc_id = serializers.CharField()
    rater = serializers.CharField()
    grade = serializers.IntegerField(allow_null=True)


class ImportedRoundBody(serializers.Serializer):
    """A closed round of imported judgments."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    pairs = serializers.IntegerField(source="pairs_made")
    judgments = serializers.IntegerField(source="slots_made")
    created_at = serializers.DateTimeField()


@extend_schema_view(
    get=extend_schema(summary="List imported rounds"),
    post=documented(
        "Upload judgments with their raters",
        JudgmentSent,
        [{"query_id": "q1", "query": "rain jacket", "doc_id": "d1", "rater": "r01", "grade": 3}],
    ),
)
class ImportedRounds(Imports):
    """Imported judgments. Each file becomes a closed round whose raters cannot log in."""

    kind = "judgments"
    queryset = Round.objects.filter(provenance__has_key=IMPORTED).order_by("-created_at", "-pk")
    serializer_class = ImportedRoundBody
    tag = "labels"

    def as_file(self, rows: Sequence[Any], options: dict[str, Any]) -> PostedFile:
        return table("ratings-csv", rows, numeric=("grade",))
