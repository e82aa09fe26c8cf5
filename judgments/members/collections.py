"""Collections: create and update them, and manage their members."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from judgments.documents import result_templates
from judgments.members import recorded_changes, round_raters
from judgments.members.round_raters import tags
from judgments.models import Collection, Membership, Role, User, audit
from judgments.models.fields import duplicates_raise
from judgments.web import access

# These slugs would collide with URLs under /c/.
TAKEN_SLUGS = ("new",)
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,60}")
LONGEST_QUALIFICATION, MOST_QUALIFICATIONS = 60, 30
_UNCHANGED: Any = object()


@transaction.atomic
def create_collection(*, actor: User, slug: str, name: str, description: str = "") -> Collection:
    """Create a collection; its creator becomes its lead."""
    if slug in TAKEN_SLUGS or not SLUG.fullmatch(slug):
        problem = f"{slug!r} cannot be part of a URL. Use letters, digits and hyphens, for example shop-search."
        raise NotValid(problem, "slug")
    if not name.strip():
        raise NotValid("The name of the collection is missing.", {"name": "Enter a name."})
    # Do not reveal whether the other collection is visible to the actor.
    with duplicates_raise(Conflict(f"The slug {slug} is taken. Choose another slug, for example {slug}-2.")):
        collection = Collection.objects.create(
            slug=slug, name=name.strip(), description=description.strip(), created_by=actor
        )
    Membership.objects.create(collection=collection, user=actor, role=Role.LEAD)
    audit.record(
        "collections.create_collection",
        f"{actor} created the collection {collection.name}",
        actor=actor,
        target=collection,
    )
    return collection


@transaction.atomic
def update_collection(
    collection: Collection,
    *,
    actor: User,
    name: str | None = None,
    description: str | None = None,
    result_template: str | None = None,
    license: str | None = None,
    embedding_changed_at: datetime | None = _UNCHANGED,
) -> Collection:
    """Update a collection. The slug never changes, so that links stay valid; omitted fields do not change."""
    wanted = {"name": name, "description": description, "result_template": result_template, "license": license}
    changes: dict[str, Any] = {key: value.strip() for key, value in wanted.items() if value is not None}
    if changes.get("name") == "":
        raise NotValid("The name of the collection is missing.", {"name": "Enter a name."})
    if changes.get("result_template"):
        result_templates.check(collection, changes["result_template"])
    if embedding_changed_at is not _UNCHANGED:
        changes["embedding_changed_at"] = embedding_changed_at
    changes = {key: value for key, value in changes.items() if getattr(collection, key) != value}
    if not changes:
        return collection
    before = {key: getattr(collection, key) for key in changes}
    for key in changes.keys() & wanted.keys():
        setattr(collection, key, changes[key])
    collection.save(update_fields=[*(changes.keys() & wanted.keys())])
    if "embedding_changed_at" in changes:
        recorded_changes.put_embedding_date(collection, embedding_changed_at, actor)
    audit.record(
        "collections.update_collection",
        f"{actor} changed {', '.join(_FIELD_NAMES[key] for key in changes)} of {collection.name}",
        actor=actor,
        target=collection,
        before={key: _plain(value) for key, value in before.items()},
        after={key: _plain(value) for key, value in changes.items()},
    )
    return collection


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


_FIELD_NAMES = {
    "name": "the name",
    "description": "the description",
    "result_template": "the result template",
    "license": "the license",
    "embedding_changed_at": "the date of the embeddings",
}


@transaction.atomic
def add_member(collection: Collection, *, actor: User, username: str, role: str) -> Membership:
    known_role(role)
    user = User.objects.filter(username=username.strip(), is_active=True).first()
    if user is None:
        problem = f"Unknown user name {username!r}. Check it, or ask an administrator to create the account."
        raise NotValid(problem, "username")
    with duplicates_raise(Conflict(f"{user} is already a member. Change the role in the list.")):
        membership = Membership.objects.create(collection=collection, user=user, role=role)
    _on_record("add_member", f"{actor} added {user} as {role}", actor, collection, user, role=role)
    return membership


@transaction.atomic
def change_role(membership: Membership, *, actor: User, role: str) -> Membership:
    """Change a member's role, unless the collection would have no lead."""
    known_role(role)
    membership = _locked(membership)
    if role == membership.role:
        return membership
    _keep_a_lead(membership)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    sentence = f"{actor} changed the role of {membership.user} from {before} to {role}"
    _on_record("change_role", sentence, actor, membership.collection, membership.user, before=before, role=role)
    if role == Role.RATER:
        # A former lead or engineer cannot rate blind where they could see grades.
        round_raters.leave_all(membership.collection, membership.user, seen_only=True)
    return membership


