"""API endpoints for a judge's answers in a round: pages, a labels file, and calibration against people."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import judge_labels, judged, untold
from judgments.api.judge_bodies import AnswerBody, HeldBody
from judgments.api.judges import OfJudge
from judgments.models import MachineJudgment
from judgments.models.machine import SAID
from judgments.views.downloads import disposition
from judgments.views.lists import on_record


class AnswersOfJudge(ListModelMixin, OfJudge):
    """What a judge said."""

    serializer_class = AnswerBody
    also = ()
    queryset = MachineJudgment.objects.none()

    @extend_schema(
        summary="What a machine judge answered", parameters=[OpenApiParameter("outcome", str, enum=list(SAID))]
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Page by page, as it came. Pairs that you may still grade yourself are left out."""
        hidden = untold.untold_pairs(request.user, self.round)
        rows = self.judge.judgments.filter(pair__round=self.round).exclude(pair__in=hidden.values("pk"))
        if outcome := request.query_params.get("outcome"):
            rows = rows.filter(outcome=outcome.replace("\0", ""))
        page = self.paginate_queryset(rows.select_related("pair__query", "pair__document").order_by("pair__position"))
        return self.get_paginated_response(AnswerBody(page, many=True).data)


class LabelsOfJudge(OfJudge):
    """What a judge said, as a file."""

    also = ()

    @extend_schema(
        summary="Download a judge's labels", responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> StreamingHttpResponse:
        """labels.jsonl, whole or not at all: 403 while you may still grade a pair. What is undecided has no line."""
        lines = judge_labels.lines(self.judge, self.round, request.user)
        on_record(request, f"the labels of {self.judge.name} in {self.round}", self.round.collection)
        answer = StreamingHttpResponse(lines, content_type="application/octet-stream")
        answer.headers["Content-Disposition"] = disposition(f"{self.round.name}-{self.judge.name}.jsonl")
        return answer

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """A file comes as what it is, whatever the caller says to prefer."""
        return super().perform_content_negotiation(request, force=True)


class HeldAgainstPeople(OfJudge):
    """A judge held against people."""

    serializer_class = HeldBody
    also = ()

    @extend_schema(
        summary="A machine judge against people",
        parameters=[OpenApiParameter("over", str, enum=["slice", "all"], description="`slice` when left out.")],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Kappas, alphas, confusion, what each grade is worth; without pairs that you may still grade."""
        over: Any = request.query_params.get("over") or "slice"
        held = judged.held(self.judge, self.round, request.user, over=over)
        plain = {name: getattr(held, name) for name in ("over", "slice_size", "slice_graded", "hidden", "passed")}
        return Response({**plain, "calibrated": held.calibrated.as_json()})
