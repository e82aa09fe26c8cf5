"""Collections, the tenant boundary, with their members and roles."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from judgments.models.fields import Archivable, ArchivableQuerySet, PublicModel
from judgments.models.members.user import User


class Role(models.TextChoices):
    """The role of a member in a collection; design.md says what each one covers."""

    LEAD = "lead", "lead"
    ENGINEER = "engineer", "engineer"
    RATER = "rater", "rater"


class CollectionQuerySet(ArchivableQuerySet):
    def visible_to(self, user: Any) -> CollectionQuerySet:
        """Filter the collections that the user is a member of; others do not exist for them."""
        return self.filter(memberships__user_id=user.pk)


class Collection(PublicModel, Archivable):
    """A test collection: the tenant boundary of everything below it."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # Recorded by a lead, since the data cannot show that the embeddings changed.
    embedding_changed_at = models.DateTimeField(null=True, blank=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["name", "slug"]
        constraints = [
            models.CheckConstraint(condition=~Q(slug="new") & ~Q(slug=""), name="collection_slug_is_free_of_addresses")
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """The role of one user in one collection."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    # Languages a rater reads (tags such as ``de``; empty means any) and qualifications, in the lead's words.
    languages = models.JSONField(default=list, blank=True)
    qualifications = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user__username"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role}"
