"""API endpoints to read, change, open, reopen and close a round, and to create answer rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotValid
from judgments import hooks
from judgments.models import Collection, Membership, Round, User
from judgments.models.document import DocumentKind
from judgments.rounds import rounds
from judgments.rounds import settings as round_settings
from judgments.rounds.answer_dimensions import DIMENSIONS
from judgments.rounds.answer_rounds import MOST_ANSWERS, MOST_PASSAGES, GivenAnswer, Passage, create_answer_rounds
from judgments.rounds.settings import LONGEST_QUALIFICATION, NAMES, SETTINGS, RoundSettings
from judgments.web.endpoints import InCollection, InRound, call
from judgments.web.serializers import Seed, Strict, Texts


class QueryOfPair(serializers.Serializer):
    """The query of a pair."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()


class DocumentOfPair(serializers.Serializer):
    """The document of a pair."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()


def _field(name: str) -> serializers.Field:
    """Return the field of a setting. The action checks the limits, except those of settings that never change."""
    one = SETTINGS[name]
    how = {"required": False, "help_text": one.metadata["about"] or None}
    if "None" in one.type:
        how["allow_null"] = True
    if name in round_settings.NEVER:
        how |= {"min_value": one.metadata["low"], "max_value": one.metadata["high"]}
    if "str" in one.type:
        qualification = {"allow_blank": True, "max_length": LONGEST_QUALIFICATION}
        return serializers.CharField(**how, **(qualification if name == "qualification" else {"max_length": 40}))
    if one.type == "bool":
        return serializers.BooleanField(**how)
    return serializers.IntegerField(**how) if "int" in one.type else serializers.FloatField(**how)


class SettingsBody(type("SettingFields", (Strict,), {name: _field(name) for name in NAMES})):  # type: ignore[misc]
    """Settings of a round other than pairs, scale, guidelines, raters and seed. Omitted settings do not change."""


def settings_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in the request body."""
    return {name: body[name] for name in NAMES if name in body}


class GradeBody(Strict):
    """One grade of a scale, with the label of its button."""

    value = serializers.IntegerField()
    label = serializers.CharField(max_length=40)
    cue = serializers.CharField(max_length=200, allow_blank=True, default="")


class ScaleBody(Strict):
    """The grades of a scale, and the lowest grade that counts as relevant."""

    grades = GradeBody(many=True)
    relevant_from = serializers.IntegerField(
        allow_null=True,
        default=None,
        help_text="The lowest grade that counts as relevant in binary metrics; null "
        "means every grade except the lowest.",
    )


class ScaleOfRound(serializers.Serializer):
    """The scale of a round, lowest grade first."""

    grades = GradeBody(many=True, source="grades.all")
    relevant_from = serializers.IntegerField(help_text="The lowest grade that counts as relevant in binary metrics.")


class RoundBody(serializers.Serializer):
    """A round as leads and engineers see it."""

    id = serializers.UUIDField(source="uuid")
    collection = serializers.CharField(source="collection.slug")
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Round.State.choices)
    kind = serializers.ChoiceField(choices=DocumentKind.choices, help_text="Whether raters grade documents or answers.")
    dimension = serializers.CharField(help_text="The graded dimension of answers; empty for documents.")
    scale = ScaleOfRound()
    guidelines_version = serializers.IntegerField(source="guidelines.number")
    ratings_per_pair = serializers.IntegerField()
    overlap = serializers.FloatField(
        help_text="Share of the pairs that get all their ratings; the other pairs get one rating."
    )
    settings = serializers.SerializerMethodField(help_text="All settings; PATCH accepts the same names.")
    seed = serializers.IntegerField()
    pairs = serializers.IntegerField(source="pair_count")
    most_pairs = serializers.IntegerField(
        allow_null=True,
        help_text="Maximum number of pairs, if pairs are chosen while the round is open; null if they are fixed.",
    )
    more_may_come = serializers.BooleanField(source="growing", help_text="Whether more pairs are still being chosen.")
    refill = serializers.SerializerMethodField(help_text="State of choosing pairs; null if they are fixed.")
    raters = serializers.SerializerMethodField(help_text="User names of the raters.")
    created_at = serializers.DateTimeField()
    opened_at = serializers.DateTimeField(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)

    def get_settings(self, round_: Round) -> dict[str, Any]:
        return round_settings.RoundSettings.of(round_).as_dict()

    def get_refill(self, round_: Round) -> dict[str, Any] | None:
        return hooks.status(round_)

    def get_raters(self, round_: Round) -> list[str]:
        return sorted(row.user.username for row in round_.raters.all() if row.left_at is None)