@transaction.atomic
def update_member_notes(
    membership: Membership,
    *,
    actor: User,
    languages: Sequence[str] | None = None,
    qualifications: Sequence[str] | None = None,
) -> Membership:
    """Set a member's languages and qualifications. Omitted fields do not change."""
    membership = _locked(membership)
    before = {"languages": membership.languages, "qualifications": membership.qualifications}
    wanted = {
        "languages": membership.languages if languages is None else tags(languages),
        "qualifications": membership.qualifications if qualifications is None else _fitness(qualifications),
    }
    if wanted == before:
        return membership
    membership.languages, membership.qualifications = wanted["languages"], wanted["qualifications"]
    membership.save(update_fields=["languages", "qualifications"])
    reads = f"reads {', '.join(membership.languages) or 'any language'}"
    fit = f", qualified for {', '.join(membership.qualifications)}" if membership.qualifications else ""
    sentence = f"{actor} recorded that {membership.user} {reads}{fit}"
    _on_record("note", sentence, actor, membership.collection, membership.user, before=before, **wanted)
    return membership


def _fitness(texts: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))
    if len(names) > MOST_QUALIFICATIONS or any(len(text) > LONGEST_QUALIFICATION for text in names):
        problem = (
            f"Enter at most {MOST_QUALIFICATIONS} qualifications of at most {LONGEST_QUALIFICATION} characters each."
        )
        raise NotValid(f"The qualifications are too long. {problem}", {"qualifications": problem})
    return names


@transaction.atomic
def remove_member(membership: Membership, *, actor: User) -> None:
    """Remove a member. Their judgments stay under their name; their leased pairs become free."""
    membership = _locked(membership)
    _keep_a_lead(membership)
    user, collection, role = membership.user, membership.collection, membership.role
    round_raters.leave_all(collection, user)
    membership.delete()
    _on_record("remove_member", f"{actor} removed {user}, {role}", actor, collection, user, role=role)


def _locked(membership: Membership) -> Membership:
    """Return the current membership, with all leads locked, because two of them must not leave at the same time."""
    rows = Membership.objects.select_for_update().filter(collection=membership.collection_id).order_by("pk")
    list(rows.filter(role=Role.LEAD))
    rows = rows.select_related("user", "collection").filter(pk=membership.pk)
    return access.existing(rows, "This person is no longer a member.")


def _keep_a_lead(membership: Membership) -> None:
    leads = Membership.objects.filter(collection=membership.collection, role=Role.LEAD)
    if membership.role == Role.LEAD and not leads.exclude(pk=membership.pk).exists():
        raise Conflict(f"{membership.user} is the only lead. Give another member the role lead first.")


def known_role(role: str) -> None:
    """Refuse an unknown role."""
    if role not in Role.values:
        raise NotValid(f"Unknown role {role!r}. Known roles: {', '.join(Role.values)}.", "role")


def _on_record(verb: str, sentence: str, actor: Any, collection: Collection, user: User, **detail: Any) -> None:
    audit.record(f"collections.{verb}", sentence, actor=actor, collection=collection, target=user, **detail)
