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

from judgments.labels import grade_visibility
from judgments.machines.calibration import calibration
from judgments.machines.judge_runs import labels_export
from judgments.machines.judge_runs.api.judges import OfJudge
from judgments.machines.judge_runs.api.serializers import AnswerBody, HeldBody
from judgments.models import MachineJudgment
from judgments.models.machines.machine import OUTCOME_NAMES
from judgments.web.downloads import disposition
from judgments.web.lists import on_record


class AnswersOfJudge(ListModelMixin, OfJudge):
    """The answers of a judge."""

    serializer_class = AnswerBody
    also = ()
    queryset = MachineJudgment.objects.none()

    @extend_schema(
        summary="List a judge's answers", parameters=[OpenApiParameter("outcome", str, enum=list(OUTCOME_NAMES))]
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Return answers in the order of arrival, without pairs that you may still grade."""
        hidden = grade_visibility.pairs_with_hidden_grades(request.user, self.round)
        rows = self.judge.judgments.filter(pair__round=self.round).exclude(pair__in=hidden.values("pk"))
        if outcome := request.query_params.get("outcome"):
            rows = rows.filter(outcome=outcome.replace("\0", ""))
        page = self.paginate_queryset(rows.select_related("pair__query", "pair__document").order_by("pair__position"))
        return self.get_paginated_response(AnswerBody(page, many=True).data)


class LabelsOfJudge(OfJudge):
    """A judge's labels as a file."""

    also = ()

    @extend_schema(
        summary="Download a judge's labels", responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> StreamingHttpResponse:
        """Return labels.jsonl. The status is 403 while you may still grade a pair. Pairs without a decision have no
        line."""
        lines = labels_export.lines(self.judge, self.round, request.user)
        on_record(request, f"the labels of {self.judge.name} in {self.round}", self.round.collection)
        answer = StreamingHttpResponse(lines, content_type="application/octet-stream")
        answer.headers["Content-Disposition"] = disposition(f"{self.round.name}-{self.judge.name}.jsonl")
        return answer

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Return the file for any Accept header."""
        return super().perform_content_negotiation(request, force=True)


class HeldAgainstPeople(OfJudge):
    """The calibration of a judge."""

    serializer_class = HeldBody
    also = ()

    @extend_schema(
        summary="Get the calibration of a judge",
        parameters=[
            OpenApiParameter(
                "over", str, enum=["slice", "all"], description="The pairs to compare; by default `slice`."
            )
        ],
    )
    def get(self, request: Request, uuid: uuid_module.UUID, judge: uuid_module.UUID) -> Response:
        """Return kappa, alpha, the confusion matrix and the mean human grade per machine grade."""
        over: Any = request.query_params.get("over") or "slice"
        held = calibration.calibrate(self.judge, self.round, request.user, over=over)
        plain = {name: getattr(held, name) for name in ("over", "slice_size", "slice_graded", "hidden", "passed")}
        return Response({**plain, "calibrated": held.calibrated.as_json()})
