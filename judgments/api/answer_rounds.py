"""Rounds of answers: made over answers of RAG systems, one for each dimension."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.answer_dimensions import DIMENSIONS
from judgments.answer_rounds import MOST_ANSWERS, MOST_PASSAGES, GivenAnswer, Passage, create_answer_rounds
from judgments.api.endpoint import InCollection
from judgments.api.round_settings import SettingsBody, settings_in
from judgments.api.rounds import RoundBody, ScaleBody, members_called, shown_rounds
from judgments.api.seeds import Seed
from judgments.api.strict import Strict
from judgments.round_settings import RoundSettings


class PassageBody(Strict):
    """One passage of the evidence."""

    doc_id = serializers.CharField(trim_whitespace=False)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    title = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    url = serializers.CharField(required=False, allow_blank=True, default="")


class AnswerSentForGrading(Strict):
    """One answer to grade. It names no system: equal answers with equal evidence are graded once."""

    query_id = serializers.CharField(trim_whitespace=False)
    query = serializers.CharField(trim_whitespace=False, help_text="The question. It never becomes a query.")
    text = serializers.CharField(trim_whitespace=False, help_text="What the system answered.")
    evidence = PassageBody(
        many=True,
        required=False,
        default=list,
        help_text=f"In the order that citations count; {MOST_PASSAGES} at most.",
    )
    reference = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The right answer; `faithful` does not show it."
    )


class AnswerRoundsSent(SettingsBody):
    """The answers, what is graded about them, and by whom."""

    name = serializers.CharField(max_length=100, help_text="The beginning of each round's name.")
    answers = AnswerSentForGrading(many=True, help_text=f"{MOST_ANSWERS:,} at most.")
    dimensions = serializers.ListField(
        child=serializers.ChoiceField(choices=list(DIMENSIONS)), default=list(DIMENSIONS), help_text="All, if left out."
    )
    scale = ScaleBody(
        required=False, allow_null=True, default=None, help_text="Null for 0-2 with names that fit the dimension."
    )
    guidelines = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False),
        required=False,
        default=dict,
        help_text="Markdown by dimension, in place of the usual guidelines.",
    )
    raters = serializers.ListField(child=serializers.CharField(), default=list, help_text="User names.")
    seed = Seed()


class AnswerNamed(serializers.Serializer):
    """The id under which pairs, labels and exports name an answer."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()


class AnswerRoundsBody(serializers.Serializer):
    """The rounds that were made."""

    rounds = RoundBody(many=True, help_text="In the order of the dimensions.")
    answers = AnswerNamed(many=True, help_text="In the order sent; equal answers have equal ids.")


class AnswerRounds(InCollection):
    """Rounds over answers of RAG systems."""

    serializer_class = AnswerRoundsBody
    also = (409,)
    tag = "rounds"

    @extend_schema(
        summary="Make rounds of answers",
        request=AnswerRoundsSent,
        responses={201: AnswerRoundsBody},
        examples=[
            OpenApiExample(
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
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """One draft for each dimension over the same answers, or none. `POST /rounds/<id>/open/` lets raters in."""
        asked = self.sent(AnswerRoundsSent)
        answers = [_answer(one) for one in asked["answers"]]
        scale: dict[str, Any] = asked["scale"] or {}
        made = create_answer_rounds(
            self.collection,
            name=asked["name"],
            answers=answers,
            dimensions=asked["dimensions"],
            scale=[(row["value"], row["label"], row["cue"]) for row in scale.get("grades", ())],
            relevant_from=scale.get("relevant_from"),
            texts=asked["guidelines"],
            settings=RoundSettings(**settings_in(asked)),
            raters=members_called(self.collection, asked["raters"]),
            seed=asked["seed"],
            actor=request.user,
        )
        rows = {row.pk: row for row in shown_rounds().filter(pk__in=[one.pk for one in made])}
        return self.told(AnswerRoundsBody, {"rounds": [rows[one.pk] for one in made], "answers": answers}, 201)


def _answer(body: dict[str, Any]) -> GivenAnswer:
    return GivenAnswer(**{**body, "evidence": tuple(Passage(**passage) for passage in body["evidence"])})
