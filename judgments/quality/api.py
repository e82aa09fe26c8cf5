"""API endpoints for rater quality: checks, alerts, pausing, judgments of a rater, and gold pairs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.response import Response

from judgments.labels import grade_visibility
from judgments.models import GoldPair, Job, Judgment, RoundRater
from judgments.quality import checks as quality_checks
from judgments.quality import gold_pairs, pausing, qualification, rater_judgments
from judgments.quality.rater_judgments import round_rater_of
from judgments.rounds.api import DocumentOfPair, QueryOfPair
from judgments.web import access
from judgments.web.endpoints import InRound, Listed, call, listed
from judgments.web.serializers import Texts


class LookedBody(serializers.Serializer):
    """A lead's acknowledgment of an alert."""

    by = serializers.CharField()
    at = serializers.DateTimeField()
    note = serializers.CharField(allow_blank=True, help_text="Empty for a lead who may still grade some of the pairs.")
    quiet = serializers.BooleanField(
        help_text="Whether the alert is still hidden because its numbers have not become clearly worse since."
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
        allow_null=True, help_text="Probability that a given rater gets such a result by chance."
    )
    others = Texts(help_text="Other raters involved.")
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
    alarms = Texts(help_text="Checks with an alert that no lead has acknowledged.")
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

    since = serializers.DateTimeField(allow_null=True, default=None)
    queries = Texts(default=list)
    quicker_than = serializers.FloatField(
        allow_null=True,
        default=None,
        min_value=0.1,
        max_value=3600,
        help_text="Select only judgments made in fewer seconds than this.",
    )
    reason = serializers.CharField(
        allow_blank=True, default="", max_length=pausing.LONGEST_REASON, help_text="Required unless `preview` is true."
    )
    preview = serializers.BooleanField(default=False)


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
    reads = access.LEADS
    tag = "rounds"

    @call("List rater quality checks", QualityBody)
    def get(self) -> Response:
        """This list is for leads. Pairs that the caller may still grade are left out."""
        return Response(quality_checks.as_json(self.round, quality_checks.look(self.round, viewer=self.user)))


class OfRater(InRound):
    reads = access.LEADS
    serializer_class = RaterState
    also = (409,)
    tag = "rounds"

    def get_round_rater(self) -> RoundRater:
        return round_rater_of(self.round, self.kwargs["rater"])

    def respond(self, serializer: type[serializers.Serializer], row: Any, status: int = 200) -> Response:
        """Return the state of a rater, or another body unchanged."""
        if isinstance(row, RoundRater):
            body = {"rater": row.pseudonym, "paused": row.paused_at is not None, "pause_reason": row.pause_reason}
            row = {**body, "calibrated": row.calibrated_at is not None}
        return super().respond(serializer, row, status)


class Pause(OfRater):
    @call(
        "Pause a rater",
        RaterState,
        request=PauseSent,
        example=("A reason", {"reason": "Let us look at some pairs together."}),
    )
    def post(self) -> RoundRater:
        """The rater's leased pairs are released immediately. Judgments are kept."""
        return pausing.pause(self.get_round_rater(), actor=self.user, **self.read_body(PauseSent))


class Resume(OfRater):
    """The rater can lease pairs again."""

    @call("Resume a rater", RaterState)
    def post(self) -> RoundRater:
        return pausing.resume(self.get_round_rater(), actor=self.user)


class Alarm(OfRater):
    @call(
        "Acknowledge an alert",
        LookedBody,
        LookSent,
        example=("A note", {"note": "Short titles; read ten of them, all right."}),
    )
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """The alert stays hidden until the rater has graded twice as many pairs or its value is clearly more
        extreme."""
        round_rater, check = self.get_round_rater(), self.kwargs["check"]
        report, finding = quality_checks.finding_of(round_rater, check, viewer=self.user)
        quality_checks.acknowledge(round_rater, finding, graded=report.graded, note=body["note"], actor=self.user)
        then = quality_checks.acknowledgments(self.round)[round_rater.pseudonym, check]
        return {"by": then.by, "at": then.at, "note": then.note, "quiet": True}

    @call("Withdraw an acknowledgment")
    def delete(self) -> None:
        """The note remains in the history."""
        quality_checks.undo_acknowledgment(self.get_round_rater(), self.kwargs["check"], actor=self.user)


class LetPass(OfRater):
    """The rater can start rating without passing the qualification."""

    @call("Waive the qualification of a rater", RaterState)
    def post(self) -> RoundRater:
        return qualification.waive(self.get_round_rater(), actor=self.user)


