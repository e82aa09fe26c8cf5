"""API endpoint for a judge's call log: each call with its request, its reply and its cost."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid
from judgments.labels import grade_visibility
from judgments.machines.judge_runs.api.judges import OfJudge
from judgments.models import ModelCall
from judgments.models.machines.machine import OUTCOMES


class CallBody(serializers.Serializer):
    """One call. The provider's key is in no field; the answer is plain text."""

    at = serializers.DateTimeField()
    purpose = serializers.ChoiceField(choices=ModelCall.Purpose.choices)
    trap = serializers.CharField(help_text="The prompt-injection probe in the document; empty if there is none.")
    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    grade = serializers.IntegerField(allow_null=True)
    probabilities = serializers.JSONField(allow_null=True)
    rationale = serializers.CharField()
    raw = serializers.CharField(help_text="The answer without changes.")
    model_asked = serializers.CharField(source="requested_model")
    model_answered = serializers.CharField()
    parameters = serializers.JSONField()
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True)
    cost_estimated = serializers.BooleanField(
        help_text="Whether the cost, or a part of it, is an upper bound because the provider reported no token count."
    )
    left_out = serializers.ListField(
        child=serializers.CharField(),
        help_text="Parameters that were not sent because the model does not support them.",
    )
    seconds = serializers.FloatField()
    question_sha256 = serializers.CharField(source="key", help_text="Hash of everything that determines the answer.")
    prompt_sha256 = serializers.CharField()


class LedgerOfJudge(ListModelMixin, OfJudge):
    """The calls of a judge in a round."""

    serializer_class = CallBody
    also = ()
    queryset = ModelCall.objects.none()

    @extend_schema(
        summary="List the calls of a judge",
        parameters=[
            OpenApiParameter("outcome", str, enum=list(OUTCOMES)),
            OpenApiParameter("purpose", str, enum=list(ModelCall.Purpose.values)),
        ],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Return the calls, oldest first, without pairs that you may still grade."""
        hidden = grade_visibility.pairs_with_hidden_grades(request.user, self.round)
        rows = ModelCall.objects.filter(judge=self.judge, run__round=self.round).exclude(pair__in=hidden.values("pk"))
        for name, known in (("outcome", OUTCOMES), ("purpose", ModelCall.Purpose.values)):
            if wanted := request.query_params.get(name):
                if wanted not in known:
                    raise NotValid(f"Unknown {name}.", {name: f"Use one of {', '.join(known)}."})
                rows = rows.filter(**{name: wanted})
        page = self.paginate_queryset(rows.select_related("pair__query", "pair__document").order_by("pk"))
        return self.get_paginated_response(CallBody(page, many=True).data)