class RoundChange(SettingsBody):
    """Changeable fields of a round. Pairs, scale, guidelines, seed and ratings per pair are fixed."""

    FIXED = dict.fromkeys(
        ("collection", "guidelines", "guidelines_version", "most_pairs", "pairs", "pool", "refill", "scale", "seed"),
        "This field cannot change after a round is created. Create a new round.",
    )
    name = serializers.CharField(max_length=120, required=False)
    raters = Texts(required=False, help_text="User names of raters to add. Existing raters are kept.")


def shown_rounds() -> QuerySet[Round]:
    """Return rounds with the related rows that their serializer needs, in a fixed number of queries."""
    rows = Round.objects.select_related("collection", "guidelines", "scale")
    return rows.prefetch_related("scale__grades", "raters__user").annotate(pair_count=F("pairs_made"))


def members_called(collection: Collection, usernames: Sequence[str]) -> list[User]:
    """Return the members with these user names, in the given order."""
    rows = Membership.objects.filter(collection=collection, user__username__in=usernames).select_related("user")
    by_name = {row.user.username: row.user for row in rows}
    strange = sorted(set(usernames) - by_name.keys())
    if strange:
        message = f"First invite these users with the role rater: {', '.join(strange)}."
        raise NotValid("Only raters and leads of the collection can rate.", {"raters": message})
    return [by_name[name] for name in dict.fromkeys(usernames)]


def serialize_round(round_: Round) -> Any:
    """Return the response body of one round."""
    return RoundBody(shown_rounds().get(pk=round_.pk)).data


class OfRound(InRound):
    also = (409,)
    tag = "rounds"

    def respond(self, serializer: type[serializers.Serializer], row: Any, status: int = 200) -> Response:
        return Response(serialize_round(row), status=status)


class OneRound(OfRound):
    """One round."""

    @call("Get a round", RoundBody)
    def get(self) -> Round:
        return self.round

    @call("Change a round", RoundBody, RoundChange)
    def patch(self, body: dict[str, Any]) -> Round:
        """Rename a round, add raters or change settings.

        Scale and guidelines are fixed; create a new round to change them.
        """
        with transaction.atomic():
            if "name" in body:
                rounds.rename(self.round, name=body["name"], actor=self.user)
            round_settings.change(self.round, settings_in(body), actor=self.user)
            if body.get("raters"):
                raters = members_called(self.round.collection, body["raters"])
                rounds.invite(self.round, raters, actor=self.user)
        return self.round


class OpenRound(OfRound):
    @call("Open a round", RoundBody)
    def post(self) -> Round:
        """Only a draft can be opened. Raters can start after it is opened."""
        return rounds.open_round(self.round, actor=self.user)


class ReopenSent(Strict):
    """The reason for reopening a round."""

    reason = serializers.CharField(max_length=1000, help_text="The reason is recorded in the audit trail.")


class ReopenRound(OfRound):
    @call("Reopen a round", RoundBody, ReopenSent)
    def post(self, body: dict[str, Any]) -> Round:
        """Only closed rounds whose labels are in no snapshot can be reopened. Raters who could see its grades are
        removed."""
        return rounds.reopen_round(self.round, reason=body["reason"], actor=self.user)


