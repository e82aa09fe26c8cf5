"""Invitations to a collection: a lead invites a user, and the user accepts or declines.

No user becomes a member without accepting. An invitation does not reveal whether a user name exists: an invitation to
an unknown name waits like any other, and so does a declined one.
"""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from judgments import audit, collections
from judgments.core.errors import Conflict, NotFound, NotValid
from judgments.models import Collection, MemberInvitation, Membership, User

# Names that wait in one collection; whoever asks more people has a list, and an operator.
MOST_WAITING = 500


@transaction.atomic
def ask(collection: Collection, *, actor: User, username: str, role: str) -> MemberInvitation:
    """Ask somebody to join; asking again changes the role that they are asked for.

    Raises
    ------
    NotValid
        The role is none, or too many invitations wait.
    Conflict
        The person is a member already.
    """
    collections.known_role(role)
    name = username.strip()
    Collection.objects.select_for_update().get(pk=collection.pk)
    if Membership.objects.filter(collection=collection, user__username=name).exists():
        raise Conflict(f"{name} is a member already. Change the role in the list.")
    invitation = collection.member_invitations.filter(username=name).first()
    if invitation is not None:
        if invitation.role != role:
            before, invitation.role = invitation.role, role
            invitation.save(update_fields=["role"])
            sentence = f"{actor} asked {name} to join as {role}, before as {before}"
            _on_record("ask", sentence, actor, invitation, before=before, after=role)
        return invitation
    if collection.member_invitations.count() >= MOST_WAITING:
        said = f"{MOST_WAITING} invitations wait for an answer. Withdraw some first."
        raise NotValid(said, {"username": said})
    invitation = MemberInvitation.objects.create(collection=collection, username=name, role=role, created_by=actor)
    _on_record("ask", f"{actor} asked {name} to join as {role}", actor, invitation, role=role)
    return invitation


def waiting_for(user: Any) -> QuerySet[MemberInvitation]:
    """The invitations that the user has not answered; none from before they had the account.

    Else whoever takes a name for a new account would come in where a lead had asked for it in vain.
    """
    rows = MemberInvitation.objects.filter(username=user.get_username(), declined_at__isnull=True)
    rows = rows.filter(created_at__gte=user.date_joined)
    return rows.filter(collection__archived_at__isnull=True).select_related("collection", "created_by")


def found(rows: QuerySet[MemberInvitation], uuid: uuid_module.UUID | str) -> MemberInvitation:
    """The one of these with this id.

    Raises
    ------
    NotFound
        There is none.
    """
    invitation = rows.filter(uuid=uuid).first()
    if invitation is None:
        raise NotFound("There is no such invitation. It may have been withdrawn.")
    return invitation


@transaction.atomic
def accept(invitation: MemberInvitation, *, actor: User) -> Membership:
    """Become a member.

    Raises
    ------
    NotFound
        It was withdrawn, or answered, at the same moment.
    Conflict
        They are a member already.
    """
    invitation = found(waiting_for(actor).select_for_update(of=("self",)), invitation.uuid)
    try:
        with transaction.atomic():
            made = Membership.objects.create(collection=invitation.collection, user=actor, role=invitation.role)
    except IntegrityError as error:
        raise Conflict(f"You are a member of {invitation.collection} already.") from error
    by = str(invitation.created_by or "")
    sentence = f"{actor} joined as {invitation.role}, asked by {by or 'somebody who is gone'}"
    _on_record("accept", sentence, actor, invitation, role=invitation.role, asked_by=by)
    invitation.delete()
    return made


def decline(invitation: MemberInvitation, *, actor: User) -> None:
    """Say no. The lead is not told, and the invitation is not shown again."""
    waiting_for(actor).filter(pk=invitation.pk).update(declined_at=timezone.now())


@transaction.atomic
def withdraw(invitation: MemberInvitation, *, actor: User) -> None:
    """Take an invitation back."""
    _on_record("withdraw", f"{actor} withdrew the invitation of {invitation.username}", actor, invitation)
    invitation.delete()


def _on_record(verb: str, sentence: str, actor: User, row: MemberInvitation, **detail: Any) -> None:
    verb = f"member_invitations.{verb}"
    audit.record(verb, sentence, actor=actor, collection=row.collection, target=row, **detail)
