"""API endpoints for rater quality: findings and alerts, pausing a rater, returning judgments to the queue."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound
from judgments.models import Job, RoundRater
from judgments.quality import alerts as alarms
from judgments.quality import checks as quality_checks
from judgments.quality import pausing, qualification
from judgments.web import access
from judgments.web.endpoints import InRound


class LookedBody(serializers.Serializer):
    """A lead's acknowledgment of an alert."""

    by = serializers.CharField()
    at = serializers.DateTimeField()
    note = serializers.CharField(allow_blank=True, help_text="Empty for a lead who may still grade some of the pairs.")
    quiet = serializers.BooleanField(
        help_text="Whether the alert is hidden because its numbers have not grown markedly since."
    )


class FindingBody(serializers.Serializer):
    """The result of one check."""

    check = serializers.CharField()
    state = serializers.ChoiceField(choices=["fine", "alarm", "too little"])
    severity = serializers.ChoiceField(choices=["serious", "mild"])
    n = serializers.IntegerField(help_text="Number of observations.")
    needed = serializers.IntegerField(help_text="Number of observations that the check requires.")
    said = serializers.CharField()
    advice = serializers.CharField(allow_blank=True, help_text="Recommended action; empty without an alert.")
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField(allow_null=True)
    chance = serializers.FloatField(
        allow_null=True, help_text="Probability that a single rater gets such a result by chance."
    )
    others = serializers.ListField(child=serializers.CharField(), help_text="Other raters involved.")
    numbers = serializers.DictField()
    looked_at = LookedBody(allow_null=True)


class RaterBody(serializers.Serializer):
    """One rater, by pseudonym."""

    rater = serializers.CharField()
    graded = serializers.IntegerField()
    paused = serializers.BooleanField()
    pause_reason = serializers.CharField(allow_blank=True)
    calibrated = serializers.BooleanField()
    calibration_share = serializers.FloatField(allow_null=True)
    alarms = serializers.ListField(
        child=serializers.CharField(), help_text="Checks with an alert that no lead has acknowledged."
    )
    checks = FindingBody(many=True)


class QualityBody(serializers.Serializer):
    """All raters of a round."""

    round = serializers.UUIDField()
    raters = RaterBody(many=True)
    job = serializers.UUIDField(allow_null=True, help_text="The job that computes newer numbers for a large round.")


class LookSent(serializers.Serializer):
    """A note for other leads."""

    note = serializers.CharField(max_length=alarms.LONGEST_NOTE)


class PauseSent(serializers.Serializer):
    """The reason, shown to the rater."""

    reason = serializers.CharField(max_length=pausing.LONGEST_REASON)


class RequeueSent(serializers.Serializer):
    """The judgments to exclude, and the reason. With ``preview`` nothing changes."""

    since = serializers.DateTimeField(required=False, allow_null=True, default=None)
    queries = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    quicker_than = serializers.FloatField(
        required=False,
        allow_null=True,
        default=None,
        min_value=0.1,
        max_value=3600,
        help_text="Select only judgments made in fewer seconds.",
    )
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=pausing.LONGEST_REASON,
        help_text="Required unless `preview` is true.",
    )
    preview = serializers.BooleanField(required=False, default=False)


class RaterState(serializers.Serializer):
    """The state of a rater."""

    rater = serializers.CharField()
    paused = serializers.BooleanField()
    pause_reason = serializers.CharField(allow_blank=True)
    calibrated = serializers.BooleanField()


class Requeued(serializers.Serializer):
    """Numbers of excluded judgments, or of those that would be excluded."""

    rater = serializers.CharField()
    judgments = serializers.IntegerField()
    done = serializers.BooleanField()
    job = serializers.UUIDField(allow_null=True, help_text="The job that excludes them, if there are many.")


class Quality(InRound):
    """The quality checks of a round."""

    reads = access.LEADS
    serializer_class = QualityBody
    tag = "rounds"

    @extend_schema(summary="List rater quality checks", responses={200: QualityBody})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """This list is for leads. Pairs that the caller may still grade are left out."""
        look = quality_checks.look(self.round, viewer=request.user)
        return Response(quality_checks.as_json(self.round, look))


