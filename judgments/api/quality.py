"""API endpoints for rater quality: findings and alerts, pausing a rater, returning judgments to the queue."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, alarms, calibration, pausing, quality_checks
from judgments.api.endpoint import InRound
from judgments.core.errors import NotFound
from judgments.models import Job, RoundRater


class LookedBody(serializers.Serializer):
    """That a lead has looked at an alarm."""

    by = serializers.CharField()
    at = serializers.DateTimeField()
    note = serializers.CharField(allow_blank=True, help_text="Empty for a lead who may still grade some of the pairs.")
    quiet = serializers.BooleanField(help_text="Its numbers have not grown markedly since: it is not among the alarms.")


class FindingBody(serializers.Serializer):
    """What one check found."""

    check = serializers.CharField()
    state = serializers.ChoiceField(choices=["fine", "alarm", "too little"])
    severity = serializers.ChoiceField(choices=["serious", "mild"])
    n = serializers.IntegerField(help_text="How much it rests on.")
    needed = serializers.IntegerField(help_text="How much it takes before it says anything.")
    said = serializers.CharField()
    advice = serializers.CharField(allow_blank=True, help_text="What to do; empty unless it rings.")
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField(allow_null=True)
    chance = serializers.FloatField(allow_null=True, help_text="How likely as much would be by chance, for one rater.")
    others = serializers.ListField(child=serializers.CharField(), help_text="Raters whom it is about too.")
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
        child=serializers.CharField(), help_text="Checks that ring, less those that a lead has looked at."
    )
    checks = FindingBody(many=True)


class QualityBody(serializers.Serializer):
    """Every rater of a round."""

    round = serializers.UUIDField()
    raters = RaterBody(many=True)
    job = serializers.UUIDField(allow_null=True, help_text="Computes newer numbers, where the round is large.")


class LookSent(serializers.Serializer):
    """What was found, for other leads."""

    note = serializers.CharField(max_length=alarms.LONGEST_NOTE)


class PauseSent(serializers.Serializer):
    """Why, for the rater to read."""

    reason = serializers.CharField(max_length=pausing.LONGEST_REASON)


class RequeueSent(serializers.Serializer):
    """Which judgments, and why; with ``preview`` nothing is done."""

    since = serializers.DateTimeField(required=False, allow_null=True, default=None)
    queries = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    quicker_than = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=0.1, max_value=3600, help_text="Seconds."
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=pausing.LONGEST_REASON, help_text="Needed to do it."
    )
    preview = serializers.BooleanField(required=False, default=False)


class RaterState(serializers.Serializer):
    """Where a rater stands."""

    rater = serializers.CharField()
    paused = serializers.BooleanField()
    pause_reason = serializers.CharField(allow_blank=True)
    calibrated = serializers.BooleanField()


class Requeued(serializers.Serializer):
    """What was set aside, or would be."""

    rater = serializers.CharField()
    judgments = serializers.IntegerField()
    done = serializers.BooleanField()
    job = serializers.UUIDField(allow_null=True, help_text="Many are set aside by a job.")


class Quality(InRound):
    """The checks of a round."""

    reads = access.LEADS
    serializer_class = QualityBody
    tag = "rounds"

    @extend_schema(summary="What the checks say of each rater", responses={200: QualityBody})
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """For leads. Of pairs that the caller may still grade nothing is in these numbers."""
        found = quality_checks.look(self.round, viewer=request.user)
        return Response(quality_checks.told(self.round, found))


class OfRater(InRound):
    """An act on one rater of a round, by pseudonym."""

    reads = access.LEADS
    serializer_class = RaterState
    also = (409,)
    tag = "rounds"

    def asked(self) -> RoundRater:
        name = self.kwargs["rater"].replace("\0", "")
        found = self.round.raters.select_related("user").filter(pseudonym=name).first()
        if found is None:
            raise NotFound("This round has no such rater.")
        found.round = self.round
        return found

    def answered(self, asked: RoundRater) -> Response:
        body: dict[str, Any] = {"rater": asked.pseudonym, "paused": asked.paused_at is not None}
        body |= {"pause_reason": asked.pause_reason, "calibrated": asked.calibrated_at is not None}
        return self.told(RaterState, body)


class Pause(OfRater):
    """Ask a rater to wait."""

    @extend_schema(
        summary="Pause a rater",
        request=PauseSent,
        responses={200: RaterState},
        examples=[OpenApiExample("A reason", {"reason": "Let us look at some pairs together."}, request_only=True)],
    )
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        """What they have in hand goes back at once; what they sent stays."""
        return self.answered(pausing.pause(self.asked(), actor=request.user, **self.sent(PauseSent)))


class Resume(OfRater):
    """Let a rater go on."""

    @extend_schema(summary="Let a paused rater go on", request=None, responses={200: RaterState})
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        return self.answered(pausing.resume(self.asked(), actor=request.user))


class Alarm(OfRater):
    """One alarm of a rater: looked at, or to ring again."""

    @extend_schema(
        summary="Note that an alarm was looked at",
        request=LookSent,
        responses={200: LookedBody},
        examples=[OpenApiExample("A note", {"note": "Short titles; read ten of them, all right."}, request_only=True)],
    )
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str, check: str) -> Response:
        """Quiet from then on, until twice as much is graded or its value is clearly further out."""
        note, asked = self.sent(LookSent)["note"], self.asked()
        report, finding = quality_checks.finding_of(asked, check, viewer=request.user)
        alarms.look_at(asked, finding, graded=report.graded, note=note, actor=request.user)
        then = alarms.looked_at(self.round)[asked.pseudonym, check]
        return self.told(LookedBody, {"by": then.by, "at": then.at, "note": then.note, "quiet": True})

    @extend_schema(summary="Let an alarm ring again", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID, rater: str, check: str) -> Response:
        """What was noted stays on record."""
        alarms.ring_again(self.asked(), check, actor=request.user)
        return Response(status=204)


class LetPass(OfRater):
    """Let a rater begin."""

    @extend_schema(
        summary="Let a rater begin without the calibration's mark", request=None, responses={200: RaterState}
    )
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        return self.answered(calibration.let_pass(self.asked(), actor=request.user))


class Requeue(OfRater):
    """Set a rater's judgments aside."""

    serializer_class = Requeued

    @extend_schema(
        summary="Let others grade a rater's pairs again",
        request=RequeueSent,
        responses={200: Requeued, 202: Requeued},
        examples=[OpenApiExample("How many?", {"since": "2026-05-01T00:00:00Z", "preview": True}, request_only=True)],
    )
    def post(self, request: Request, uuid: uuid_module.UUID, rater: str) -> Response:
        """Superseded, never deleted; their places are free, this rater never gets them again. It cannot be undone."""
        sent, asked = self.sent(RequeueSent), self.asked()
        choice = pausing.Choice(sent["since"], tuple(sent["queries"]), sent["quicker_than"])
        number = pausing.preview(asked, choice).judgments
        body: dict[str, Any] = {"rater": asked.pseudonym, "judgments": number, "done": False, "job": None}
        if sent["preview"]:
            return self.told(Requeued, body)
        done = pausing.start(asked, choice, reason=sent["reason"], actor=request.user)
        if isinstance(done, Job):
            return self.told(Requeued, {**body, "job": done.uuid}, 202)
        return self.told(Requeued, {**body, "judgments": done, "done": True})
