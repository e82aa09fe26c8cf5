"""Invitations of members, and invitation links."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import PublicModel
from judgments.models.members.collection import Collection, Role
from judgments.models.members.user import User
from judgments.models.round import Round


class MemberInvitation(PublicModel):
    """An invitation of a user name to a collection. It looks the same whether or not the user exists."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="member_invitations")
    username = models.CharField(max_length=150)
    role = models.CharField(max_length=10, choices=Role.choices)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # Hidden from leads, since it would reveal that the user exists.
    declined_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "username"], name="member_invitation_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_invitation_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.username} as {self.role}"


class InviteLink(PublicModel):
    """A lead's invitation of one person as a rater. Only the code's SHA-256 is stored, so the link is shown once."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="invite_links")
    # The round that the person joins; without one they only become a rater of the collection.
    round = models.ForeignKey(Round, null=True, on_delete=models.CASCADE, related_name="invite_links")
    meant_for = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(used_at__isnull=True, used_by__isnull=True)
                | Q(used_at__isnull=False, used_by__isnull=False, revoked_at__isnull=True),
                name="invite_link_used_once",
            ),
        ]

    def __str__(self) -> str:
        return self.meant_for or "a link"
