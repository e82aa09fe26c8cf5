"""API of verdicts of gates."""

from __future__ import annotations

import math
from typing import Any

from django.core.validators import URLValidator
from rest_framework import serializers
from rest_framework.response import Response

from evaluation.gates import verdicts
from evaluation.models import GateVerdict
from judgments.models import Snapshot
from judgments.web import access
from judgments.web.endpoints import InCollection, Rows, call, listed, rows_called

MOST_RULES, MOST_WARNINGS = 200, 50
SHA256 = r"^[0-9a-f]{64}$"


class Finite(serializers.FloatField):
    """A number that JSON can represent."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            raise serializers.ValidationError("Send a finite number or null.")
        return float(value)


class RuleBody(serializers.Serializer):
    """The verdict on one rule, as in `assay gate --format json`."""

    rule = serializers.CharField(max_length=300)
    passed = serializers.BooleanField()
    value = Finite(allow_null=True, default=None)
    baseline = Finite(allow_null=True, default=None)
    candidate = Finite(allow_null=True, default=None)
    p = Finite(allow_null=True, default=None)
    reason = serializers.CharField(allow_null=True, allow_blank=True, default=None, max_length=1000)
    metric = serializers.CharField(max_length=100, default="", allow_blank=True)
    queries = serializers.IntegerField(min_value=0, default=0)
    excused = serializers.BooleanField(default=False)


class GateFileBody(serializers.Serializer):
    """A run: its name, and the SHA-256 of its file. The path is not stored."""

    name = serializers.CharField(max_length=120)
    sha256 = serializers.RegexField(SHA256, max_length=64)


class GateFilesBody(serializers.Serializer):
    """The runs of a gate."""

    candidate = GateFileBody()
    baseline = GateFileBody(allow_null=True, default=None)


class LabelsBody(serializers.Serializer):
    """The labels of a gate."""

    sha256 = serializers.RegexField(SHA256, max_length=64)


class SettingsBody(serializers.Serializer):
    """The settings of a gate."""

    test = serializers.CharField(required=False, max_length=40)
    permutations = serializers.IntegerField(required=False)
    seed = serializers.IntegerField(required=False)
    missing = serializers.CharField(required=False, max_length=40)
    scale_top = Finite(required=False, allow_null=True)
    queries = serializers.IntegerField(required=False)


class VerdictSent(serializers.Serializer):
    """The output of `assay gate --format json`, with the snapshot whose labels it used."""

    client_id = serializers.UUIDField(help_text="An id that you choose; a verdict sent twice is recorded once.")
    snapshot = serializers.UUIDField()
    passed = serializers.BooleanField()
    rules = RuleBody(many=True, allow_empty=False, max_length=MOST_RULES)
    warnings = serializers.ListField(child=serializers.CharField(max_length=1000), default=list)
    settings = SettingsBody(default=dict)
    qrels = LabelsBody()
    files = GateFilesBody()
    label = serializers.CharField(
        max_length=200, allow_blank=True, default="", help_text="The change that was checked, such as a pull request."
    )
    link = serializers.CharField(
        max_length=500,
        allow_blank=True,
        default="",
        validators=[URLValidator(schemes=["http", "https"])],
        help_text="The address of the change.",
    )

    def validate_warnings(self, value: list[str]) -> list[str]:
        return value[:MOST_WARNINGS]


class VerdictBody(serializers.Serializer):
    """A verdict. Everything about the labels is null while you may still grade one of their pairs."""

    id = serializers.UUIDField(source="uuid")
    snapshot = serializers.UUIDField(source="snapshot.uuid")
    passed = serializers.BooleanField(allow_null=True)
    rules = RuleBody(many=True, allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField(), allow_null=True)
    settings = SettingsBody()
    candidate = serializers.CharField()
    candidate_sha256 = serializers.CharField()
    baseline = serializers.CharField()
    baseline_sha256 = serializers.CharField()
    label = serializers.CharField()
    link = serializers.CharField()
    created_at = serializers.DateTimeField()

    def to_representation(self, instance: GateVerdict) -> dict[str, Any]:
        body = super().to_representation(instance)
        if "hidden" not in self.context:
            self.context["hidden"] = verdicts.hidden_snapshots(self.context["request"].user, instance.collection)
        if instance.snapshot_id in self.context["hidden"]:
            body |= {"passed": None, "rules": None, "warnings": None}
        return body


@listed("List verdicts of gates", "Return the verdicts, newest first.")
class Gates(Rows):
    """The verdicts of gates."""

    queryset = GateVerdict.objects.select_related("snapshot", "collection")
    serializer_class = VerdictBody
    filters = {"candidate": "candidate", "label": "label"}
    ordering = {"created_at": "created_at", "candidate": "candidate", "label": "label"}
    writes = access.STAFF
    also = (409,)
    tag = "gates"

    @call(
        "Record the verdict of a gate",
        body=VerdictSent,
        responses={201: VerdictBody, 200: VerdictBody},
        example=(
            "One rule",
            {
                "client_id": "<a new UUID>",
                "snapshot": "<id>",
                "passed": True,
                "rules": [{"rule": "Judged@10 >= 0.8", "passed": True, "value": 0.9}],
                "qrels": {"sha256": "<hash of qrels.txt>"},
                "files": {"candidate": {"name": "neural", "sha256": "<hash>"}},
            },
        ),
    )
    def post(self, body: dict[str, Any]) -> Response:
        """`assay gate --server` computes and sends a verdict. A repeated `client_id` returns status 200."""
        rows = Snapshot.of_documents.filter(collection=self.collection).select_related("collection")
        (snapshot,) = rows_called(rows, [body.pop("snapshot")], "snapshot", "snapshot")
        qrels, how = body.pop("qrels"), {**body.pop("files"), **body}
        verdict, new = verdicts.record(
            self.collection, actor=self.user, snapshot=snapshot, qrels_sha256=qrels["sha256"], **how
        )
        return self.respond(VerdictBody, verdict, status=201 if new else 200)


class OneGate(InCollection):
    """One verdict."""

    serializer_class = VerdictBody
    tag = "gates"

    @call("Get the verdict of a gate", VerdictBody)
    def get(self) -> GateVerdict:
        rows = self.collection.gate_verdicts.select_related("snapshot", "collection").filter(uuid=self.kwargs["uuid"])
        return access.existing(rows, "This collection has no such verdict.")
