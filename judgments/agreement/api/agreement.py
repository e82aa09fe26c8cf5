"""API endpoints for the agreement of a round, and for rejudging its overlap."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotValid
from judgments.agreement import round_report
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.rounds import rerating
from judgments.rounds.api.rounds import RoundBody, serialize_round
from judgments.web.endpoints import InRound

PARTS = ("query", "tier")


class Agreement(InRound):
    """Agreement of the raters of a round."""

    tag = "rounds"

    @extend_schema(
        summary="Get the agreement",
        responses={200: dict},
        parameters=[
            OpenApiParameter(
                "by", str, description="`query` or `tier`: also return the agreement within each query or tier."
            )
        ],
    )
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Return the format of `assay agreement --format json`: coefficients with n, overlap and interval."""
        part = request.query_params.get("by", "")
        if part and part not in PARTS:
            raise NotValid("Unknown value of `by`.", {"by": f"Use one of {', '.join(PARTS)}."})
        look = round_report.look(self.round)
        summary = AgreementSummary(self.round, look, request.user)
        body = {
            **summary.agreement,
            "without": summary.without,
            "called_in": summary.called_in,
            "gate": summary.gate.as_json(),
            "newer": look.newer,
            "computed_at": look.computed_at,
        }
        return Response({**body, **_within(part, summary)})


def _within(part: str, summary: AgreementSummary) -> dict[str, Any]:
    if part == "query":
        return {"by_query": summary.by_query}
    return {"by_tier": summary.by_tier} if part == "tier" else {}


class Rejudge(InRound):
    """A new round over the overlap of a round."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Rejudge the overlap", request=None, responses={201: RoundBody})
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """Create a draft round of the pairs with two or more grades, under the newest guidelines, for the same
        raters."""
        return Response(serialize_round(rerating.rejudge_overlap(self.round, actor=request.user)), status=201)
