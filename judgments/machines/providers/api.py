"""API endpoints for the model providers of a collection and the prompts of its machine judges."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from assay.llm.providers import PROTOCOLS
from assay.llm.providers.protocol import WITHOUT
from judgments.machines.prompts import prompts
from judgments.machines.providers import accounts
from judgments.models import PromptVersion, Provider
from judgments.web import access
from judgments.web.endpoints import InCollection, Rows, call, listed
from judgments.web.serializers import Strict


class OfferedModel(Strict):
    """A model with its prices and, if needed, its call options."""

    name = serializers.CharField(max_length=200)
    price_in = serializers.FloatField(
        allow_null=True, default=None, help_text="Price in dollars per million input tokens."
    )
    price_out = serializers.FloatField(
        allow_null=True, default=None, help_text="Price in dollars per million output tokens."
    )
    thinks = serializers.BooleanField(
        allow_null=True,
        default=None,
        help_text="Whether it is a reasoning model, which needs `max_completion_tokens` and no temperature; by default "
        "inferred from its name.",
    )
    leave_out = serializers.ListField(
        child=serializers.ChoiceField(choices=list(WITHOUT)),
        default=list,
        help_text="Parameters that are never sent, because the server rejects them.",
    )
    most_tokens = serializers.IntegerField(
        allow_null=True,
        default=None,
        min_value=1,
        max_value=accounts.MOST_TOKENS,
        help_text="Maximum output tokens, including reasoning; by default the limit of the judge.",
    )


class ProviderBody(serializers.Serializer):
    """A provider with its settings, without its key."""

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
    """A provider to add."""

    name = serializers.CharField(max_length=120)
    protocol = serializers.ChoiceField(choices=list(PROTOCOLS))
    base_url = serializers.CharField(
        max_length=500, allow_blank=True, default="", help_text="The address; by default the vendor's."
    )
    key = serializers.CharField(
        allow_blank=True,
        default="",
        write_only=True,
        help_text="Stored encrypted and never returned. If a change omits the key, the stored key is kept.",
    )
    models = OfferedModel(many=True, source="models_offered")
    prices_of = serializers.DateField(allow_null=True, default=None)
    concurrency = serializers.IntegerField(min_value=1, max_value=256, default=8)
    per_minute = serializers.IntegerField(min_value=1, allow_null=True, default=None)
    tokens_per_minute = serializers.IntegerField(min_value=1, allow_null=True, default=None)
    timeout = serializers.FloatField(min_value=1, max_value=600, default=60.0)


class PromptBody(serializers.Serializer):
    """A version of a prompt."""

    id = serializers.UUIDField(source="uuid")
    name = serializers.CharField()
    number = serializers.IntegerField()
    asks = serializers.SerializerMethodField(
        help_text="The purpose of the prompt: "
        + ", ".join(f"`{name}` ({what})" for name, what in prompts.ASKS.items())
        + "."
    )
    system = serializers.CharField()
    prompt = serializers.CharField()
    note = serializers.CharField()
    sha256 = serializers.CharField()
    created_at = serializers.DateTimeField()

    def get_asks(self, version: PromptVersion) -> str:
        return prompts.asks(prompts.template_of(version))


class PromptSent(Strict):
    """The text of a prompt. If the name exists, the text becomes the next version."""

    name = serializers.CharField(max_length=80)
    system = serializers.CharField(allow_blank=True, default="", max_length=prompts.LONGEST)
    prompt = serializers.CharField(
        max_length=prompts.LONGEST,
        help_text=f"Available placeholders: {', '.join('{' + place + '}' for place in prompts.FILLED_WITH)}.",
    )
    note = serializers.CharField(allow_blank=True, default="", max_length=500)
    asks = serializers.ChoiceField(
        list(prompts.ASKS),
        required=False,
        source="asking",
        help_text="The purpose; by default inferred from the placeholders. `downstream` is never inferred.",
    )


@listed("List model providers", "Return the providers sorted by name, without keys.")
class Providers(Rows):
    """The providers of a collection; for leads."""

    queryset = Provider.objects.order_by("name")
    serializer_class = ProviderBody
    filters = {"name": "name"}
    ordering = {"name": "name", "created_at": "created_at"}
    reads = access.LEADS
    also = (409,)
    tag = "judges"

    @call(
        "Add a model provider",
        ProviderBody,
        ProviderSent,
        status=201,
        example=(
            "Your own server",
            {
                "name": "our vLLM",
                "protocol": "openai",
                "base_url": "https://models.example.com/v1",
                "key": "<key>",
                "models": [{"name": "judge-large", "price_in": 0.4, "price_out": 1.2}],
            },
        ),
    )
    def post(self, body: dict[str, Any]) -> Any:
        """The operator must have allowed the host of the address."""
        key = body.pop("key")
        return accounts.add(self.collection, actor=self.user, given=body, key=key)


class OfProvider(InCollection):
    """Base class of endpoints below one provider, which are for leads."""

    provider: Provider
    reads = access.LEADS
    tag = "judges"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.provider = self.one(self.collection.providers.all(), "provider")


class OneProvider(OfProvider):
    also = (409,)

    @call("Get a model provider", ProviderBody)
    def get(self) -> Any:
        """Return the settings of the provider without its key."""
        return self.provider

    @call("Change a model provider", ProviderBody, request=ProviderSent)
    def patch(self) -> Any:
        """Omitted fields stay unchanged, including the key unless the address changes."""
        body = self.read_body(ProviderSent, partial=True)
        key = body.pop("key", "")
        accounts.change(self.provider, actor=self.user, given=body, key=key)
        return self.provider

    @call("Remove a model provider")
    def delete(self) -> None:
        """Delete the provider and its key. Stored answers of its models are kept."""
        accounts.remove(self.provider, actor=self.user)


@listed(
    "List prompt versions",
    "Return the collection's versions, without the built-in prompts `graded`, `binary` and `pairwise`.",
)
class Prompts(Rows):
    """The collection's own prompts."""

    queryset = PromptVersion.objects.order_by("name", "-number")
    serializer_class = PromptBody
    filters = {"name": "name"}
    ordering = {"name": "name", "number": "number", "created_at": "created_at"}
    also = (409,)
    tag = "judges"

    @call("Create a prompt version", PromptBody, PromptSent, status=201)
    def post(self, body: dict[str, Any]) -> Any:
        """A version never changes. Judges keep the version they were created with."""
        return prompts.add_version(self.collection, actor=self.user, **body)
