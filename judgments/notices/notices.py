"""Create, list and read notices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from judgments.events.events import Emitted, leads, visible
from judgments.events.kinds import KINDS
from judgments.models import CollectionEvent, Notice, Role, User
from judgments.notices.preferences import mail_is_set_up, wanted
from judgments.web import access

# Notices wait this long for others before they are sent by e-mail.
MAIL_DELAY = timedelta(minutes=5)
RATER_KINDS = [kind.name for kind in KINDS.values() if kind.raters]


@dataclass(frozen=True)
class Addressed:
    """A person who gets a notice, with the text that they may see and the page that they can open."""

    user: User
    text: str
    page: str


def store(emitted: Emitted) -> None:
    """Create the notices of an event, in its transaction."""
    event = emitted.event
    addressed = [one for one in _addressed(emitted) if one.user != emitted.actor]
    wishes = wanted([one.user for one in addressed], event.kind)
    now, mails = timezone.now(), mail_is_set_up()
    rows = []
    for one in addressed:
        wish = wishes[one.user.pk]
        mail_at = now + MAIL_DELAY if wish.by_mail and mails and one.user.email else None
        if wish.in_app or mail_at:
            notice = Notice(user=one.user, event=event, text=one.text, page=one.page, in_app=wish.in_app)
            notice.mail_at, notice.created_at = mail_at, now
            rows.append(notice)
    Notice.objects.bulk_create(rows)


def _addressed(emitted: Emitted) -> Iterable[Addressed]:
    event = emitted.event
    of_leads = leads(event.collection) if KINDS[event.kind].leads else []
    for user in of_leads:
        if KINDS[event.kind].reveals and not visible(user, event):
            continue
        yield Addressed(user, text_for(user, event), event.page)
    members = set(event.collection.memberships.values_list("user_id", flat=True))
    for user in set(emitted.raters) - set(of_leads):
        if user.is_active and user.pk in members:
            yield Addressed(user, event.text, emitted.rater_page or event.page)


def text_for(user: User, event: CollectionEvent) -> str:
    """Return the event's text, or one without the result if the user may not see it yet."""
    return event.text if visible(user, event) else KINDS[event.kind].withheld


def of_member(user: Any) -> QuerySet[Notice]:
    """Return the user's notices of collections of which they are still a member, in a role that covers the kind."""
    covers = Q(event__kind__in=RATER_KINDS) | Q(event__collection__memberships__role=Role.LEAD)
    rows = Notice.objects.filter(covers, event__collection__memberships__user_id=user.pk, user_id=user.pk)
    return rows.select_related("event__collection")


def shown(user: Any) -> QuerySet[Notice]:
    """Return the notices that the app shows to the user."""
    return of_member(user).filter(in_app=True)


def unread(user: Any) -> int:
    return shown(user).filter(read_at=None).count()


def get(user: Any, uuid: UUID) -> Notice:
    return access.existing(shown(user).filter(uuid=uuid), "This notice does not exist.")


def mark_read(user: Any, notice: Notice | None = None) -> int:
    """Mark one notice, or all of them, as read; return how many were unread."""
    rows = Notice.objects.filter(user_id=user.pk, in_app=True, read_at=None)
    return (rows if notice is None else rows.filter(pk=notice.pk)).update(read_at=timezone.now())
