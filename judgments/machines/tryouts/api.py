"""API endpoints to test a provider or try a prompt; they return answers and cost, and store nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from assay.core.errors import NotValid
from assay.core.outcomes import OUTCOMES
from assay.llm.judges.prompt_templates import Template
from assay.llm.model_reply import Reply
from judgments.machines.judge_runs import expected_answers
from judgments.machines.judge_runs.serializers import CallCostBody
from judgments.machines.prompts import prompts
from judgments.machines.providers.api import OfProvider
from judgments.machines.tryouts import tryouts
from judgments.models import Provider
from judgments.web.endpoints import InCollection, call, rows_called
from judgments.web.serializers import Strict, Texts


class ModelTried(Strict):
    """The model to call."""

    model = serializers.CharField(
        allow_blank=True, default="", max_length=200, help_text="The model; by default the provider's first model."
    )


class CostBody(CallCostBody):
    """The model that answered, with the cost."""

    model = serializers.CharField(help_text="The name of the answering model, as the provider reports it.")
    seconds = serializers.FloatField()


class AnsweredBody(CostBody):
    """A provider's answer to one short question."""

    text = serializers.CharField()


class PromptTried(Strict):
    """A prompt to try, with the pairs and the model."""

    prompt = serializers.CharField(
        required=False,
        max_length=prompts.LONGEST,
        help_text="The text of a prompt, which need not be stored; use either this or `version`.",
    )
    system = serializers.CharField(allow_blank=True, default="", max_length=prompts.LONGEST)
    version = serializers.CharField(
        required=False,
        max_length=200,
        help_text=f"{', '.join(prompts.BUILT_IN)}, or the id of a stored prompt version.",
    )
    asks = serializers.ChoiceField(
        list(prompts.ASKS), required=False, help_text="Purpose of a prompt that is not stored."
    )
    expected = serializers.DictField(
        child=Texts(),
        default=dict,
        help_text="Accepted answers by query_id, for prompts that compare with them; only pairs of these queries are "
        "used.",
    )
    round = serializers.UUIDField(help_text="The round that provides pairs, scale and guidelines.")
    provider = serializers.UUIDField()
    model = serializers.CharField(max_length=200)
    pairs = serializers.IntegerField(
        default=3,
        min_value=1,
        max_value=tryouts.MOST,
        help_text="Number of pairs, or of comparisons for a pairwise prompt. Each needs one call. The same "
        "pairs are always chosen for a round.",
    )


class TriedPair(CostBody):
    """One pair, with the prompt sent and the parsed answer."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField()
    other_doc_id = serializers.CharField(
        allow_null=True, help_text="In a pairwise comparison, the document shown second."
    )
    outcome = serializers.CharField(help_text=f"One of {', '.join(OUTCOMES)}.")
    grade = serializers.IntegerField(allow_null=True)
    preference = serializers.FloatField(
        allow_null=True,
        help_text="Result of a pairwise comparison: from -1 (the first document is far better) to 1 (the second is).",
    )
    relevant = serializers.BooleanField(allow_null=True, help_text="Result of a yes-or-no question.")
    usefulness = serializers.FloatField(
        allow_null=True, help_text="Result of an answer: its token F1 with an accepted answer."
    )
    rationale = serializers.CharField()
    answer = serializers.CharField(help_text="The unmodified answer of the model.")
    asked = serializers.CharField(help_text="The prompt with its placeholders filled in.")


class TriedBody(serializers.Serializer):
    """The answers for each pair."""

    calls = serializers.IntegerField()
    cost_usd = serializers.FloatField(
        allow_null=True, help_text="Cost of all calls; null if the price of a call is unknown."
    )
    pairs = TriedPair(many=True)


class TryProvider(OfProvider):
    also = (503,)

    @call("Test a model provider", AnsweredBody, ModelTried)
    def post(self, body: dict[str, Any]) -> Any:
        """Check address, key and model with a call of a few tokens. Nothing is stored; a 400 response explains the
        problem."""
        model = body["model"] or self.provider.models_offered[0]["name"]
        reply = tryouts.provider(self.provider, _offered(self.provider, model), actor=self.user)
        return {**_cost(reply), "text": reply.text}


class TryPrompt(InCollection):
    also = (503,)
    tag = "judges"

    @call("Try a prompt on real pairs", TriedBody, PromptTried)
    def post(self, body: dict[str, Any]) -> Any:
        """Nothing is stored, and pairs that you may still grade are not used. Each pair needs one call."""
        (round_,) = rows_called(self.collection.rounds.all(), [body["round"]], "round", "round")
        (provider,) = rows_called(self.collection.providers.all(), [body["provider"]], "provider", "provider")
        tried = tryouts.try_prompt(
            self._words(body),
            viewer=self.user,
            round_=round_,
            provider=provider,
            model=_offered(provider, body["model"]),
            number=body["pairs"],
            expected=expected_answers.checked(body["expected"]) if body["expected"] else {},
        )
        costs = _sum(one.reply.cost_usd for one in tried)
        return {"calls": len(tried), "cost_usd": costs, "pairs": [_pair(one) for one in tried]}

    def _words(self, body: dict[str, Any]) -> Template:
        if ("prompt" in body) == ("version" in body):
            message = "Send either `prompt` or `version`."
            raise NotValid("Exactly one prompt is required.", {"prompt": message})
        if "prompt" in body:
            return prompts.check("", body["system"], body["prompt"], body.get("asks", ""))
        if body["system"]:
            message = "A version has its own system text. Send `prompt` to use another text."
            raise NotValid("`system` requires `prompt`.", {"system": message})
        try:
            return prompts.find(self.collection, body["version"], None).template
        except NotValid:
            message = f"Use {', '.join(prompts.BUILT_IN)}, or an id that GET .../prompts/ returns."
            raise NotValid("Unknown prompt version.", {"version": message}) from None


def _offered(provider: Provider, model: str) -> str:
    if not provider.offered(model):
        known = ", ".join(one["name"] for one in provider.models_offered)
        raise NotValid("Unknown model.", {"model": f"Models of this provider: {known}."})
    return model


def _cost(reply: Reply) -> dict[str, Any]:
    took = {name: getattr(reply, name) for name in ("model", "tokens_in", "tokens_out", "cost_usd", "seconds")}
    return {**took, "cost_estimated": reply.estimated, "left_out": list(reply.left_out)}


def _pair(one: tryouts.Tryout) -> dict[str, Any]:
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
