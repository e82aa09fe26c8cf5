"""Collections, the tenant boundary: members, grants of the server's resources, invitations, and recorded changes."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from judgments.models.fields import Archivable, Authored, EventModel, EventQuerySet, Named, PublicModel, check, unique
from judgments.models.members.user import User


class Role(models.TextChoices):
    """The role of a member in a collection; design.md says what each one covers."""

    LEAD = "lead", "lead"
    ENGINEER = "engineer", "engineer"
    RATER = "rater", "rater"


class Collection(Named, PublicModel, Archivable):
    """A test collection: the tenant boundary of everything below it."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # How documents look as search results (`judgments.documents.result_templates`).
    result_template = models.TextField(blank=True)
    # Of the labels, in the data card of snapshots: an SPDX identifier such as CC-BY-4.0, or a sentence.
    license = models.CharField(max_length=200, blank=True)
    # Recorded by a lead, since the data cannot show that the embeddings changed.
    embedding_changed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "slug"]
        constraints = [check("collection_slug_is_free_of_addresses", ~Q(slug="new") & ~Q(slug=""))]


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
            unique("membership_once", "collection", "user"),
            check("membership_role_known", role__in=Role.values),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role}"


class Grant(PublicModel):
    """The operator's permission for one collection. It never exceeds the server's own settings."""

    class Kind(models.TextChoices):
        CONNECTOR_HOST = "connector-host", "host that connectors may query"
        CONNECTOR_FOLDER = "connector-folder", "folder or file that connectors may read"
        PROVIDER_HOST = "provider-host", "host of a model provider"
        LOCAL_MODEL = "local-model", "model that judges may load on the server"
        WEBHOOK_HOST = "webhook-host", "host that webhooks may send to"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="grants")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    # As in the settings; ``*`` permits everything that they allow, now and later.
    value = models.CharField(max_length=500)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["collection", "kind", "value"]
        constraints = [unique("grant_once", "collection", "kind", "value")]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


class MemberInvitation(PublicModel, Authored):
    """An invitation of a user name to a collection. It looks the same whether or not the user exists."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="member_invitations")
    username = models.CharField(max_length=150)
    role = models.CharField(max_length=10, choices=Role.choices)
    # Hidden from leads, since it would reveal that the user exists.
    declined_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            unique("member_invitation_once", "collection", "username"),
            check("member_invitation_role_known", role__in=Role.values),
        ]

    def __str__(self) -> str:
        return f"{self.username} as {self.role}"


class InviteLink(PublicModel):
    """A lead's invitation of one person. Only the code's SHA-256 is stored, so the link is shown once."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="invite_links")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.RATER)
    # The round that a rater joins; without one they only become a member of the collection.
    round = models.ForeignKey("judgments.Round", null=True, on_delete=models.CASCADE, related_name="invite_links")
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
            check("invite_link_role_known", role__in=Role.values),
            check(
                "invite_link_used_once",
                Q(used_at__isnull=True, used_by__isnull=True)
                | Q(used_at__isnull=False, used_by__isnull=False, revoked_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.meant_for or "a link"


class DeclarationQuerySet(EventQuerySet):
    def standing(self) -> DeclarationQuerySet:
        """Filter the recorded changes that were not withdrawn."""
        return self.filter(withdraws__isnull=True, withdrawn_by__isnull=True)


class Declaration(PublicModel, EventModel):
    """One recorded change outside the data, such as a new schema, new embeddings or a new category."""

    class Kind(models.TextChoices):
        SCHEMA = "schema", "schema or analyzer changed"
        EMBEDDING = "embedding", "embedding model changed"
        CATEGORY = "category", "new category"
        LANGUAGE = "language", "new language"
        FIELDS = "fields", "fields of category and language"
        INDEX = "index", "documents in the index"
        UNRATED = "unrated", "unrated documents of an engine"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="declarations")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    happened_at = models.DateTimeField()
    note = models.CharField(max_length=300, blank=True)
    data = models.JSONField(default=dict)
    withdraws = models.OneToOneField("self", null=True, on_delete=models.PROTECT, related_name="withdrawn_by")
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DeclarationQuerySet.as_manager()

    class Meta:
        ordering = ["-happened_at", "-pk"]
        constraints = [
            check(
                "declaration_kind_known",
                kind__in=["schema", "embedding", "category", "language", "fields", "index", "unrated"],
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.happened_at:%Y-%m-%d}"
