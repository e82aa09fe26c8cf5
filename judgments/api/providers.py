"""API endpoints for the model providers of a collection and the prompts of its machine judges."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, prompts_kept, providers_kept
from judgments.api.endpoint import InCollection, Rows
from judgments.api.strict import Strict
from judgments.core.errors import NotFound
from judgments.models import PromptVersion, Provider
from judgments.providers import PROTOCOLS
from judgments.providers.protocol import WITHOUT


class OfferedModel(Strict):
    """A model with its prices, and how it wants to be asked where it is not as others."""

    name = serializers.CharField(max_length=200)
    price_in = serializers.FloatField(
        required=False, allow_null=True, default=None, help_text="Dollars for a million tokens read."
    )
    price_out = serializers.FloatField(
        required=False, allow_null=True, default=None, help_text="Dollars for a million tokens written."
    )
    thinks = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whether it thinks before it writes, and so wants `max_completion_tokens` and no temperature; its "
        "name says so when left out.",
    )
    leave_out = serializers.ListField(
        child=serializers.ChoiceField(choices=list(WITHOUT)),
        required=False,
        default=list,
        help_text="What it is never told, for servers that refuse it.",
    )
    most_tokens = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=1,
        max_value=providers_kept.MOST_TOKENS,
        help_text="Of an answer, thoughts among it; a judge's own number when left out.",
    )


class ProviderBody(serializers.Serializer):
    """A provider and how it is asked; never its key."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    protocol = serializers.CharField()
    base_url = serializers.CharField()
    models = OfferedModel(many=True, source="models_offered")
    prices_of = serializers.DateField(allow_null=True)
    has_key = serializers.SerializerMethodField()
    concurrency = serializers.IntegerField()
    per_minute = serializers.IntegerField(allow_null=True)
    tokens_per_minute = serializers.IntegerField(allow_null=True)
    timeout = serializers.FloatField()
    created_at = serializers.DateTimeField()

    def get_has_key(self, row: Provider) -> bool:
        return bool(row.sealed)


class ProviderSent(Strict):
    """A provider to keep."""

    name = serializers.CharField(max_length=120)
    protocol = serializers.ChoiceField(choices=list(PROTOCOLS))
    base_url = serializers.CharField(
        max_length=500, required=False, allow_blank=True, default="", help_text="The makers' own when left out."
    )
    key = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        write_only=True,
        help_text="Kept encrypted and told to nobody again. Left out of a change, the one that is kept stays.",
    )
    models = OfferedModel(many=True, source="models_offered")
    prices_of = serializers.DateField(required=False, allow_null=True, default=None)
    concurrency = serializers.IntegerField(min_value=1, max_value=256, default=8)
    per_minute = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    tokens_per_minute = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    timeout = serializers.FloatField(min_value=1, max_value=600, default=60.0)


class PromptBody(serializers.Serializer):
    """A version of a prompt."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    number = serializers.IntegerField()
    asks = serializers.SerializerMethodField(
        help_text="What for: " + ", ".join(f"`{name}` ({what})" for name, what in prompts_kept.ASKS.items()) + "."
    )
    system = serializers.CharField()
    prompt = serializers.CharField()
    note = serializers.CharField()
    sha256 = serializers.CharField()
    created_at = serializers.DateTimeField()

    def get_asks(self, version: PromptVersion) -> str:
        return prompts_kept.asks(prompts_kept.template_of(version))


class PromptSent(Strict):
    """The words of a prompt; under a name that is there they become its next version."""

    name = serializers.CharField(max_length=80)
    system = serializers.CharField(required=False, allow_blank=True, default="", max_length=prompts_kept.LONGEST)
    prompt = serializers.CharField(
        max_length=prompts_kept.LONGEST,
        help_text=f"With places: {', '.join('{' + place + '}' for place in prompts_kept.FILLED_WITH)}.",
    )
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)
    asks = serializers.ChoiceField(
        list(prompts_kept.ASKS),
        required=False,
        source="asking",
        help_text="Told by the places where it is left out; `downstream` has to be said.",
    )


class Providers(Rows):
    """The providers of a collection; for leads."""

    queryset = Provider.objects.order_by("name")
    serializer_class = ProviderBody
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    @extend_schema(summary="The model providers")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """By name; without keys."""
        return self.list(request)

    @extend_schema(
        summary="Keep a model provider",
        request=ProviderSent,
        responses={201: ProviderBody},
        examples=[
            OpenApiExample(
                "A server of your own",
                {
                    "name": "our vLLM",
                    "protocol": "openai",
                    "base_url": "https://models.example.com/v1",
                    "key": "<key>",
                    "models": [{"name": "judge-large", "price_in": 0.4, "price_out": 1.2}],
                },
                request_only=True,
            )
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Only hosts that the operator allowed."""
        asked = self.sent(ProviderSent)
        key = asked.pop("key")
        return self.told(
            ProviderBody, providers_kept.add(self.collection, actor=request.user, given=asked, key=key), 201
        )


class OfProvider(InCollection):
    """An address below one provider; for leads."""

    provider: Provider
    reads = access.LEADS
    tag = "judges"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        found = self.collection.providers.filter(uuid=kwargs["uuid"]).first()
        if found is None:
            raise NotFound("This collection has no such provider.")
        self.provider = found


class OneProvider(OfProvider):
    """One provider."""

    serializer_class = ProviderBody
    also = (409,)

    @extend_schema(summary="One model provider")
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """How it is asked, without its key."""
        return self.told(ProviderBody, self.provider)

    @extend_schema(summary="Change a model provider", request=ProviderSent)
    def patch(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """What is left out stays; the key too, unless the address is another one."""
        asked = self.sent(ProviderSent, partial=True)
        key = asked.pop("key", "")
        providers_kept.change(self.provider, actor=request.user, given=asked, key=key)
        return self.told(ProviderBody, self.provider)

    @extend_schema(summary="Remove a model provider", responses={204: None})
    def delete(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """With its key. What its models said stays."""
        providers_kept.remove(self.provider, actor=request.user)
        return Response(status=204)


class Prompts(Rows):
    """The collection's own prompts."""

    queryset = PromptVersion.objects.order_by("name", "-number")
    serializer_class = PromptBody
    also = (409,)
    tag = "judges"

    @extend_schema(summary="The prompts, version by version")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Those that come with Assay are called `graded`, `binary` and `pairwise`, and are not listed."""
        return self.list(request)

    @extend_schema(summary="Store a version of a prompt", request=PromptSent, responses={201: PromptBody})
    def post(self, request: Request, slug: str) -> Response:
        """A version never changes; judges that were made with earlier ones keep theirs."""
        made = prompts_kept.add_version(self.collection, actor=request.user, **self.sent(PromptSent))
        return self.told(PromptBody, made, 201)
