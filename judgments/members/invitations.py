"""Invitations to a collection: a lead invites a user, and the user accepts or declines.

Users become members only by accepting. An invitation does not reveal whether a user name exists, because invitations to
unknown names and declined invitations stay pending like any other.
"""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from assay.core.errors import Conflict, NotValid
from judgments.members import collections
from judgments.models import Collection, MemberInvitation, Membership, User, audit
from judgments.models.fields import duplicates_raise
from judgments.web import access

# The maximum number of pending invitations in one collection.
MOST_WAITING = 500


@transaction.atomic
def invite(collection: Collection, *, actor: User, username: str, role: str) -> MemberInvitation:
    """Invite a user by name; a repeated invitation changes the role."""
    collections.known_role(role)
    name = username.strip()
    Collection.objects.select_for_update().get(pk=collection.pk)
    if Membership.objects.filter(collection=collection, user__username=name).exists():
        raise Conflict(f"{name} is already a member. Change the role in the list of members.")
    invitation = collection.member_invitations.filter(username=name).first()
    if invitation is not None:
        if invitation.role != role:
            before, invitation.role = invitation.role, role
            invitation.save(update_fields=["role"])
            sentence = f"{actor} changed the invitation of {name} from {before} to {role}"
            _record("ask", sentence, actor, invitation, before=before, after=role)
        return invitation
    if collection.member_invitations.count() >= MOST_WAITING:
        raise NotValid(f"{MOST_WAITING} invitations are pending. Withdraw some first.", "username")
    invitation = MemberInvitation.objects.create(collection=collection, username=name, role=role, created_by=actor)
    _record("ask", f"{actor} invited {name} as {role}", actor, invitation, role=role)
    return invitation


def waiting_for(user: Any) -> QuerySet[MemberInvitation]:
    """Return the invitations that the user has not answered, without those older than their account."""
    rows = MemberInvitation.objects.filter(username=user.get_username(), declined_at__isnull=True)
    rows = rows.filter(created_at__gte=user.date_joined)
    return rows.filter(collection__archived_at__isnull=True).select_related("collection", "created_by")


def get(rows: QuerySet[MemberInvitation], uuid: uuid_module.UUID | str) -> MemberInvitation:
    """Return the invitation with this id."""
    return access.existing(rows.filter(uuid=uuid), "This invitation does not exist. It may have been withdrawn.")


@transaction.atomic
def accept(invitation: MemberInvitation, *, actor: User) -> Membership:
    """Accept an invitation and become a member."""
    invitation = get(waiting_for(actor).select_for_update(of=("self",)), invitation.uuid)
    with duplicates_raise(Conflict(f"You are already a member of {invitation.collection}.")):
        made = Membership.objects.create(collection=invitation.collection, user=actor, role=invitation.role)
    by = str(invitation.created_by or "")
    sentence = f"{actor} joined as {invitation.role}, invited by {by or 'a deleted user'}"
    _record("accept", sentence, actor, invitation, role=invitation.role, asked_by=by)
    invitation.delete()
    return made


def decline(invitation: MemberInvitation, *, actor: User) -> None:
    """Decline an invitation. The lead is not notified, and the invitation is not shown again."""
    waiting_for(actor).filter(pk=invitation.pk).update(declined_at=timezone.now())


@transaction.atomic
def withdraw(invitation: MemberInvitation, *, actor: User) -> None:
    """Withdraw an invitation."""
    _record("withdraw", f"{actor} withdrew the invitation of {invitation.username}", actor, invitation)
    invitation.delete()


def _record(verb: str, sentence: str, actor: User, row: MemberInvitation, **detail: Any) -> None:
    verb = f"member_invitations.{verb}"
    audit.record(verb, sentence, actor=actor, target=row, **detail)
