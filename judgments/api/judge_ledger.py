"""API endpoint for a judge's call log: each call with its request, its reply and its cost."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import untold
from judgments.api.judges import OfJudge
from judgments.core.errors import NotValid
from judgments.models import ModelCall
from judgments.models.machine import OUTCOMES


class CallBody(serializers.Serializer):
    """One call; the provider's key is in no field, and the answer is text, never read as anything else."""

    at = serializers.DateTimeField()
    purpose = serializers.ChoiceField(choices=ModelCall.Purpose.choices)
    trap = serializers.CharField(help_text="What was planted into the document; empty where nothing was.")
    query_id = serializers.CharField(source="pair.query.query_id")
    doc_id = serializers.CharField(source="pair.document.doc_id")
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    grade = serializers.IntegerField(allow_null=True)
    probabilities = serializers.JSONField(allow_null=True)
    rationale = serializers.CharField()
    raw = serializers.CharField(help_text="The answer as it came.")
    model_asked = serializers.CharField()
    model_answered = serializers.CharField()
    parameters = serializers.JSONField()
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True)
    cost_estimated = serializers.BooleanField(
        help_text="Whether that, or a part of it, is the most that it can have been: nobody counted."
    )
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="What the model was not told since it takes none."
    )
    seconds = serializers.FloatField()
    question_sha256 = serializers.CharField(source="key", help_text="Over all that decides the answer.")
    prompt_sha256 = serializers.CharField()


class LedgerOfJudge(ListModelMixin, OfJudge):
    """A judge's calls in a round."""

    serializer_class = CallBody
    also = ()
    queryset = ModelCall.objects.none()

    @extend_schema(
        summary="The ledger of a machine judge",
        parameters=[
            OpenApiParameter("outcome", str, enum=list(OUTCOMES)),
            OpenApiParameter("purpose", str, enum=list(ModelCall.Purpose.values)),
        ],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Page by page, oldest first. Pairs that you may still grade yourself are left out."""
        hidden = untold.untold_pairs(request.user, self.round)
        rows = ModelCall.objects.filter(judge=self.judge, run__round=self.round).exclude(pair__in=hidden.values("pk"))
        for name, known in (("outcome", OUTCOMES), ("purpose", ModelCall.Purpose.values)):
            if wanted := request.query_params.get(name):
                if wanted not in known:
                    raise NotValid(f"There is no such {name}.", {name: f"One of {', '.join(known)}."})
                rows = rows.filter(**{name: wanted})
        page = self.paginate_queryset(rows.select_related("pair__query", "pair__document").order_by("pk"))
        return self.get_paginated_response(CallBody(page, many=True).data)
