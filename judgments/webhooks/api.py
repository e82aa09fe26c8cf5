"""API of webhooks: list, add, change, test and delete them, and list their deliveries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from judgments.events.kinds import KINDS, WEBHOOK_EVENTS
from judgments.models import Delivery, Webhook
from judgments.web import access
from judgments.web.endpoints import InCollection, Listed, Rows, call, listed
from judgments.web.serializers import Texts
from judgments.webhooks import deliveries, webhooks
from judgments.webhooks.sending import LONGEST_ADDRESS

EVENTS = "; ".join(f"`{name}`: {KINDS[name].description}" for name in WEBHOOK_EVENTS)


class WebhookBody(serializers.Serializer):
    """A webhook without its secret."""

    id = serializers.UUIDField(source="uuid")
    address = serializers.CharField()
    description = serializers.CharField()
    events = Texts()
    active = serializers.BooleanField()
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="Time of the first failure since the last success."
    )
    stopped_because = serializers.CharField(help_text="Why the server switched the webhook off.")
    created_at = serializers.DateTimeField()


class WebhookWithSecret(WebhookBody):
    """A webhook with its secret, which is returned only when it is created."""

    secret = serializers.CharField()


class NewWebhook(serializers.Serializer):
    """A webhook to add."""

    address = serializers.CharField(max_length=LONGEST_ADDRESS, help_text="An https address that the operator allows.")
    events = Texts(help_text=EVENTS)
    description = serializers.CharField(max_length=200, allow_blank=True, default="")


class WebhookChanges(serializers.Serializer):
    """The fields of a webhook that can be changed."""

    address = serializers.CharField(max_length=LONGEST_ADDRESS)
    events = Texts(help_text=EVENTS)
    description = serializers.CharField(max_length=200, allow_blank=True)
    active = serializers.BooleanField(help_text="A webhook that is switched off receives nothing.")
    rotate_secret = serializers.BooleanField(help_text="If true, the response has a new `secret`.")


class ChangedWebhook(WebhookBody):
    """The changed webhook, with its new secret if it was rotated."""

    secret = serializers.CharField(required=False)


class DeliveryBody(serializers.Serializer):
    """One event for the webhook, with the outcome of the last attempt."""

    id = serializers.UUIDField(source="uuid")
    event_id = serializers.UUIDField(source="event.uuid", help_text="The `id` in the body.")
    event = serializers.CharField(source="event.kind")
    state = serializers.ChoiceField(choices=["waiting", "delivered", "failed"])
    attempts = serializers.IntegerField()
    status = serializers.IntegerField(allow_null=True, help_text="The status code of the receiver's response.")
    response = serializers.CharField(help_text="The start of the response.")
    error = serializers.CharField()
    attempted_at = serializers.DateTimeField(allow_null=True)
    next_at = serializers.DateTimeField(allow_null=True, help_text="The time of the next attempt.")
    created_at = serializers.DateTimeField()


def _with_secret(hook: Webhook, secret: str) -> Webhook:
    hook.secret = secret  # type: ignore[attr-defined]
    return hook


@listed("List webhooks", "Return the webhooks, oldest first, without secrets. Only leads can read them.")
class Webhooks(Rows):
    """The webhooks of a collection."""

    queryset = Webhook.objects.order_by("created_at", "pk")
    filters = {"address": "address"}
    ordering = {"created_at": "created_at", "address": "address"}
    serializer_class = WebhookBody
    reads = access.LEADS
    also = (409,)
    returns_secret = True
    tag = "webhooks"

    @call(
        "Add a webhook",
        WebhookWithSecret,
        NewWebhook,
        status=201,
        example=("Closed rounds", {"address": "https://hooks.example.com/assay", "events": ["round.closed"]}),
    )
    def post(self, fields: dict[str, Any]) -> Webhook:
        """The response has the secret that signs deliveries. It is not shown again."""
        return _with_secret(*webhooks.add(self.collection, actor=self.user, **fields))


class InWebhook(InCollection):
    """Base class of endpoints below ``webhooks/<uuid>/``."""

    webhook: Webhook
    serializer_class: type[serializers.Serializer] = WebhookBody
    reads = access.LEADS
    tag = "webhooks"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.webhook = self.one(self.collection.webhooks.all(), "webhook")


class OneWebhook(InWebhook):
    @call("Get a webhook", WebhookBody)
    def get(self) -> Webhook:
        """Return the webhook without its secret."""
        return self.webhook

    @call("Change a webhook", ChangedWebhook, request=WebhookChanges)
    def patch(self) -> Any:
        """Omitted fields stay unchanged. After a rotation, deliveries are signed with both secrets for a day."""
        fields = self.read_body(WebhookChanges, partial=True)
        rotates = fields.pop("rotate_secret", False)
        hook = webhooks.change(self.webhook, actor=self.user, **fields) if fields else self.webhook
        if rotates:
            hook = _with_secret(hook, webhooks.rotate(hook, actor=self.user))
        return hook

    @call("Delete a webhook")
    def delete(self) -> None:
        """Delete the webhook with its secret and deliveries."""
        webhooks.remove(self.webhook, actor=self.user)


class TestWebhook(InWebhook):
    also = (503,)

    @call("Send a test event", DeliveryBody)
    def post(self) -> Delivery:
        """Send the event `test` once and return its outcome; a failure of the receiver also gives status 200."""
        return deliveries.send_test(self.webhook, actor=self.user)


@listed("List deliveries", "Return the deliveries of the last 30 days, newest first.")
class Deliveries(Listed, InWebhook):
    """The deliveries of a webhook."""

    queryset = Delivery.objects.all()
    serializer_class = DeliveryBody
    filters = {"state": "state", "event": "event__kind"}
    ordering = {"created_at": "created_at", "attempted_at": "attempted_at", "state": "state"}

    def rows(self) -> Any:
        return deliveries.listed(self.webhook)
