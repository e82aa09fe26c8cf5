"""Pending invitations of users to a collection."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import PublicModel
from judgments.models.members.collection import Collection, Role
from judgments.models.members.user import User


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
