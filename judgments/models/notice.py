"""Notices of events to people, and which ones they want."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from judgments.models.event import CollectionEvent
from judgments.models.fields import PublicModel, unique
from judgments.models.members.user import User


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
