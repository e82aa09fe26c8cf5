"""Deliveries of webhooks: stored with their event, sent by a worker, retried, and deleted after a month.

The transaction that records an event also stores its deliveries, so none is lost and none is sent for an event that was
rolled back. An event whose result could reveal a hidden grade to a lead who still rates is held back until no lead of
the collection has such pairs left, because any lead may read what the receiver gets.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import AssayError, Conflict
from judgments.events.events import Emitted, emit, full_address, leads, visible
from judgments.jobs import jobs
from judgments.members import grants
from judgments.models import CollectionEvent, Delivery, User, Webhook, audit
from judgments.web.middleware import outside_turns
from judgments.webhooks.sending import TIMEOUT, Answer, send
from judgments.webhooks.webhooks import secrets_of

HEADER = "Assay-Signature"


def signature(secrets: Iterable[str], timestamp: int, body: bytes) -> str:
    """Return the header's value with one signature for each secret.

    Examples
    --------
    >>> signature(["whsec_example"], 1767225600, b"{}")[:20]
    't=1767225600,v1=6bbc'
    """
    signed = b"%d." % timestamp + body
    each = (hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets)
    return ",".join([f"t={timestamp}", *(f"v1={digest}" for digest in each)])


KIND = "webhooks"
TEST = "test"
# The waits between attempts; after the last one, the delivery has failed.
BACK_OFF = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=24),
)
# An attempt whose worker died is repeated after this time.
LEASE = timedelta(minutes=2)
# A webhook that fails for this long is switched off.
PATIENCE = timedelta(days=3)
RETENTION = timedelta(days=30)
# Deliveries in one job, so that other jobs get their turn.
AT_ONCE = 20
DELETED_AT_ONCE = 5_000


def store(emitted: Emitted) -> None:
    """Store a delivery for each active webhook that receives this kind of event, and queue it."""
    event = emitted.event
    hooks = [hook for hook in event.collection.webhooks.filter(active=True) if event.kind in hook.events]
    if not hooks:
        return
    state = Delivery.State.WAITING if _visible_to_leads(event) else Delivery.State.HELD
    now = timezone.now()
    Delivery.objects.bulk_create(
        Delivery(webhook=hook, event=event, state=state, next_at=now, created_at=now) for hook in hooks
    )
    if state == Delivery.State.WAITING:
        for hook in hooks:
            queue(hook)


def _visible_to_leads(event: CollectionEvent) -> bool:
    return all(visible(lead, event) for lead in leads(event.collection))


def due(now: datetime) -> QuerySet[Delivery]:
    """Return the deliveries of active webhooks that should be sent now."""
    return Delivery.objects.filter(state=Delivery.State.WAITING, next_at__lte=now, webhook__active=True)


def queue(hook: Webhook) -> None:
    """Queue the webhook's job, which sends its due deliveries."""
    parameters = {"webhook": str(hook.uuid)}
    title = f"Send events to the webhook {hook}"
    jobs.in_line(KIND, title=title, parameters=parameters, collection=hook.collection, known_by=["webhook"])


def queue_due() -> None:
    """Release held deliveries, queue due ones, and delete old ones."""
    release()
    for hook in Webhook.objects.filter(pk__in=due(timezone.now()).values("webhook")).select_related("collection"):
        queue(hook)
    delete_old()


def release() -> None:
    """Release held deliveries whose result every lead of the collection may see now."""
    held = CollectionEvent.objects.filter(deliveries__state=Delivery.State.HELD).distinct().select_related("collection")
    known: dict[Any, bool] = {}
    for event in held:
        # Visibility follows from the round, snapshot or decision that the event is about.
        about = event.collection_id, event.kind, *map(event.data.get, ("round", "snapshot", "decision"))
        if about not in known:
            known[about] = _visible_to_leads(event)
        if known[about]:
            rows = Delivery.objects.filter(event=event, state=Delivery.State.HELD)
            rows.update(state=Delivery.State.WAITING, next_at=timezone.now())


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run a webhook's job: send its due deliveries in order, until one fails."""
    hook = Webhook.objects.select_related("collection").filter(uuid=work.job.parameters["webhook"]).first()
    rows = due(timezone.now()).filter(webhook=hook).select_related("event").order_by("next_at", "pk")[:AT_ONCE]
    for number, delivery in enumerate(list(rows), start=1):
        # A receiver that is down would otherwise cost a time limit for each delivery.
        if not attempt(delivery):
            break
        work.progress(number)
    return {}


def unfinished(job: Any) -> bool:
    """Return whether the webhook has more deliveries to send now."""
    return due(timezone.now()).filter(webhook__uuid=job.parameters["webhook"]).exists()


def attempt(delivery: Delivery, now: datetime | None = None) -> bool:
    """Send a delivery once and store the outcome; return whether it was delivered."""
    now = now or timezone.now()
    if not _visible_to_leads(delivery.event):
        Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING).update(state=Delivery.State.HELD)
        return False
    claimed = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING, attempts=delivery.attempts)
    if not claimed.update(attempts=F("attempts") + 1, next_at=now + LEASE, attempted_at=now):
        return False  # another worker sends it
    delivery.refresh_from_db()
    hook = Webhook.objects.select_related("collection").get(pk=delivery.webhook_id)
    answer = _post(hook, delivery.event, now)
    with transaction.atomic():
        _store(delivery, answer, now)
        _note(hook, answer, now)
    return answer.delivered


