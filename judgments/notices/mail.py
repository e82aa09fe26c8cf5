"""Send notices by e-mail: at most one e-mail per person and hour, with an unsubscribe link."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import Any

from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from assay.core.text_rules import amount
from judgments.events.events import full_address
from judgments.jobs import jobs
from judgments.models import Notice, User
from judgments.notices.notices import of_member, text_for
from judgments.notices.preferences import mail_is_set_up, unsubscribe_token

logger = logging.getLogger(__name__)

KIND = "notice-mail"
EVERY = timedelta(hours=1)
AT_ONCE = 200
MOST_FAILURES = 3
# The longest list of an e-mail; the app shows the rest.
MOST = 50


def due(now: datetime) -> QuerySet[Notice]:
    """Return the notices that should be sent now, and that were not read in the app meanwhile."""
    return Notice.objects.filter(mail_at__lte=now, mailed_at=None, read_at=None)


def recipients(now: datetime) -> QuerySet[User]:
    """Return the people with due notices who got no e-mail within the last hour."""
    lately = Notice.objects.filter(mailed_at__gt=now - EVERY).values("user")
    with_due = User.objects.filter(pk__in=due(now).values("user"), is_active=True).exclude(email="")
    return with_due.exclude(pk__in=lately).order_by("pk")


def queue_due() -> None:
    """Queue the job that sends e-mails, if some are due."""
    if mail_is_set_up() and recipients(timezone.now()).exists():
        jobs.in_line(KIND, title="Send notices by e-mail", parameters={}, collection=None, known_by=[])


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job of `queue_due`."""
    failures = 0
    for number, user in enumerate(list(recipients(timezone.now())[:AT_ONCE]), start=1):
        failures = 0 if send_digest(user) else failures + 1
        if failures == MOST_FAILURES:
            break  # the mail server is probably down, and each attempt would wait for its time limit
        work.progress(number)
    return {}


def send_digest(user: User, now: datetime | None = None) -> bool:
    """Send the user's due notices in one e-mail; return whether it was sent."""
    now = now or timezone.now()
    claimed = _claim(user, now)
    if not claimed:
        return False
    try:
        delivered = _message(user, claimed).send()
    except (OSError, SMTPException) as error:
        # The next attempt comes after the claim expires. Addresses do not belong in the log.
        logger.warning("Notices could not be sent by e-mail: %s", type(error).__name__)
        return False
    Notice.objects.filter(pk__in=[notice.pk for notice in claimed]).update(mailed_at=now)
    return bool(delivered)


@transaction.atomic
def _claim(user: User, now: datetime) -> list[Notice]:
    """Return the user's due notices, which no other worker sends within the next hour."""
    User.objects.select_for_update().get(pk=user.pk)
    if not mail_is_set_up() or not recipients(now).filter(pk=user.pk).exists():
        return []
    rows = due(now).filter(user=user)
    claimed = list(of_member(user).filter(pk__in=rows.values("pk")).order_by("pk"))
    # Notices of collections that the user left are never sent.
    rows.exclude(pk__in=[notice.pk for notice in claimed]).update(mail_at=None)
    Notice.objects.filter(pk__in=[notice.pk for notice in claimed]).update(mail_at=now + EVERY)
    return claimed


def _message(user: User, notices: list[Notice]) -> EmailMessage:
    link = full_address(reverse("notice_unsubscribe", args=[unsubscribe_token(user)]))
    lines = [
        f"{text_for(user, one.event) if one.text == one.event.text else one.text}\n{full_address(one.page)}\n"
        for one in notices[:MOST]
    ]
    if more := len(notices) - MOST:
        lines += [f"{amount(more, 'more notice')}: {full_address(reverse('notices'))}\n"] if more > 0 else []
    lines += [
        "--",
        f"Choose your notices: {full_address(reverse('notice_preferences'))}",
        f"Stop these e-mails: {link}",
    ]
    first = notices[0].event.collection.name
    subject = f"{amount(len(notices), 'notice')} from {first}" if _one_collection(notices) else "Notices from Assay"
    headers = {"List-Unsubscribe": f"<{link}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    # A name may contain line breaks, which a header must not.
    return EmailMessage(" ".join(subject.split())[:150], "\n".join(lines), None, [user.email], headers=headers)


def _one_collection(notices: list[Notice]) -> bool:
    return len({notice.event.collection_id for notice in notices}) == 1
