"""Recorded changes outside the data (schema, embeddings, categories, languages): record and withdraw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from assay.core.errors import Conflict, NotValid
from judgments.models import Collection, Declaration, User, audit
from judgments.models.fields import duplicates_raise

Kind = Declaration.Kind
# The kinds that users describe in words; the other kinds have their own data.
SPOKEN = (Kind.SCHEMA, Kind.EMBEDDING, Kind.CATEGORY, Kind.LANGUAGE)
# Clocks differ by up to a day; a later date is a mistake.
AHEAD = timedelta(days=1)
FIELDS: Mapping[str, str] = {"category": "category", "language": "language"}


@transaction.atomic
def declare(
    collection: Collection,
    *,
    kind: str,
    actor: User | None,
    happened_at: datetime | None = None,
    note: str = "",
    data: dict[str, Any] | None = None,
) -> Declaration:
    """Record a change outside the data."""
    if kind not in Kind.values:
        known = ", ".join(SPOKEN)
        raise NotValid(f"Unknown kind of change {kind!r}.", {"kind": f"Known kinds: {known}."})
    now = timezone.now()
    when = happened_at or now
    if when > now + AHEAD:
        raise NotValid("The date is in the future.", {"happened_at": "Enter the date of the change."})
    note = " ".join(note.split())
    longest = Declaration._meta.get_field("note").max_length or 0
    if len(note) > longest:
        raise NotValid("The note is too long.", {"note": f"Use at most {longest} characters."})
    if kind in (Kind.CATEGORY, Kind.LANGUAGE) and not note:
        raise NotValid(f"The name of the new {kind} is missing.", {"note": f"Enter the name of the new {kind}."})
    row = put(collection, kind=kind, happened_at=when, note=note, data=data or {}, actor=actor)
    sentence = f"{actor or 'the server'} recorded a change: {row.get_kind_display()}{f' ({note})' if note else ''}"
    audit.record("declarations.declare", sentence, actor=actor, collection=collection, target=row, kind=kind)
    return row


@transaction.atomic
def withdraw(declaration: Declaration, *, actor: User) -> Declaration:
    """Withdraw a recorded change; both rows stay."""
    again = Conflict("This change was already withdrawn.")
    if declaration.withdraws_id is not None or Declaration.objects.filter(withdraws=declaration).exists():
        raise again
    with duplicates_raise(again):
        row = _take_back(declaration, actor)
    _keep_newest_embedding(declaration.collection)
    sentence = f"{actor} withdrew a recorded change: {declaration}"
    audit.record("declarations.withdraw", sentence, actor=actor, collection=declaration.collection, target=row)
    return row


def put(
    collection: Collection, *, kind: str, happened_at: datetime, actor: User | None, note: str = "", data: Any = None
) -> Declaration:
    """Add only the row, for an action that writes its own audit row."""
    row = Declaration.objects.create(
        collection=collection, kind=kind, happened_at=happened_at, note=note, data=data or {}, created_by=actor
    )
    if kind == Kind.EMBEDDING:
        _keep_newest_embedding(collection)
    return row


def put_embedding_date(collection: Collection, when: datetime | None, actor: User | None) -> None:
    """Set the date of the newest change of the embeddings; None withdraws all of them."""
    later = standing(collection, Kind.EMBEDDING)
    for row in later if when is None else later.filter(happened_at__gt=when):
        _take_back(row, actor, "changed in the settings")
    if when is None:
        _keep_newest_embedding(collection)
    elif not standing(collection, Kind.EMBEDDING).filter(happened_at=when).exists():
        put(collection, kind=Kind.EMBEDDING, happened_at=when, actor=actor, note="entered in the settings")


def _take_back(row: Declaration, actor: User | None, note: str = "") -> Declaration:
    return Declaration.objects.create(
        collection_id=row.collection_id,
        kind=row.kind,
        happened_at=row.happened_at,
        note=note,
        withdraws=row,
        created_by=actor,
    )


def _keep_newest_embedding(collection: Collection) -> None:
    newest = standing(collection, Kind.EMBEDDING).first()
    collection.embedding_changed_at = newest.happened_at if newest else None
    collection.save(update_fields=["embedding_changed_at"])


def standing(collection: Collection, *kinds: str) -> Any:
    """Return the changes that were not withdrawn, newest first."""
    rows = Declaration.objects.filter(collection=collection).standing()
    return rows.filter(kind__in=kinds) if kinds else rows


def fields_of(collection: Collection) -> dict[str, str]:
    """Return the document fields of category and language; the default names until a lead sets them."""
    return fields_among(standing(collection, Kind.FIELDS))


def fields_among(rows: Iterable[Declaration]) -> dict[str, str]:
    """Return the document fields from recorded changes that are already loaded."""
    chosen = max((row for row in rows if row.kind == Kind.FIELDS), key=lambda row: row.pk, default=None)
    declared = chosen.data if chosen else {}
    return {kind: str(declared.get(kind) or usual) for kind, usual in FIELDS.items()}
