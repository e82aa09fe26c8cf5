"""Invitation links: a single-use link lets a person without an account join a collection.

The code of a link follows the ``#`` of its address. Browsers do not send this part, so the code is in no log and no
referrer. The page reads it there and posts it. Only its SHA-256 is stored.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from assay.core.errors import Conflict, NotFound, NotValid
from judgments.members import round_raters
from judgments.members.tokens import digest
from judgments.models import Collection, InviteLink, Membership, Role, Round, User, audit
from judgments.models.fields import duplicates_raise

logger = logging.getLogger(__name__)

USUAL_DAYS, MOST_DAYS = 7, 30
MOST_AT_ONCE = 50
# More unused links than a team has raters; lost links must be revoked first.
MOST_LIVE = 200
OPENS_NOTHING = "This link is not valid because it was used, has expired or was revoked. Ask for a new one."
TAKEN = "This user name is taken. If it is yours, log in; otherwise choose another one."
OFF = "Invitation links are disabled on this server. Ask an administrator for an account."


def available() -> bool:
    """Return whether leads may create invitation links."""
    return bool(settings.INVITE_LINKS)


def how_people_learn() -> str:
    """Return the help text of a field for people: whether the server sends the links."""
    if settings.EMAIL_URL:
        return "One name or e-mail address per line. People with an address get their link by e-mail."
    return "One name or e-mail address per line. The next page shows a link for each; this server sends no e-mail."


def switched_on() -> None:
    """Refuse the request if invitation links are disabled."""
    if not settings.INVITE_LINKS:
        raise NotFound(OFF)


@transaction.atomic
def make(
    collection: Collection,
    *,
    actor: User,
    round_: Round | None = None,
    days: int = USUAL_DAYS,
    meant_for: str = "",
    role: str = Role.RATER,
) -> tuple[InviteLink, str]:
    """Create a link for one person; its code is returned only here."""
    switched_on()
    if not 1 <= days <= MOST_DAYS:
        problem = f"Choose from 1 to {MOST_DAYS} days."
        raise NotValid(f"The number of days is out of range. {problem}", {"days": problem})
    if round_ is not None and role not in round_raters.RATE:
        raise NotValid("Engineers do not rate.", {"role": "Choose the role rater or lead, or no round."})
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
        role=role,
        meant_for=" ".join(meant_for.split())[:100],
        digest=digest(text),
        created_by=actor,
        expires_at=timezone.now() + timedelta(days=days),
    )
    where = f"round {round_}" if round_ else collection.name
    whom = f" for {link.meant_for}" if link.meant_for else ""
    sentence = f"{actor} created an invitation link{whom} for a {role} of {where}"
    audit.record("invite_links.make", sentence, actor=actor, target=link, days=days, role=role)
    return link, text


@dataclass(frozen=True)
class Invited:
    """A new link with its address, which is shown once; ``mailed`` if it was sent to the person."""

    link: InviteLink
    address: str
    mailed: bool


Made = tuple[InviteLink, str]


@transaction.atomic
def make_all(
    collection: Collection, people: Sequence[str], *, actor: User, round_: Round | None = None, role: str = Role.RATER
) -> list[Made]:
    """Create a link for each person, a name or an e-mail address, to rate in the round if the role can rate."""
    joins = round_ if role in round_raters.RATE else None
    return [make(collection, actor=actor, round_=joins, meant_for=person, role=role) for person in people]


def deliver(made: Sequence[Made], *, page: str) -> list[Invited]:
    """Send new links to the people with an e-mail address; ``page`` is the address of the page that accepts codes."""
    addressed = [(link, f"{page}#{text}") for link, text in made]
    return [Invited(link, address, _mail(link, address)) for link, address in addressed]


def read_people(text: str) -> list[str]:
    """Return one name or e-mail address per line; blank and repeated lines are ignored."""
    people = list(dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip()))
    if long := next((person for person in people if len(person) > 100), None):
        raise NotValid("A line is too long.", {"people": f"Shorten it to at most 100 characters: {long[:40]}…"})
    if len(people) > MOST_AT_ONCE:
        raise NotValid(f"Invite at most {MOST_AT_ONCE} people at once.", "people")
    return people


def _mail(link: InviteLink, address: str) -> bool:
    """Send a link that is meant for an e-mail address; return whether the mail server accepted it."""
    person = link.meant_for
    if not settings.EMAIL_URL or "@" not in person:
        return False
    try:
        validate_email(person)
        task = (
            f"to rate search results in {link.collection.name}"
            if link.role == Role.RATER
            else (f"to {link.collection.name}")
        )
        delivered = send_mail(
            f"Invitation {task}"[:150],
            f"{link.created_by} invites you {task}.\n\nOpen this link to join: {address}\n\n"
            f"It works once and expires on {link.expires_at:%d %B %Y}.\n",
            None,
            [person],
        )
    except (ValidationError, OSError, SMTPException) as error:
        # The address contains the code, so only the kind of error is logged.
        logger.warning("An invitation could not be sent by e-mail: %s", type(error).__name__)
        return False
    return delivered == 1


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
    """Create an account through a link, as a member of its collection; the form has checked name and password."""
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
    Membership.objects.get_or_create(collection=link.collection, user=user, defaults={"role": link.role})
    whom = f" for {link.meant_for}" if link.meant_for else ""
    sentence = f"{user} joined through the link that {link.created_by} created{whom}"
    audit.record("invite_links.join", sentence, actor=user, target=link, role=link.role)
    # The round may require a qualification by now; then a lead has to set it and add the rater.
    if link.round is not None and not link.round.qualification:
        round_raters.invite(link.round, [user], actor=link.created_by)