class Requeue(OfRater):
    @call(
        "Exclude a rater's judgments",
        Requeued,
        RequeueSent,
        responses={200: Requeued, 202: Requeued},
        example=("How many?", {"since": "2026-05-01T00:00:00Z", "preview": True}),
    )
    def post(self, body: dict[str, Any]) -> Response | dict[str, Any]:
        """The judgments are superseded, not deleted, and other raters grade the pairs. This cannot be undone."""
        round_rater = self.get_round_rater()
        choice = pausing.JudgmentFilter(body["since"], tuple(body["queries"]), body["quicker_than"])
        number = pausing.preview(round_rater, choice).judgments
        reply = {"rater": round_rater.pseudonym, "judgments": number, "done": False, "job": None}
        if body["preview"]:
            return reply
        done = pausing.start(round_rater, choice, reason=body["reason"], actor=self.user)
        if isinstance(done, Job):
            return self.respond(Requeued, {**reply, "job": done.uuid}, 202)
        return {**reply, "judgments": done, "done": True}


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
    explanation = serializers.CharField(allow_blank=True, default="", max_length=gold_pairs.LONGEST_EXPLANATION)


class GoldSent(serializers.Serializer):
    """Gold pairs with grades: all of them are added, or none."""

    use = serializers.ChoiceField(choices=GoldPair.Use.choices)
    pairs = KnownSent(many=True)


class Added(serializers.Serializer):
    """The number of added gold pairs."""

    added = serializers.IntegerField()


class CalibrationBody(serializers.Serializer):
    """A rater's qualification."""

    rater = serializers.CharField(source="assignment.pseudonym")
    attempts = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Number of answers in the last attempt.")
    share = serializers.FloatField(allow_null=True, help_text="Share of correct answers in the last completed attempt.")
    passed = serializers.BooleanField()


@listed("List gold pairs", "This list is for leads. Raters never learn which of their pairs are gold pairs.")
class Gold(Listed, InRound):
    reads = access.LEADS
    queryset = GoldPair.objects.none()
    serializer_class = GoldBody
    filters = {"use": "use"}
    ordering = {"use": "use", "position": "position"}
    also = (409,)
    tag = "rounds"

    def rows(self) -> Any:
        return self.round.gold.select_related("query", "document").order_by("use", "position")

    def get_serializer_context(self) -> dict[str, Any]:
        if getattr(self, "swagger_fake_view", False):
            return {}
        return {"hidden": grade_visibility.hidden_keys(self.user, self.round.collection)}

    @call(
        "Add gold pairs",
        Added,
        GoldSent,
        status=201,
        example=(
            "For qualification",
            {"use": "calibration", "pairs": [{"query_id": "q1", "doc_id": "d7", "grade": 2, "explanation": "..."}]},
        ),
    )
    def post(self, body: dict[str, Any]) -> dict[str, int]:
        """All pairs are added, or none; errors give the number of the item. Pairs of the round itself are refused."""
        known = gold_pairs.from_rows(self.round.collection, list(enumerate(body["pairs"], 1)), field="pairs")
        return {"added": len(gold_pairs.add(self.round, known, use=body["use"], actor=self.user))}


class OneGold(InRound):
    also = (409,)
    tag = "rounds"

    @call("Remove a gold pair")
    def delete(self) -> None:
        """The status is 409 if a rater has already seen the pair."""
        rows = self.round.gold.filter(uuid=self.kwargs["gold_pair"])
        gold_pairs.remove(access.existing(rows, "The round has no such gold pair."), actor=self.user)


@extend_schema_view(get=extend_schema(summary="Get the qualification of raters"))
class Calibration(Listed, InRound):
    """The qualification of the raters of a round."""

    reads = access.LEADS
    queryset = GoldPair.objects.none()
    serializer_class = CalibrationBody
    ordering = {"rater": "assignment.pseudonym", "attempts": "attempts", "share": "share"}
    tag = "rounds"

    def rows(self) -> Any:
        return qualification.results(self.round)


class AnswerOfRater(serializers.Serializer):
    """One current judgment of the rater, with the others' grades of the pair."""

    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryOfPair(source="pair.query")
    document = DocumentOfPair(source="pair.document")
    state = serializers.CharField(help_text="`graded` or `unrateable`.")
    grade = serializers.IntegerField(allow_null=True)
    others = serializers.SerializerMethodField(
        help_text="Other raters' grades by pseudonym; null for a rater who marked the pair unrateable."
    )
    again = serializers.IntegerField(allow_null=True, help_text="The rater's grade of the repeat.")
    seconds = serializers.FloatField(source="seconds_active", allow_null=True)
    characters = serializers.IntegerField(help_text="Length of the document's title and text.")
    reason = serializers.CharField(help_text="The reason for `unrateable`.")
    note = serializers.CharField()
    surplus = serializers.BooleanField(
        help_text="True if the pair already had all its ratings; the judgment is then stored but not counted."
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
    queryset = Judgment.objects.none()
    serializer_class = AnswerOfRater
    ordering = {"created_at": "created_at", "grade": "grade", "seconds": "seconds_active"}
    also = ()

    def rows(self) -> Any:
        round_rater = self.get_round_rater()
        rows = rater_judgments.answers_of(round_rater, reader=self.user)
        return rater_judgments.beside_others(rows, round_rater).order_by("-pk")
