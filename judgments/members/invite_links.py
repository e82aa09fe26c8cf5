"""Invitation links: a single-use link lets a person without an account join as a rater.

The code of a link follows the ``#`` of its address. Browsers do not send this part, so the code is in no log and no
referrer. The page reads it there and posts it. Only its SHA-256 is stored.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from assay.core.errors import Conflict, NotFound, NotValid
from judgments.members import round_raters
from judgments.members.tokens import digest
from judgments.models import Collection, InviteLink, Membership, Role, Round, User, audit
from judgments.models.fields import duplicates_raise

USUAL_DAYS, MOST_DAYS = 7, 30
# More unused links than a team has raters; lost links must be revoked first.
MOST_LIVE = 200
OPENS_NOTHING = "This link is not valid because it was used, has expired or was revoked. Ask for a new one."
TAKEN = "This user name is taken. If it is yours, log in; otherwise choose another one."
OFF = "Invitation links are disabled on this server. Ask an administrator for an account."


def switched_on() -> None:
    """Refuse the request if invitation links are disabled."""
    if not settings.INVITE_LINKS:
        raise NotFound(OFF)


@transaction.atomic
def make(
    collection: Collection, *, actor: User, round_: Round | None = None, days: int = USUAL_DAYS, meant_for: str = ""
) -> tuple[InviteLink, str]:
    """Create a link for one person; its code is returned only here."""
    switched_on()
    if not 1 <= days <= MOST_DAYS:
        problem = f"Choose from 1 to {MOST_DAYS} days."
        raise NotValid(f"The number of days is out of range. {problem}", {"days": problem})
    if round_ is not None and round_.state == Round.State.CLOSED:
        raise Conflict(f"Round {round_} is closed, so raters cannot join.")
    if round_ is not None and round_.qualification:
        raise Conflict(
            f"Round {round_} requires the qualification {round_.qualification}. Invite the person to the collection, "
            "set the qualification on the Members page, and then add them to the round."
        )
    if live(collection).count() >= MOST_LIVE:
        raise Conflict(f"There are {MOST_LIVE} unused links, which is the limit. Revoke some first.")
    text = secrets.token_urlsafe(32)
    link = InviteLink.objects.create(
        collection=collection,
        round=round_,
        meant_for=" ".join(meant_for.split())[:100],
        digest=digest(text),
        created_by=actor,
        expires_at=timezone.now() + timedelta(days=days),
    )
    where = f"round {round_}" if round_ else collection.name
    whom = f" for {link.meant_for}" if link.meant_for else ""
    sentence = f"{actor} created an invitation link{whom} for a rater of {where}"
    audit.record("invite_links.make", sentence, actor=actor, collection=collection, target=link, days=days)
    return link, text


@transaction.atomic
def revoke(link: InviteLink, *, actor: User) -> None:
    """Revoke a link."""
    link = InviteLink.objects.select_for_update(of=("self",)).select_related("collection").get(pk=link.pk)
    if link.used_at is not None or link.revoked_at is not None:
        raise Conflict("This link was already used or revoked.")
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])
    whom = f" for {link.meant_for}" if link.meant_for else ""
    audit.record("invite_links.revoke", f"{actor} revoked an invitation link{whom}", actor=actor, target=link)


def live(collection: Collection | None = None) -> QuerySet[InviteLink]:
    """Return the valid links: unused, not expired, created by a current lead, and for a round that is not closed."""
    leads = Q(collection__memberships__user=F("created_by"), collection__memberships__role=Role.LEAD)
    rows = InviteLink.objects.filter(leads, used_at__isnull=True, revoked_at__isnull=True)
    rows = rows.filter(created_by__is_active=True, expires_at__gt=timezone.now()).exclude(round__state="closed")
    return rows if collection is None else rows.filter(collection=collection)


def opened(hashed: str) -> InviteLink | None:
    """Return the valid link with this hash, or None."""
    return live().select_related("collection", "round", "created_by").filter(digest=hashed).first()


def accept(hashed: str, *, username: str, password: str) -> tuple[User, InviteLink]:
    """Create an account through a link, as a rater of its collection; the form has checked name and password."""
    switched_on()
    if opened(hashed) is None:
        raise NotFound(OPENS_NOTHING)
    # Hash the password before locking rows, because hashing is slow on purpose.
    password_hash = make_password(password)
    with transaction.atomic():
        link = _locked(hashed)
        with duplicates_raise(NotValid(TAKEN, "username")):
            user = User.objects.create(username=User.normalize_username(username), password=password_hash)
        _join(link, user)
    return user, link


@transaction.atomic
def join(hashed: str, *, user: User) -> InviteLink:
    """Let a user with an account join through a link; for a current rater the link stays unused."""
    switched_on()
    link = _locked(hashed)
    member = Membership.objects.filter(collection=link.collection, user=user).first()
    there = link.round is None or round_raters.is_rater(user, link.round)
    if member is not None and (there or member.role not in round_raters.RATE):
        raise Conflict(f"You already have the role {member.role} in {link.collection.name}. The link is still unused.")
    _join(link, user)
    return link


def _locked(hashed: str) -> InviteLink:
    """Return the link, locked, so that only one of two concurrent users can use it."""
    InviteLink.objects.select_for_update().filter(digest=hashed).first()
    link = opened(hashed)
    if link is None:
        raise NotFound(OPENS_NOTHING)
    return link


def _join(link: InviteLink, user: User) -> None:
    link.used_at, link.used_by = timezone.now(), user
    link.save(update_fields=["used_at", "used_by"])
    Membership.objects.get_or_create(collection=link.collection, user=user, defaults={"role": Role.RATER})
    whom = f" for {link.meant_for}" if link.meant_for else ""
    sentence = f"{user} joined through the link that {link.created_by} created{whom}"
    audit.record("invite_links.join", sentence, actor=user, target=link, role=Role.RATER)
    # The round may require a qualification by now; then a lead has to set it and add the rater.
    if link.round is not None and not link.round.qualification:
        round_raters.invite(link.round, [user], actor=link.created_by)
