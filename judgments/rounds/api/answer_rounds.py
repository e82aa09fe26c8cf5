"""API of answer rounds: rounds over answers of RAG systems, one per dimension."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.rounds.answer_dimensions import DIMENSIONS
from judgments.rounds.answer_rounds import MOST_ANSWERS, MOST_PASSAGES, GivenAnswer, Passage, create_answer_rounds
from judgments.rounds.api.rounds import RoundBody, ScaleBody, members_called, shown_rounds
from judgments.rounds.serializers import SettingsBody, settings_in
from judgments.rounds.settings import RoundSettings
from judgments.web.endpoints import InCollection
from judgments.web.seeds import Seed
from judgments.web.serializers import Strict


class PassageBody(Strict):
    """One passage of the evidence."""

    doc_id = serializers.CharField(trim_whitespace=False)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    title = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    url = serializers.CharField(required=False, allow_blank=True, default="")


class AnswerSentForGrading(Strict):
    """One answer to grade, without the name of its system. Equal answers with equal evidence are graded once."""

    query_id = serializers.CharField(trim_whitespace=False)
    query = serializers.CharField(trim_whitespace=False, help_text="The question. It is not added to the queries.")
    text = serializers.CharField(trim_whitespace=False, help_text="The system's answer.")
    evidence = PassageBody(
        many=True,
        required=False,
        default=list,
        help_text=f"Passages in the order of citations; at most {MOST_PASSAGES}.",
    )
    reference = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The reference answer; `faithful` does not show it."
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
    scale = ScaleBody(
        required=False,
        allow_null=True,
        default=None,
        help_text="The scale; null for 0-2 with labels for the dimension.",
    )
    guidelines = serializers.DictField(
        child=serializers.CharField(trim_whitespace=False),
        required=False,
        default=dict,
        help_text="Markdown by dimension, which replaces the default guidelines.",
    )
    raters = serializers.ListField(child=serializers.CharField(), default=list, help_text="User names of the raters.")
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
    """Rounds over answers of RAG systems."""

    serializer_class = AnswerRoundsBody
    also = (409,)
    tag = "rounds"

    @extend_schema(
        summary="Create answer rounds",
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
        """Create one draft per dimension over the same answers, or none. Open a round with `POST
        /rounds/<id>/open/`."""
        body = self.read_body(AnswerRoundsSent)
        answers = [_answer(one) for one in body["answers"]]
        scale: dict[str, Any] = body["scale"] or {}
        made = create_answer_rounds(
            self.collection,
            name=body["name"],
            answers=answers,
            dimensions=body["dimensions"],
            scale=[(row["value"], row["label"], row["cue"]) for row in scale.get("grades", ())],
            relevant_from=scale.get("relevant_from"),
            texts=body["guidelines"],
            settings=RoundSettings(**settings_in(body)),
            raters=members_called(self.collection, body["raters"]),
            seed=body["seed"],
            actor=request.user,
        )
        rows = {row.pk: row for row in shown_rounds().filter(pk__in=[one.pk for one in made])}
        return self.respond(AnswerRoundsBody, {"rounds": [rows[one.pk] for one in made], "answers": answers}, 201)


def _answer(body: dict[str, Any]) -> GivenAnswer:
    return GivenAnswer(**{**body, "evidence": tuple(Passage(**passage) for passage in body["evidence"])})
