"""API endpoints for rater quality: checks, alerts, pausing, judgments of a rater, and gold pairs."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import NotFound
from judgments.labels import grade_visibility
from judgments.models import GoldPair, Job, Judgment, RoundRater
from judgments.quality import checks as quality_checks
from judgments.quality import gold_pairs, pausing, qualification, rater_judgments
from judgments.rounds.api import DocumentOfPair, QueryOfPair
from judgments.web import access
from judgments.web.endpoints import InRound, Listed, listed


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

    note = serializers.CharField(max_length=quality_checks.LONGEST_NOTE)


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
        quality_checks.acknowledge(round_rater, finding, graded=report.graded, note=note, actor=request.user)
        then = quality_checks.acknowledgments(self.round)[round_rater.pseudonym, check]
        return self.respond(LookedBody, {"by": then.by, "at": then.at, "note": then.note, "quiet": True})

    @extend_schema(summary="Withdraw an acknowledgment", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID, rater: str, check: str) -> Response:
        """The note remains in the history."""
        quality_checks.undo_acknowledgment(self.get_round_rater(), check, actor=request.user)
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


class GoldBody(serializers.Serializer):
    """A gold pair."""

    id = serializers.UUIDField(source="uuid")
    query_id = serializers.CharField(source="query.query_id")
    doc_id = serializers.CharField(source="document.doc_id")
    use = serializers.ChoiceField(choices=GoldPair.Use.choices)
    grade = serializers.SerializerMethodField()
    explanation = serializers.SerializerMethodField()

    def get_grade(self, row: GoldPair) -> int | None:
        """Null while the caller may still grade the pair."""
        return None if self._hidden(row) else row.grade

    def get_explanation(self, row: GoldPair) -> str:
        return "" if self._hidden(row) else row.explanation

    def _hidden(self, row: GoldPair) -> bool:
        hidden: set[gold_pairs.Key] = self.context.get("hidden", set())
        return (row.query.query_id, row.document.doc_id) in hidden


class KnownSent(serializers.Serializer):
    """A pair to add as a gold pair."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    grade = serializers.IntegerField(min_value=0, max_value=100)
    explanation = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=gold_pairs.LONGEST_EXPLANATION
    )


class GoldSent(serializers.Serializer):
    """Gold pairs with grades: all of them are added, or none."""

    use = serializers.ChoiceField(choices=GoldPair.Use.choices)
    pairs = KnownSent(many=True)


class Added(serializers.Serializer):
    """The number of added gold pairs."""

    added = serializers.IntegerField()


class CalibrationBody(serializers.Serializer):
    """A rater's qualification."""

    rater = serializers.CharField()
    attempts = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Number of answers in the last attempt.")
    share = serializers.FloatField(allow_null=True, help_text="Share of correct answers in the last completed attempt.")
    passed = serializers.BooleanField()


@listed("List gold pairs", "This list is for leads. Raters never learn which of their pairs are gold pairs.")
class Gold(Listed, InRound):
    """The gold pairs of a round."""

    reads = access.LEADS
    queryset = GoldPair.objects.none()
    serializer_class = GoldBody
    also = (409,)
    tag = "rounds"

    def rows(self) -> Any:
        return self.round.gold.select_related("query", "document").order_by("use", "position")

    def get_serializer_context(self) -> dict[str, Any]:
        if getattr(self, "swagger_fake_view", False):
            return {}
        return {"hidden": grade_visibility.hidden_keys(self.request.user, self.round.collection)}

    @extend_schema(
        summary="Add gold pairs",
        request=GoldSent,
        responses={201: Added},
        examples=[
            OpenApiExample(
                "For qualification",
                {"use": "calibration", "pairs": [{"query_id": "q1", "doc_id": "d7", "grade": 2, "explanation": "..."}]},
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """All pairs are added, or none; errors name the item by its number. Pairs of the round itself are refused."""
        body = self.read_body(GoldSent)
        known = gold_pairs.from_rows(self.round.collection, list(enumerate(body["pairs"], 1)), field="pairs")
        made = gold_pairs.add(self.round, known, use=body["use"], actor=request.user)
        return self.respond(Added, {"added": len(made)}, 201)


class OneGold(InRound):
    """One gold pair."""

    serializer_class = GoldBody
    also = (409,)
    tag = "rounds"

    @extend_schema(summary="Remove a gold pair", responses={204: None})
    def delete(self, request: Request, uuid: uuid_module.UUID, gold_pair: uuid_module.UUID) -> Response:
        """The status is 409 if a rater has already seen the pair."""
        row = self.round.gold.filter(uuid=gold_pair).first()
        if row is None:
            raise NotFound("The round has no such gold pair.")
        gold_pairs.remove(row, actor=request.user)
        return Response(status=204)


@extend_schema_view(get=extend_schema(summary="Get the qualification of raters"))
class Calibration(Listed, InRound):
    """The qualification of the raters of a round."""

    reads = access.LEADS
    queryset = GoldPair.objects.none()
    serializer_class = CalibrationBody
    tag = "rounds"

    def rows(self) -> Any:
        rows = qualification.results(self.round)
        names = ("attempts", "answered", "share", "passed")
        return [{"rater": row.assignment.pseudonym, **{name: getattr(row, name) for name in names}} for row in rows]


class AnswerOfRater(serializers.Serializer):
    """One current judgment of the rater, with the others' grades of the pair."""

    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryOfPair(source="pair.query")
    document = DocumentOfPair(source="pair.document")
    state = serializers.CharField(help_text="`graded` or `unrateable`.")
    grade = serializers.IntegerField(allow_null=True)
    others = serializers.SerializerMethodField(help_text="Pseudonym to grade; null if they marked the pair unrateable.")
    again = serializers.IntegerField(allow_null=True, help_text="The rater's grade of the repeat.")
    seconds = serializers.FloatField(source="seconds_active", allow_null=True)
    characters = serializers.IntegerField(help_text="Length of the document's title and text.")
    reason = serializers.CharField(help_text="The reason for `unrateable`.")
    note = serializers.CharField()
    surplus = serializers.BooleanField(
        help_text="Whether the pair already had all its ratings, so that this judgment is stored but not counted."
    )
    created_at = serializers.DateTimeField()

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField(allow_null=True)))
    def get_others(self, row: Any) -> dict[str, int | None]:
        return rater_judgments.grades_of_others(row)


@listed(
    "List the judgments of a rater",
    "This list is for leads, newest first. Pairs that the caller may still grade are left out.",
)
class AnswersOfRater(Listed, OfRater):
    """The judgments of one rater of a round."""

    queryset = Judgment.objects.none()
    serializer_class = AnswerOfRater
    also = ()

    def rows(self) -> Any:
        round_rater = self.get_round_rater()
        rows = rater_judgments.answers_of(round_rater, reader=self.request.user)
        return rater_judgments.beside_others(rows, round_rater).order_by("-pk")
