"""API endpoints for the progress of a round, its agreement, and judging its overlap again."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, progress, rejudging, reliability, round_reports
from judgments.agreement_told import Told
from judgments.api.endpoint import InRound
from judgments.api.rounds import RoundBody, round_told
from judgments.core.errors import NotAllowed, NotValid
from judgments.models import User
from judgments.own_part import own_part
from judgments.pace import pace_of
from judgments.tallies import median_seconds

PARTS = ("query", "tier")


class ProgressOfRater(serializers.Serializer):
    """One rater's part, under their pseudonym."""

    rater = serializers.CharField()
    graded = serializers.IntegerField()
    unrateable = serializers.IntegerField()
    later = serializers.IntegerField()
    median_seconds = serializers.FloatField(allow_null=True)
    left = serializers.IntegerField(help_text="Their part of what is left, if all who rate take the same part.")
    hours_left = serializers.FloatField(allow_null=True, help_text="That part at their own pace.")


class StrandedBody(serializers.Serializer):
    """Ratings that nobody who rates here may give, since each grades a pair once."""

    language = serializers.CharField(help_text="Of the queries; empty where the round does not go by language.")
    ratings = serializers.IntegerField()
    raters_missing = serializers.IntegerField(help_text="So many more raters it takes at least.")


class ProgressBody(serializers.Serializer):
    """How far a round is, in ratings. A rater is told about their own part only."""

    pairs = serializers.IntegerField(required=False)
    most_pairs = serializers.IntegerField(required=False, allow_null=True, help_text="Null where the pairs are fixed.")
    more_may_come = serializers.BooleanField(help_text="Whether pairs are still being chosen.")
    ratings_wanted = serializers.IntegerField(required=False)
    ratings = serializers.IntegerField(required=False)
    called_in = serializers.IntegerField(required=False, help_text="Of the ratings wanted, those beyond the plan.")
    surplus = serializers.IntegerField(required=False)
    stranded = serializers.IntegerField(required=False, help_text="Of those missing, what nobody may give as it is.")
    stranded_by_language = StrandedBody(many=True, required=False)
    most_ratings = serializers.IntegerField(required=False, help_text="Ratings at most, those of later pairs counted.")
    hours_left = serializers.FloatField(required=False, allow_null=True, help_text="At the raters’ own mean times.")
    hours_low = serializers.FloatField(required=False, allow_null=True, help_text="In 80 % of cases at least; or null.")
    hours_high = serializers.FloatField(required=False, allow_null=True, help_text="In 80 % of cases at most; or null.")
    most_hours_left = serializers.FloatField(required=False, allow_null=True)
    ratings_a_day = serializers.FloatField(required=False, allow_null=True, help_text="Since the round was opened.")
    raters = ProgressOfRater(many=True)
    remaining = serializers.IntegerField(required=False, help_text="Pairs still open to the calling rater.")


class Agreement(InRound):
    """How far the raters agree."""

    tag = "rounds"

    @extend_schema(
        summary="Agreement",
        responses={200: dict},
        parameters=[OpenApiParameter("by", str, description="`query` or `tier`: the agreement within each as well.")],
    )
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """The shape of `assay agreement --format json`: kappa, alpha and their kin with n, overlap and interval.

        `without` is the same without each rater in turn, where three or more graded; `gate` is what the round's gate
        says; `called_in` is how many grades are left out, since they were asked for where two lay apart. Of more than
        20,000 answers the last report is told, `newer` is how many came since, and the next one is put in line. Who may
        still grade pairs of the round is not told what may tell their grades.
        """
        part = request.query_params.get("by", "")
        if part and part not in PARTS:
            raise NotValid("This part is not known.", {"by": f"One of {', '.join(PARTS)}."})
        look = round_reports.look(self.round)
        told = Told(self.round, look, request.user)
        found = {
            **told.agreement,
            "without": told.without,
            "called_in": told.called_in,
            "gate": told.gate.as_json(),
            "newer": look.newer,
            "computed_at": look.computed_at,
        }
        return Response({**found, **_within(part, told)})


def _within(part: str, told: Told) -> dict[str, Any]:
    if part == "query":
        return {"by_query": told.by_query}
    return {"by_tier": told.by_tier} if part == "tier" else {}


class Rejudge(InRound):
    """The overlap judged again."""

    serializer_class = RoundBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Judge the overlap again", request=None, responses={201: RoundBody})
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """A draft of the pairs with two or more grades, under the newest guidelines, for the same raters.

        Scale and settings are those of the round. 409 while the guidelines are still those of the round.
        """
        return Response(round_told(rejudging.rejudge_overlap(self.round, actor=request.user)), status=201)


class Progress(InRound):
    """How far the round is."""

    reads = access.EVERYBODY
    serializer_class = ProgressBody
    tag = "rounds"

    @extend_schema(summary="Progress")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """For leads and engineers the whole round by pseudonym; for a rater their own part."""
        if access.role_in(request.user, self.round.collection) in access.STAFF:
            return Response(progress.progress(self.round).as_json())
        return Response(self._own(request.user))

    def _own(self, rater: User) -> dict[str, Any]:
        name = reliability.pseudonyms(self.round).get(rater.pk)
        if name is None:
            raise NotAllowed(f"You were not asked to rate in {self.round}.")
        part = own_part(self.round, rater)
        pace = pace_of(part.tally.seconds) or progress.usual_pace(self.round)
        mine = {
            "rater": name,
            **{state: getattr(part.tally, state) for state in ("graded", "unrateable", "later")},
            "median_seconds": median_seconds(part.tally.seconds),
            "left": part.left,
            "hours_left": None if pace is None else part.left * pace.mean / 3600,
        }
        return {"raters": [mine], "remaining": part.most, "more_may_come": self.round.growing}
