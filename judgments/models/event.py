"""Events of a collection: its webhooks and their deliveries, notices to people, and which notices they want."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.db import models
from django.utils import timezone

from judgments.models.fields import Authored, PublicModel, check, unique
from judgments.models.members.collection import Collection
from judgments.models.members.user import User


class CollectionEvent(PublicModel):
    """Something that happened in a collection, for webhooks and notices (`judgments.events.kinds`)."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=40)
    text = models.CharField(max_length=300)
    page = models.CharField(max_length=300, blank=True)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["created_at"], name="collection_event_by_age")]

    def __str__(self) -> str:
        return self.text


class Webhook(PublicModel, Authored):
    """An address that receives signed events; its secrets are encrypted."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=500)
    description = models.CharField(max_length=200, blank=True)
    events = models.JSONField(default=list)
    sealed = models.TextField()
    # Until this time, deliveries are also signed with the secret before the last rotation.
    previous_until = models.DateTimeField(null=True)
    active = models.BooleanField(default=True)
    failing_since = models.DateTimeField(null=True)
    # Why the server switched the webhook off; empty if a lead did.
    stopped_because = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return self.description or self.host

    @property
    def host(self) -> str:
        """The host of the address, whose path may contain a secret of the receiver."""
        return urlsplit(self.address).netloc


class Delivery(PublicModel):
    """One event for one webhook, with the outcome of the last attempt."""

    class State(models.TextChoices):
        HELD = "held", "held back"
        WAITING = "waiting", "waiting"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(CollectionEvent, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True)
    attempted_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    response = models.CharField(max_length=600, blank=True)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "deliveries"
        constraints = [check("delivery_state_known", state__in=["held", "waiting", "delivered", "failed"])]
        indexes = [
            models.Index(fields=["state", "next_at"], name="delivery_due"),
            models.Index(fields=["created_at"], name="delivery_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.event.kind} to {self.webhook}"


class Notice(PublicModel):
    """An event as one person may see it, in the app, by e-mail, or both."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices")
    event = models.ForeignKey(CollectionEvent, on_delete=models.CASCADE, related_name="notices")
    text = models.CharField(max_length=300)
    page = models.CharField(max_length=300)
    in_app = models.BooleanField(default=True)
    read_at = models.DateTimeField(null=True)
    # When it may be sent by e-mail; empty if it is not.
    mail_at = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [unique("notice_once", "user", "event")]
        indexes = [
            models.Index(fields=["user", "read_at"], name="notice_unread"),
            models.Index(fields=["mail_at"], condition=models.Q(mailed_at=None), name="notice_to_mail"),
        ]

    def __str__(self) -> str:
        return self.text


class NoticePreference(models.Model):
    """Whether a person wants notices of one kind; without a row, the defaults of the kind apply."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notice_preferences")
    kind = models.CharField(max_length=40)
    in_app = models.BooleanField()
    by_mail = models.BooleanField()

    class Meta:
        constraints = [unique("notice_preference_once", "user", "kind")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user}"
