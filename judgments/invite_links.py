"""Invitation links: a single-use link lets a person without an account join as a rater.

The code of a link is behind the ``#`` of its address, which no browser sends: it is in no log and in no referrer. The
page reads it there and posts it. Only its SHA-256 is stored.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from judgments import audit, inviting
from judgments.core.errors import Conflict, NotFound, NotValid
from judgments.models import Collection, InviteLink, Membership, Role, Round, User
from judgments.tokens import digest

USUAL_DAYS, MOST_DAYS = 7, 30
# More links than a team has raters: what is lost among them is revoked first.
MOST_LIVE = 200
OPENS_NOTHING = (
    "This link opens nothing: it was used, has run out, was taken back, or never was one. Ask for a new one."
)
TAKEN = "Somebody has this name. If it is you, log in instead; else choose another one."
OFF = "Invitation links are switched off on this server; an administrator makes accounts."


def switched_on() -> None:
    """Refuse everything about links where the operator has not switched them on.

    Raises
    ------
    NotFound
        They are off.
    """
    if not settings.INVITE_LINKS:
        raise NotFound(OFF)


@transaction.atomic
def make(
    collection: Collection, *, actor: User, round_: Round | None = None, days: int = USUAL_DAYS, meant_for: str = ""
) -> tuple[InviteLink, str]:
    """Make a link for one person; its code is answered here and nowhere again.

    Parameters
    ----------
    collection : Collection
        Of which they become a rater.
    actor : User
        The lead. When they lead it no more, the link opens nothing.
    round_ : Round, optional
        In which they are asked to rate at once.
    days : int
        How long it may be used.
    meant_for : str
        For the lead's own list.

    Raises
    ------
    NotFound
        Links are switched off.
    NotValid
        It would live too long, or for nobody's time.
    Conflict
        The round is closed or asks for a qualification, or too many links wait already.
    """
    switched_on()
    if not 1 <= days <= MOST_DAYS:
        said = f"From 1 to {MOST_DAYS} days."
        raise NotValid(f"A link lives for a while. {said}", {"days": said})
    if round_ is not None and round_.state == Round.State.CLOSED:
        raise Conflict(f"Round {round_} is closed: there is nothing to rate.")
    if round_ is not None and round_.qualification:
        raise Conflict(
            f"Round {round_} is for raters with the qualification {round_.qualification}. Invite to the collection, "
            "note the qualification on the members page, and ask them then."
        )
    if live(collection).count() >= MOST_LIVE:
        raise Conflict(f"{MOST_LIVE} links wait to be used. Take some back first.")
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
    sentence = f"{actor} made a link{whom} by which one person becomes a rater in {where}"
    audit.record("invite_links.make", sentence, actor=actor, collection=collection, target=link, days=days)
    return link, text


@transaction.atomic
def revoke(link: InviteLink, *, actor: User) -> None:
    """Take a link back.

    Raises
    ------
    Conflict
        It was used or taken back already.
    """
    link = InviteLink.objects.select_for_update(of=("self",)).select_related("collection").get(pk=link.pk)
    if link.used_at is not None or link.revoked_at is not None:
        raise Conflict("This link was used or taken back already.")
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])
    whom = f" for {link.meant_for}" if link.meant_for else ""
    sentence = f"{actor} took back an invitation link{whom}"
    audit.record("invite_links.revoke", sentence, actor=actor, collection=link.collection, target=link)


def live(collection: Collection | None = None) -> QuerySet[InviteLink]:
    """The links that open something now: unused, in time, made by who still leads, for a round that is not over."""
    leads = Q(collection__memberships__user=F("created_by"), collection__memberships__role=Role.LEAD)
    rows = InviteLink.objects.filter(leads, used_at__isnull=True, revoked_at__isnull=True)
    rows = rows.filter(created_by__is_active=True, expires_at__gt=timezone.now()).exclude(round__state="closed")
    return rows if collection is None else rows.filter(collection=collection)


def opened(hashed: str) -> InviteLink | None:
    """The link with this hash, if it opens something."""
    return live().select_related("collection", "round", "created_by").filter(digest=hashed).first()


def come_in(hashed: str, *, username: str, password: str) -> tuple[User, InviteLink]:
    """Make an account by a link, a rater where the link says; the form has checked name and password.

    Raises
    ------
    NotFound
        The link opens nothing, or no more.
    NotValid
        Somebody has the name.
    """
    switched_on()
    if opened(hashed) is None:
        raise NotFound(OPENS_NOTHING)
    # Made slowly, on purpose, and therefore before anything is locked.
    kept = make_password(password)
    with transaction.atomic():
        link = _locked(hashed)
        try:
            with transaction.atomic():
                user = User.objects.create(username=User.normalize_username(username), password=kept)
        except IntegrityError as error:
            raise NotValid(TAKEN, {"username": TAKEN}) from error
        _join(link, user)
    return user, link


@transaction.atomic
def join(hashed: str, *, user: User) -> InviteLink:
    """Let somebody who has an account in by a link. Who is there already leaves the link unused.

    Raises
    ------
    NotFound
        The link opens nothing, or no more.
    Conflict
        They are a rater there already, or have another role in the collection.
    NotValid
        They could have read the round's grades.
    """
    switched_on()
    link = _locked(hashed)
    member = Membership.objects.filter(collection=link.collection, user=user).first()
    there = link.round is None or inviting.is_rater(user, link.round)
    if member is not None and (there or member.role not in inviting.RATE):
        raise Conflict(f"You are {member.role} in {link.collection.name} already. The link is still unused.")
    _join(link, user)
    return link


def _locked(hashed: str) -> InviteLink:
    """The link, locked: of two who use it at once one is told that it opens nothing."""
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
    sentence = f"{user} came in by the link that {link.created_by} made{whom}"
    audit.record("invite_links.join", sentence, actor=user, collection=link.collection, target=link, role=Role.RATER)
    # A lead may have asked for a qualification since: they note it, and ask then.
    if link.round is not None and not link.round.qualification:
        inviting.invite(link.round, [user], actor=link.created_by)
