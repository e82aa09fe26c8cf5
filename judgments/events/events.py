"""Record events. Features call `emit` where something happens; webhooks and notices are its listeners."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from assay.core.registry import Family
from judgments.events.kinds import KINDS
from judgments.models import Collection, CollectionEvent, Role, User

# Events, and with them deliveries and notices, are deleted after this time.
RETENTION = timedelta(days=90)
AT_ONCE = 5_000


@dataclass(frozen=True)
class Emitted:
    """A recorded event with the raters whom it concerns, and the user who caused it and needs no notice."""

    event: CollectionEvent
    raters: tuple[User, ...] = ()
    rater_page: str = ""
    actor: User | None = None


# Called in the transaction that records the event.
LISTENERS: list[Callable[[Emitted], object]] = []
# Whether a user may see an event's result, for kinds whose result could reveal a hidden grade.
VISIBILITY: Family[Callable[[Any, CollectionEvent], bool]] = Family("visibility of events", {})


@transaction.atomic
def emit(
    kind: str,
    collection: Collection,
    *,
    text: str,
    page: str,
    data: dict[str, Any],
    raters: Iterable[User] = (),
    rater_page: str = "",
    actor: User | None = None,
) -> CollectionEvent:
    """Record an event in the caller's transaction.

    Webhooks receive ``data``; ``page`` is the path that leads open, and ``rater_page`` the one of the raters.
    """
    event = CollectionEvent.objects.create(
        collection=collection, kind=KINDS[kind].name, text=text[:300], page=page, data=data
    )
    emitted = Emitted(event, tuple(raters), rater_page, actor)
    for listen in LISTENERS:
        listen(emitted)
    return event


def visible(user: Any, event: CollectionEvent) -> bool:
    """Return whether the user may see the result of the event."""
    return event.kind not in VISIBILITY or VISIBILITY[event.kind](user, event)


def leads(collection: Collection) -> list[User]:
    return list(User.objects.filter(memberships__collection=collection, memberships__role=Role.LEAD, is_active=True))


def full_address(path: str) -> str:
    """Return the address of a page for readers outside of a request; only the path if ``SITE_URL`` is not set."""
    return f"{settings.SITE_URL}{path}"


def delete_old(now: datetime | None = None) -> int:
    """Delete old events; return their number."""
    old = CollectionEvent.objects.filter(created_at__lt=(now or timezone.now()) - RETENTION)
    keys = list(old.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
    CollectionEvent.objects.filter(pk__in=keys).delete()
    return len(keys)
