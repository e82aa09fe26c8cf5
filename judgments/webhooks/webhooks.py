"""Webhooks of a collection: add, change, rotate the secret, switch off, and delete."""

from __future__ import annotations

import secrets as random_secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from assay.core.errors import Conflict
from judgments.events.kinds import checked_webhook_events
from judgments.jobs import encrypted_secrets
from judgments.members import grants
from judgments.models import Collection, User, Webhook, audit
from judgments.webhooks.sending import checked_address

MOST = 20
# Time for receivers to learn the new secret after a rotation.
OVERLAP = timedelta(hours=24)


@transaction.atomic
def add(
    collection: Collection, *, actor: User, address: str, events: Sequence[str], description: str = ""
) -> tuple[Webhook, str]:
    """Add a webhook; its secret is returned only here."""
    # Locked, so that two requests at once cannot exceed the limit.
    Collection.objects.select_for_update().get(pk=collection.pk)
    if collection.webhooks.count() >= MOST:
        raise Conflict(f"This collection has {MOST} webhooks, which is the limit. Delete one first.")
    secret = _new_secret()
    hook = Webhook.objects.create(
        collection=collection,
        address=checked_address(address, grants.webhook_access(collection)),
        events=checked_webhook_events(list(events)),
        description=description.strip(),
        sealed=encrypted_secrets.seal({"secret": secret}),
        created_by=actor,
    )
    _record("add", f"{actor} added the webhook {hook}", hook, actor, events=hook.events)
    return hook, secret


@transaction.atomic
def change(hook: Webhook, *, actor: User | None, **fields: Any) -> Webhook:
    """Change address, events, description or ``active``; other fields stay."""
    hook = Webhook.objects.select_for_update(of=("self",)).select_related("collection").get(pk=hook.pk)
    before, address = _state(hook), hook.address
    if fields.get("address", hook.address) != hook.address:
        hook.address = checked_address(fields["address"], grants.webhook_access(hook.collection))
    if "events" in fields:
        hook.events = checked_webhook_events(list(fields["events"]))
    if "description" in fields:
        hook.description = fields["description"].strip()
    if "active" in fields:
        hook.active = fields["active"]
    if hook.active and (not before["active"] or hook.address != address):
        hook.failing_since, hook.stopped_because = None, ""
    hook.save()
    _record("change", f"{actor} changed the webhook {hook}", hook, actor, **audit.changed(before, _state(hook)))
    return hook


@transaction.atomic
def rotate(hook: Webhook, *, actor: User, now: datetime | None = None) -> str:
    """Return a new secret. For a day, deliveries are signed with the old one too."""
    hook = Webhook.objects.select_for_update(of=("self",)).select_related("collection").get(pk=hook.pk)
    secret = _new_secret()
    try:
        old = encrypted_secrets.unseal(hook.sealed)["secret"]
    except Conflict:  # the server no longer has the key of the old secret
        old = ""
    hook.sealed = encrypted_secrets.seal({"secret": secret, "previous": old})
    hook.previous_until = (now or timezone.now()) + OVERLAP
    hook.save(update_fields=["sealed", "previous_until"])
    _record("rotate", f"{actor} rotated the secret of the webhook {hook}", hook, actor)
    return secret


@transaction.atomic
def remove(hook: Webhook, *, actor: User) -> None:
    """Delete a webhook with its secret and deliveries."""
    _record("remove", f"{actor} deleted the webhook {hook}", hook, actor)
    hook.delete()


def secrets_of(hook: Webhook, now: datetime) -> list[str]:
    """Return the secrets that sign deliveries now, the newest first."""
    stored = encrypted_secrets.unseal(hook.sealed)
    both = hook.previous_until is not None and now < hook.previous_until and "previous" in stored
    return [stored["secret"], stored["previous"]] if both else [stored["secret"]]


def _new_secret() -> str:
    return f"whsec_{random_secrets.token_urlsafe(32)}"


def _state(hook: Webhook) -> dict[str, Any]:
    return {name: getattr(hook, name) for name in ("host", "events", "description", "active")}


def _record(verb: str, sentence: str, hook: Webhook, actor: User | None, **detail: Any) -> None:
    audit.record(f"webhooks.{verb}", sentence, actor=actor, target=hook, **detail)