class OfRater(InRound):
    """Base class of actions on one rater of a round, by pseudonym."""

    reads = access.LEADS
    serializer_class = RaterState
    also = (409,)
    tag = "rounds"

    def get_round_rater(self) -> RoundRater:
        name = self.kwargs["rater"].replace("\0", "")
        rater = self.round.raters.select_related("user").filter(pseudonym=name).first()
        if rater is None:
            raise NotFound("This round has no such rater.")
        rater.round = self.round
        return rater

    def answered(self, round_rater: RoundRater) -> Response:
        body: dict[str, Any] = {"rater": round_rater.pseudonym, "paused": round_rater.paused_at is not None}
        body |= {"pause_reason": round_rater.pause_reason, "calibrated": round_rater.calibrated_at is not None}
        return self.respond(RaterState, body)


class Pause(OfRater):
    """A pause of a rater."""

    @extend_schema(
        summary="Pause a rater",
        request=PauseSent,
        responses={200: RaterState},
        examples=[OpenApiExample("A reason", {"reason": "Let us look at some pairs together."}, request_only=True)],
    )
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        """The rater's leased pairs are released immediately. Judgments stay."""
        return self.answered(pausing.pause(self.get_round_rater(), actor=request.user, **self.read_body(PauseSent)))


class Resume(OfRater):
    """A resumed rater."""

    @extend_schema(summary="Resume a rater", request=None, responses={200: RaterState})
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        return self.answered(pausing.resume(self.get_round_rater(), actor=request.user))


class Alarm(OfRater):
    """The acknowledgment of one alert of a rater."""

    @extend_schema(
        summary="Acknowledge an alert",
        request=LookSent,
        responses={200: LookedBody},
        examples=[OpenApiExample("A note", {"note": "Short titles; read ten of them, all right."}, request_only=True)],
    )
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str, check: str) -> Response:
        """The alert stays hidden until the rater has graded twice as many pairs or its value is clearly more
        extreme."""
        note, round_rater = self.read_body(LookSent)["note"], self.get_round_rater()
        report, finding = quality_checks.finding_of(round_rater, check, viewer=request.user)
        alarms.acknowledge(round_rater, finding, graded=report.graded, note=note, actor=request.user)
        then = alarms.acknowledgments(self.round)[round_rater.pseudonym, check]
        return self.respond(LookedBody, {"by": then.by, "at": then.at, "note": then.note, "quiet": True})

    @extend_schema(summary="Withdraw an acknowledgment", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID, rater: str, check: str) -> Response:
        """The note remains in the history."""
        alarms.undo_acknowledgment(self.get_round_rater(), check, actor=request.user)
        return Response(status=204)


class LetPass(OfRater):
    """A qualification waiver."""

    @extend_schema(summary="Waive the qualification of a rater", request=None, responses={200: RaterState})
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        return self.answered(qualification.waive(self.get_round_rater(), actor=request.user))


class Requeue(OfRater):
    """Exclusion of a rater's judgments."""

    serializer_class = Requeued

    @extend_schema(
        summary="Exclude a rater's judgments",
        request=RequeueSent,
        responses={200: Requeued, 202: Requeued},
        examples=[OpenApiExample("How many?", {"since": "2026-05-01T00:00:00Z", "preview": True}, request_only=True)],
    )
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        """The judgments are superseded, not deleted, and other raters grade the pairs. This cannot be undone."""
        request_data, round_rater = self.read_body(RequeueSent), self.get_round_rater()
        choice = pausing.Choice(request_data["since"], tuple(request_data["queries"]), request_data["quicker_than"])
        number = pausing.preview(round_rater, choice).judgments
        body: dict[str, Any] = {"rater": round_rater.pseudonym, "judgments": number, "done": False, "job": None}
        if request_data["preview"]:
            return self.respond(Requeued, body)
        done = pausing.start(round_rater, choice, reason=request_data["reason"], actor=request.user)
        if isinstance(done, Job):
            return self.respond(Requeued, {**body, "job": done.uuid}, 202)
        return self.respond(Requeued, {**body, "judgments": done, "done": True})
