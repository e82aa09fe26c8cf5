"""Request and response bodies of imports: read options, uploaded file, import report, stored rows."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers

from judgments.jobs.api import Started

MOST_PROBLEMS = 100
SCALE = re.compile(r"(\d{1,3}):(\d{1,3})")


class Reading(serializers.Serializer):
    """How to read and store an upload, as form fields with a file or as query parameters."""

    name = serializers.CharField(required=False, max_length=200, help_text="Name of a run, a log or a label source.")
    description = serializers.CharField(
        required=False, allow_blank=True, max_length=300, help_text="Description of a run."
    )
    accept_errors = serializers.BooleanField(
        required=False, default=False, help_text="Store the valid rows even if other rows cannot be read."
    )
    columns = serializers.CharField(required=False, help_text="Column mapping, such as `count=searches,query=term`.")
    delimiter = serializers.CharField(required=False, max_length=1, trim_whitespace=False)
    grades = serializers.CharField(required=False, help_text="The scale, such as `0:3`; other grades are errors.")
    conflicts = serializers.ChoiceField(
        required=False, choices=["first", "last", "min", "max"], help_text="Which of two contradictory rows to use."
    )
    repeated = serializers.ChoiceField(
        required=False,
        choices=["sum", "max", "first"],
        help_text="How to combine the counts of a query that appears twice.",
    )
    header = serializers.BooleanField(required=False, default=None, allow_null=True)
    encoding = serializers.ChoiceField(required=False, choices=["utf-8", "latin-1"])

    def validate_columns(self, value: str) -> dict[str, str]:
        parts = [part.partition("=") for part in value.split(",")]
        if not all(ours.strip() and theirs.strip() for ours, _, theirs in parts):
            raise serializers.ValidationError("Write OURS=THEIRS, such as count=searches,query=term.")
        return {ours.strip(): theirs.strip() for ours, _, theirs in parts}

    def validate_grades(self, value: str) -> list[int]:
        match = SCALE.fullmatch(value.strip())
        if not match or int(match[1]) >= int(match[2]):
            raise serializers.ValidationError("Write the lowest and the highest grade, such as 0:3.")
        return list(range(int(match[1]), int(match[2]) + 1))


class FileSent(Reading):
    """A file in any format of its kind, optionally compressed with gzip."""

    file = serializers.FileField(
        allow_empty_file=True,
        error_messages={
            "required": "Send a file (multipart/form-data), or a JSON list.",
            "invalid": "This is not a file.",
        },
    )
    format = serializers.CharField(
        required=False, allow_blank=True, help_text="The format; detected from the content by default."
    )


class Problem(serializers.Serializer):
    """One line with an issue."""

    line = serializers.IntegerField(allow_null=True)
    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning"])
    raw = serializers.CharField()
    what = serializers.CharField()
    done = serializers.CharField()
    fix = serializers.CharField()


class ReportBody(serializers.Serializer):
    """Results of reading a file. Every row is counted once."""

    file = serializers.CharField()
    format = serializers.CharField()
    sha256 = serializers.CharField()
    bins = serializers.DictField(child=serializers.IntegerField())
    errors = serializers.IntegerField()
    warnings = serializers.IntegerField()
    problems = Problem(many=True, help_text=f"The first {MOST_PROBLEMS} issues.")


class Stored(serializers.Serializer):
    """The stored rows."""

    rows = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Rows left out because of accepted errors.")
    new = serializers.IntegerField(required=False)
    changed = serializers.IntegerField(required=False)
    id = serializers.UUIDField(required=False, help_text="Id of the run, the log or the label source.")
    name = serializers.CharField(required=False)
    report = ReportBody()


def documented(
    summary: str,
    row: type[serializers.Serializer],
    example: Any,
    reading: type[Reading] = Reading,
    file_serializer: type[FileSent] = FileSent,
) -> Any:
    """Return the OpenAPI description of the POST method of one kind."""
    return extend_schema(
        summary=summary,
        description="A file (multipart) or a JSON list. If one row cannot be read, nothing is stored.",
        parameters=[reading],
        request={"multipart/form-data": file_serializer, "application/json": row(many=True)},
        responses={201: Stored, 202: Started},
        examples=[OpenApiExample("A list", example, request_only=True, media_type="application/json")],
    )
