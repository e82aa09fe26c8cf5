"""Create and update collections, and manage their members."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from judgments import audit, declarations, inviting
from judgments.core.errors import Conflict, NotFound, NotValid
from judgments.languages import tags
from judgments.models import Collection, Membership, Role, User

# These would collide with addresses under /c/.
TAKEN_SLUGS = ("new",)
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,60}")
LONGEST_QUALIFICATION, MOST_QUALIFICATIONS = 60, 30
_UNCHANGED: Any = object()


@transaction.atomic
def create_collection(*, actor: User, slug: str, name: str, description: str = "") -> Collection:
    """Make a collection; whoever makes it leads it.

    Raises
    ------
    NotValid
        When the slug cannot be an address, or is one of Assay's own.
    Conflict
        When another collection has the slug.
    """
    if slug in TAKEN_SLUGS or not SLUG.fullmatch(slug):
        said = f"{slug!r} cannot be an address. Use letters, digits and hyphens, for example shop-search."
        raise NotValid(said, {"slug": said})
    if not name.strip():
        raise NotValid("A collection needs a name.", {"name": "Say what it is a collection of."})
    try:
        with transaction.atomic():
            collection = Collection.objects.create(
                slug=slug, name=name.strip(), description=description.strip(), created_by=actor
            )
    except IntegrityError as error:
        # Whether the other one is visible to the actor is not said.
        raise Conflict(f"The address {slug} is taken. Choose another one, for example {slug}-2.") from error
    Membership.objects.create(collection=collection, user=actor, role=Role.LEAD)
    audit.record(
        "collections.create_collection",
        f"{actor} made the collection {collection.name}",
        actor=actor,
        collection=collection,
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
    embedding_changed_at: datetime | None = _UNCHANGED,
) -> Collection:
    """Change what is said about a collection; its slug stays, so that links stay. What is left out stays as it is."""
    wanted = {"name": name, "description": description}
    changes: dict[str, Any] = {key: value.strip() for key, value in wanted.items() if value is not None}
    if changes.get("name") == "":
        raise NotValid("A collection needs a name.", {"name": "Say what it is a collection of."})
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
        declarations.put_embedding_date(collection, embedding_changed_at, actor)
    audit.record(
        "collections.update_collection",
        f"{actor} changed {', '.join(_SAID[key] for key in changes)} of {collection.name}",
        actor=actor,
        collection=collection,
        target=collection,
        before={key: _plain(value) for key, value in before.items()},
        after={key: _plain(value) for key, value in changes.items()},
    )
    return collection


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


_SAID = {"name": "the name", "description": "the description", "embedding_changed_at": "the date of the embeddings"}


@transaction.atomic
def add_member(collection: Collection, *, actor: User, username: str, role: str) -> Membership:
    """Give a person a role in the collection.

    Raises
    ------
    NotValid
        When nobody has the user name, or the role is none.
    Conflict
        When the person is a member already.
    """
    known_role(role)
    user = User.objects.filter(username=username.strip(), is_active=True).first()
    if user is None:
        said = f"Nobody here has the user name {username!r}. Check it, or ask an administrator to add the person."
        raise NotValid(said, {"username": said})
    try:
        with transaction.atomic():
            membership = Membership.objects.create(collection=collection, user=user, role=role)
    except IntegrityError as error:
        raise Conflict(f"{user} is a member already. Change the role in the list.") from error
    _on_record("add_member", f"{actor} added {user} as {role}", actor, collection, user, role=role)
    return membership


@transaction.atomic
def change_role(membership: Membership, *, actor: User, role: str) -> Membership:
    """Give a member another role; a collection is never left without a lead.

    Who was lead or engineer and is a rater from now on leaves the rounds whose grades they could read.
    """
    known_role(role)
    membership = _locked(membership)
    if role == membership.role:
        return membership
    _keep_a_lead(membership)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    sentence = f"{actor} made {membership.user}, before {before}, {role}"
    _on_record("change_role", sentence, actor, membership.collection, membership.user, before=before, role=role)
    if role == Role.RATER:
        inviting.leave_seen(membership.collection, membership.user)
    return membership


@transaction.atomic
def note(
    membership: Membership,
    *,
    actor: User,
    languages: Sequence[str] | None = None,
    qualifications: Sequence[str] | None = None,
) -> Membership:
    """Note what a member reads and what they were found fit for. What is left out stays as it is.

    Parameters
    ----------
    membership : Membership
        Whose.
    actor : User
        The lead who does it.
    languages : sequence of str, optional
        Tags such as ``de``; none means any.
    qualifications : sequence of str, optional
        In the lead's words, each at most 60 characters.

    Raises
    ------
    NotValid
        A language is no tag, or a qualification is too long.
    """
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
    told = f"reads {', '.join(membership.languages) or 'any language'}"
    fit = f", fit for {', '.join(membership.qualifications)}" if membership.qualifications else ""
    sentence = f"{actor} noted of {membership.user}: {told}{fit}"
    _on_record("note", sentence, actor, membership.collection, membership.user, before=before, **wanted)
    return membership


def _fitness(texts: Sequence[str]) -> list[str]:
    found = list(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))
    if len(found) > MOST_QUALIFICATIONS or any(len(text) > LONGEST_QUALIFICATION for text in found):
        said = f"A word or a few, {LONGEST_QUALIFICATION} characters at most, and {MOST_QUALIFICATIONS} of them."
        raise NotValid(f"Qualifications are short. {said}", {"qualifications": said})
    return found


@transaction.atomic
def remove_member(membership: Membership, *, actor: User) -> None:
    """Take a person out of the collection. What they judged stays, under their name; what they have in hand is free."""
    membership = _locked(membership)
    _keep_a_lead(membership)
    user, collection, role = membership.user, membership.collection, membership.role
    inviting.leave_all(collection, user)
    membership.delete()
    _on_record("remove_member", f"{actor} removed {user}, {role}", actor, collection, user, role=role)


def _locked(membership: Membership) -> Membership:
    """The membership as it is now. All leads are locked too: two of them leaving at once must not both succeed."""
    rows = Membership.objects.select_for_update().filter(collection=membership.collection_id).order_by("pk")
    list(rows.filter(role=Role.LEAD))
    try:
        return rows.select_related("user", "collection").get(pk=membership.pk)
    except Membership.DoesNotExist as error:
        raise NotFound("This person is no longer a member.") from error


def _keep_a_lead(membership: Membership) -> None:
    leads = Membership.objects.filter(collection=membership.collection, role=Role.LEAD)
    if membership.role == Role.LEAD and not leads.exclude(pk=membership.pk).exists():
        raise Conflict(f"{membership.user} is the only lead. Make somebody else lead first.")


def known_role(role: str) -> None:
    """Refuse a role that is none."""
    if role not in Role.values:
        said = f"There is no role {role!r}: choose from {', '.join(Role.values)}."
        raise NotValid(said, {"role": said})


def _on_record(verb: str, sentence: str, actor: Any, collection: Collection, user: User, **detail: Any) -> None:
    audit.record(f"collections.{verb}", sentence, actor=actor, collection=collection, target=user, **detail)