def send_test(hook: Webhook, *, actor: User, now: datetime | None = None) -> Delivery:
    """Send a test event now, once, and store its outcome."""
    now = now or timezone.now()
    event = CollectionEvent.objects.create(
        collection=hook.collection, kind=TEST, text=f"{actor} sent a test", data={"sent_by": str(actor)}
    )
    with outside_turns().turn():
        answer = _post(hook, event, now)
    state = Delivery.State.DELIVERED if answer.delivered else Delivery.State.FAILED
    outcome = {"status": answer.status, "response": answer.response, "error": answer.error}
    made = Delivery.objects.create(webhook=hook, event=event, state=state, attempts=1, attempted_at=now, **outcome)
    sentence = f"{actor} tested the webhook {hook}"
    audit.record("webhooks.test", sentence, actor=actor, target=hook, status=answer.status)
    return made


@transaction.atomic
def redeliver(delivery: Delivery, *, actor: User) -> None:
    """Send a finished delivery again, with the same event id, and with all retries."""
    over = [Delivery.State.DELIVERED, Delivery.State.FAILED]
    if not delivery.webhook.active:
        raise Conflict("This webhook is switched off. Switch it on first.")
    rows = Delivery.objects.filter(pk=delivery.pk, state__in=over)
    if not rows.update(state=Delivery.State.WAITING, attempts=0, next_at=timezone.now()):
        raise Conflict("This delivery is still waiting. The server will send it automatically.")
    hook = delivery.webhook
    sentence = f"{actor} sent an event to the webhook {hook} again"
    audit.record("webhooks.redeliver", sentence, actor=actor, target=hook)
    queue(hook)


def body_of(event: CollectionEvent) -> bytes:
    """Return the body of the event's requests, which is the same for every attempt."""
    data = {**event.data, "text": event.text}
    if event.page:
        data["url"] = full_address(event.page)
    body = {
        "id": str(event.uuid),
        "event": event.kind,
        "created_at": event.created_at.isoformat(),
        "collection": event.collection.slug,
        "data": data,
    }
    return json.dumps(body, ensure_ascii=False).encode()


def _post(hook: Webhook, event: CollectionEvent, now: datetime) -> Answer:
    body = body_of(event)
    try:
        secrets = secrets_of(hook, now)
    except AssayError as error:
        return Answer(error=str(error))
    headers = {
        HEADER: signature(secrets, int(now.timestamp()), body),
        "Assay-Event": event.kind,
    }
    return send(grants.webhook_access(hook.collection), hook.address, body, headers, secrets, TIMEOUT)


def _store(delivery: Delivery, answer: Answer, now: datetime) -> None:
    outcome: dict[str, Any] = {"status": answer.status, "response": answer.response, "error": answer.error}
    if answer.delivered:
        outcome |= {"state": Delivery.State.DELIVERED, "next_at": None}
    elif delivery.attempts > len(BACK_OFF) or delivery.event.kind == TEST:
        outcome |= {"state": Delivery.State.FAILED, "next_at": None}
    else:
        outcome["next_at"] = now + BACK_OFF[delivery.attempts - 1]
    Delivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts).update(**outcome)


def _note(hook: Webhook, answer: Answer, now: datetime) -> None:
    """Record whether the webhook works, and switch it off after days of failures."""
    rows = Webhook.objects.filter(pk=hook.pk)
    if answer.delivered:
        rows.update(failing_since=None)
        return
    rows.filter(failing_since=None).update(failing_since=now)
    # While the receiver is down, only one delivery a minute waits for its time limit.
    soon = now + BACK_OFF[0]
    hook.deliveries.filter(state=Delivery.State.WAITING, next_at__lt=soon).update(next_at=soon)
    why = f"It failed for {PATIENCE.days} days. Last error: {answer.error}"[:300]
    if rows.filter(active=True, failing_since__lte=now - PATIENCE).update(active=False, stopped_because=why):
        sentence = f"the server switched off the webhook {hook}, which failed for {PATIENCE.days} days"
        audit.record("webhooks.stop", sentence, actor=None, target=hook)
        emit(
            "webhook.stopped",
            hook.collection,
            text=f"The webhook {hook} failed for {PATIENCE.days} days, so it was switched off.",
            page=reverse("webhook", args=[hook.collection.slug, hook.uuid]),
            data={"webhook": str(hook.uuid)},
        )


def delete_old(now: datetime | None = None) -> int:
    """Delete deliveries after a month; return their number."""
    old = Delivery.objects.filter(created_at__lt=(now or timezone.now()) - RETENTION)
    keys = list(old.order_by("pk").values_list("pk", flat=True)[:DELETED_AT_ONCE])
    Delivery.objects.filter(pk__in=keys).delete()
    return len(keys)


def listed(hook: Webhook) -> QuerySet[Delivery]:
    """Return the deliveries that leads may see, newest first; held ones would reveal that there is a result."""
    return hook.deliveries.exclude(state=Delivery.State.HELD).select_related("event")
