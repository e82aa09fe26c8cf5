"""API endpoints to try a provider or a prompt: they return the replies and their cost and store nothing."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import expected_answers, prompts_kept, trying
from judgments.api.endpoint import InCollection, rows_called
from judgments.api.providers import OfProvider
from judgments.api.strict import Strict
from judgments.core.errors import NotValid
from judgments.judges.answers import Reply
from judgments.judges.contract import OUTCOMES
from judgments.judges.templates import Template
from judgments.models import Provider


class ModelTried(Strict):
    """Which of a provider's models is asked."""

    model = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=200, help_text="The first one when left out."
    )


class CostBody(serializers.Serializer):
    """Who answered, and what it took."""

    model = serializers.CharField(help_text="As the provider names who answered.")
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True, help_text="Null where the model has no price here.")
    cost_estimated = serializers.BooleanField(
        help_text="Whether that is the most that it can have been: nobody counted."
    )
    left_out = serializers.ListField(
        child=serializers.CharField(), help_text="What the model was not told since it takes none."
    )
    seconds = serializers.FloatField()


class AnsweredBody(CostBody):
    """What a provider answered to one short question."""

    text = serializers.CharField()


class PromptTried(Strict):
    """Words, and on which pairs and by which model they are tried."""

    prompt = serializers.CharField(
        required=False,
        max_length=prompts_kept.LONGEST,
        help_text="Words that need not be stored, with the places of a prompt; or leave it out and name a `version`.",
    )
    system = serializers.CharField(required=False, allow_blank=True, default="", max_length=prompts_kept.LONGEST)
    version = serializers.CharField(
        required=False,
        max_length=200,
        help_text=f"{', '.join(prompts_kept.BUILT_IN)}, or the id of a stored prompt's version.",
    )
    asks = serializers.ChoiceField(
        list(prompts_kept.ASKS), required=False, help_text="Of words that are not stored; as when they are stored."
    )
    expected = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        default=dict,
        help_text="Accepted answers by query_id, for words that are held against them: pairs of these are taken.",
    )
    round = serializers.UUIDField(help_text="Whose pairs, scale and guidelines.")
    provider = serializers.UUIDField()
    model = serializers.CharField(max_length=200)
    pairs = serializers.IntegerField(
        default=3,
        min_value=1,
        max_value=trying.MOST,
        help_text="Each is a call; always the same of a round: pairs, or battles for words that ask for those.",
    )


class TriedPair(CostBody):
    """One pair, what the model was asked, and how its answer is read."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    other_doc_id = serializers.CharField(allow_null=True, help_text="Of a battle the document that was shown second.")
    outcome = serializers.CharField(help_text=f"One of {', '.join(OUTCOMES)}.")
    grade = serializers.IntegerField(allow_null=True)
    preference = serializers.FloatField(
        allow_null=True, help_text="Of a battle: from -1 (the first document is far better) to 1 (the second is)."
    )
    relevant = serializers.BooleanField(allow_null=True, help_text="Of a yes or no.")
    usefulness = serializers.FloatField(allow_null=True, help_text="Of an answer: the token F1 with an accepted one.")
    rationale = serializers.CharField()
    answer = serializers.CharField(help_text="As it came.")
    asked = serializers.CharField(help_text="The prompt with its places filled.")


class TriedBody(serializers.Serializer):
    """What was answered, pair by pair."""

    calls = serializers.IntegerField()
    cost_usd = serializers.FloatField(allow_null=True, help_text="Of all calls; null where one has no price.")
    pairs = TriedPair(many=True)


class TryProvider(OfProvider):
    """A provider asked one question."""

    serializer_class = AnsweredBody
    also = (503,)

    @extend_schema(summary="Ask a model provider one short question", request=ModelTried, responses={200: AnsweredBody})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Whether address, key and model are right. A few tokens, nothing is kept; a 400 says what is wrong."""
        model = self.sent(ModelTried)["model"] or self.provider.models_offered[0]["name"]
        reply = trying.provider(self.provider, _offered(self.provider, model), actor=request.user)
        return self.told(AnsweredBody, {**_cost(reply), "text": reply.text})


class TryPrompt(InCollection):
    """Words tried on real pairs; for leads."""

    serializer_class = TriedBody
    also = (503,)
    tag = "judges"

    @extend_schema(summary="Try a prompt on real pairs", request=PromptTried, responses={200: TriedBody})
    def post(self, request: Request, slug: str) -> Response:
        """Nothing of it is kept, and pairs that you may still grade are not taken. Each pair costs a call."""
        asked = self.sent(PromptTried)
        (round_,) = rows_called(self.collection.rounds.all(), [asked["round"]], "round", "round")
        (provider,) = rows_called(self.collection.providers.all(), [asked["provider"]], "provider", "provider")
        tried = trying.prompt(
            self._words(asked),
            viewer=request.user,
            round_=round_,
            provider=provider,
            model=_offered(provider, asked["model"]),
            number=asked["pairs"],
            expected=expected_answers.checked(asked["expected"]) if asked["expected"] else {},
        )
        costs = _sum(one.reply.cost_usd for one in tried)
        return self.told(TriedBody, {"calls": len(tried), "cost_usd": costs, "pairs": [_pair(one) for one in tried]})

    def _words(self, asked: dict[str, Any]) -> Template:
        if ("prompt" in asked) == ("version" in asked):
            said = "Send either the words as prompt or a version's id, and not both."
            raise NotValid("There are no words to try, or two.", {"prompt": said})
        if "prompt" in asked:
            return prompts_kept.check("", asked["system"], asked["prompt"], asked.get("asks", ""))
        if asked["system"]:
            said = "A version has its own: send the prompt's words with them."
            raise NotValid("System words belong to a prompt.", {"system": said})
        try:
            return prompts_kept.find(self.collection, asked["version"], None).template
        except NotValid:
            said = f"Known: {', '.join(prompts_kept.BUILT_IN)}, and the ids that GET .../prompts/ lists."
            raise NotValid("There is no such prompt.", {"version": said}) from None


def _offered(provider: Provider, model: str) -> str:
    if not provider.offered(model):
        known = ", ".join(one["name"] for one in provider.models_offered)
        raise NotValid("The provider has no such model here.", {"model": f"Known: {known}."})
    return model


def _cost(reply: Reply) -> dict[str, Any]:
    took = {name: getattr(reply, name) for name in ("model", "tokens_in", "tokens_out", "cost_usd", "seconds")}
    return {**took, "cost_estimated": reply.estimated, "left_out": list(reply.left_out)}


def _pair(one: trying.Tried) -> dict[str, Any]:
    return {
        **_cost(one.reply),
        "query_id": one.pair.query.query_id,
        "doc_id": one.pair.document.doc_id,
        "other_doc_id": None if one.other is None else one.other.document.doc_id,
        "outcome": one.outcome.name,
        "grade": one.outcome.grade,
        "preference": one.outcome.preference,
        "relevant": one.outcome.relevant,
        "usefulness": one.outcome.usefulness,
        "rationale": one.outcome.rationale,
        "answer": one.reply.text,
        "asked": one.prompt,
    }


def _sum(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if None in known else sum(cost for cost in known if cost is not None)