class CloseRound(OfRound):
    @call("Close a round", RoundBody)
    def post(self) -> Round:
        """Further judgments are refused with status 410."""
        return rounds.close_round(self.round, actor=self.user)


class PassageBody(Strict):
    """One passage of the evidence."""

    doc_id = serializers.CharField(trim_whitespace=False)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    title = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)
    url = serializers.CharField(allow_blank=True, default="")


class AnswerSentForGrading(Strict):
    """One answer to grade, without the name of its system. Equal answers with equal evidence are graded once."""

    query_id = serializers.CharField(trim_whitespace=False)
    query = serializers.CharField(trim_whitespace=False, help_text="The question. It is not added to the queries.")
    text = serializers.CharField(trim_whitespace=False, help_text="The system's answer.")
    evidence = PassageBody(
        many=True, default=list, help_text=f"Passages in the order of citations; at most {MOST_PASSAGES}."
    )
    reference = serializers.CharField(
        allow_blank=True, default="", help_text="The reference answer; `faithful` does not show it."
    )


class AnswerRoundsSent(SettingsBody):
    """The answers, the dimensions and the raters."""

    name = serializers.CharField(max_length=100, help_text="Prefix of each round's name.")
    answers = AnswerSentForGrading(many=True, help_text=f"At most {MOST_ANSWERS:,} answers.")
    dimensions = serializers.ListField(
        child=serializers.ChoiceField(choices=list(DIMENSIONS)),
        default=list(DIMENSIONS),
        help_text="By default all dimensions.",
    )
    scale = ScaleBody(allow_null=True, default=None, help_text="The scale; null for 0-2 with labels for the dimension.")
    guidelines = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False),
        default=dict,
        help_text="Markdown by dimension, which replaces the default guidelines.",
    )
    raters = Texts(default=list, help_text="User names of the raters.")
    seed = Seed()


class AnswerNamed(serializers.Serializer):
    """The id of an answer in pairs, labels and exports."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()


class AnswerRoundsBody(serializers.Serializer):
    """The new rounds."""

    rounds = RoundBody(many=True, help_text="The rounds, in the order of the dimensions.")
    answers = AnswerNamed(many=True, help_text="The answers, in the order sent; equal answers have equal ids.")


class AnswerRounds(InCollection):
    also = (409,)
    tag = "rounds"

    @call(
        "Create answer rounds",
        AnswerRoundsBody,
        AnswerRoundsSent,
        status=201,
        example=(
            "One answer on two dimensions",
            {
                "name": "RAG, week 1",
                "dimensions": ["faithful", "correct"],
                "answers": [
                    {
                        "query_id": "q1",
                        "query": "Is the shell waterproof?",
                        "text": "Yes, it has three layers [1].",
                        "evidence": [{"doc_id": "d1", "title": "Shell", "text": "A waterproof shell."}],
                        "reference": "Yes.",
                    }
                ],
                "ratings_per_pair": 2,
                "raters": ["rater1", "rater2"],
            },
        ),
    )
    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create one draft per dimension over the same answers, or none. Open a round with `POST
        /rounds/<id>/open/`."""
        answers = [
            GivenAnswer(**{**one, "evidence": tuple(Passage(**passage) for passage in one["evidence"])})
            for one in body["answers"]
        ]
        scale: dict[str, Any] = body["scale"] or {}
        made = create_answer_rounds(
            self.collection,
            **{name: body[name] for name in ("name", "dimensions", "seed")},
            answers=answers,
            scale=[(row["value"], row["label"], row["cue"]) for row in scale.get("grades", ())],
            relevant_from=scale.get("relevant_from"),
            texts=body["guidelines"],
            settings=RoundSettings(**settings_in(body)),
            raters=members_called(self.collection, body["raters"]),
            actor=self.user,
        )
        rows = {row.pk: row for row in shown_rounds().filter(pk__in=[one.pk for one in made])}
        return {"rounds": [rows[one.pk] for one in made], "answers": answers}
