"""Preferences: which notices a person wants in the app and by e-mail, and their e-mail address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from smtplib import SMTPException

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import transaction
from django.urls import reverse

from assay.core.errors import Conflict, NotValid, TooMany
from judgments.events.events import full_address
from judgments.events.kinds import KINDS, EventKind
from judgments.models import Membership, NoticePreference, Role, User, audit

ADDRESS_SALT, UNSUBSCRIBE_SALT = "notices.address", "notices.unsubscribe"
# Seconds that a confirmation link stays valid, and seconds between two such e-mails to one person.
CONFIRM_WITHIN, CONFIRM_EVERY = 24 * 3600, 60


@dataclass(frozen=True)
class Wish:
    """Where a person wants notices of one kind."""

    in_app: bool
    by_mail: bool


def mail_is_set_up() -> bool:
    """Return whether the server can send e-mails with links to its pages."""
    return bool(settings.EMAIL_URL and settings.SITE_URL)


def wanted(users: Iterable[User], kind: str) -> dict[int, Wish]:
    """Return where each user wants notices of one kind."""
    default = Wish(True, KINDS[kind].mail)
    wishes = {user.pk: default for user in users}
    for row in NoticePreference.objects.filter(user__in=list(wishes), kind=kind):
        wishes[row.user_id] = Wish(row.in_app, row.by_mail)
    return wishes


def kinds_for(user: User) -> list[EventKind]:
    """Return the kinds for raters and, if the user leads a collection, those for leads."""
    is_lead = Membership.objects.filter(user=user, role=Role.LEAD).exists()
    return [kind for kind in KINDS.values() if kind.raters or (is_lead and kind.leads)]


def of_user(user: User) -> dict[str, Wish]:
    """Return where the user wants notices of each kind."""
    stored = {row.kind: Wish(row.in_app, row.by_mail) for row in user.notice_preferences.all()}
    return {kind.name: stored.get(kind.name, Wish(True, kind.mail)) for kind in KINDS.values()}


@transaction.atomic
def save(user: User, wishes: Mapping[str, Wish]) -> None:
    """Store where the user wants notices of these kinds."""
    rows = [NoticePreference(user=user, kind=kind, **vars(wish)) for kind, wish in wishes.items()]
    NoticePreference.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["user", "kind"], update_fields=["in_app", "by_mail"]
    )


def unsubscribe_token(user: User) -> str:
    return signing.dumps(str(user.uuid), salt=UNSUBSCRIBE_SALT)


def subscriber(token: str) -> User | None:
    """Return the user of a link in an e-mail, or None if it is not valid."""
    try:
        uuid = signing.loads(token, salt=UNSUBSCRIBE_SALT)
    except signing.BadSignature:
        return None
    return User.objects.filter(uuid=uuid).first()


def unsubscribe(user: User) -> None:
    """Stop all e-mails with notices; notices in the app stay."""
    save(user, {kind: Wish(wish.in_app, by_mail=False) for kind, wish in of_user(user).items()})
    user.notices.filter(mailed_at=None).update(mail_at=None)


def request_address(user: User, address: str) -> None:
    """Send a link to a new e-mail address, which proves that it belongs to the user."""
    if not mail_is_set_up():
        raise Conflict("This server sends no e-mail.")
    if not cache.add(f"notice-address:{user.pk}", True, CONFIRM_EVERY):
        raise TooMany("You requested an e-mail a moment ago. Wait a minute, then try again.", CONFIRM_EVERY)
    token = signing.dumps([str(user.uuid), address], salt=ADDRESS_SALT)
    link = full_address(reverse("notice_address_confirm", args=[token]))
    body = (
        f"{user} wants to get notices from Assay at this address.\n\nIf this is you, open this link while you are "
        f"logged in: {link}\n\nIt expires after one day. If this is not you, ignore this e-mail.\n"
    )
    try:
        send_mail("Confirm your e-mail address", body, None, [address])
    except (OSError, SMTPException) as error:
        message = "The mail server did not accept the e-mail. Check the address, or try again later."
        raise NotValid(message, "email") from error


def address_of(token: str, user: User) -> str | None:
    """Return the address that the user's link confirms, or None if it is not valid for them."""
    try:
        owner, address = signing.loads(token, salt=ADDRESS_SALT, max_age=CONFIRM_WITHIN)
    except (signing.BadSignature, ValueError):
        return None
    return str(address) if owner == str(user.uuid) else None


@transaction.atomic
def set_address(user: User, address: str) -> None:
    """Store a confirmed e-mail address, or remove it if it is empty."""
    if user.email == address:
        return
    user.email = address
    user.save(update_fields=["email"])
    did = "confirmed an e-mail address" if address else "removed the e-mail address"
    audit.record("notices.set_address", f"{user} {did}", actor=user, collection=None, target=user)
