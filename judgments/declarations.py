"""Recorded changes outside the data (schema, embeddings, categories, languages): record and withdraw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from judgments import audit
from judgments.core.errors import Conflict, NotValid
from judgments.models import Collection, Declaration, User

Kind = Declaration.Kind
# What people declare in words; the other kinds come with data of their own.
SPOKEN = (Kind.SCHEMA, Kind.EMBEDDING, Kind.CATEGORY, Kind.LANGUAGE)
# Clocks differ; a day that is not yet here is a mistake.
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
    """Put on record what happened outside.

    Parameters
    ----------
    collection : Collection
        To whose documents and systems.
    kind : str
        One of `Declaration.Kind`.
    actor : User or None
        Who says so.
    happened_at : datetime, optional
        When; now by default.
    note : str
        In a few words: the model's name, what the field is for.
    data : dict, optional
        What the kinds that are not spoken carry.

    Raises
    ------
    NotValid
        An unknown kind, a day that has not come, or words that are missing or too long.
    """
    if kind not in Kind.values:
        known = ", ".join(SPOKEN)
        raise NotValid(f"There is no declaration {kind!r}.", {"kind": f"One of {known}."})
    now = timezone.now()
    when = happened_at or now
    if when > now + AHEAD:
        raise NotValid("This day has not come yet.", {"happened_at": "The day on which it happened."})
    note = " ".join(note.split())
    longest = Declaration._meta.get_field("note").max_length or 0
    if len(note) > longest:
        raise NotValid("The note is too long.", {"note": f"At most {longest} characters."})
    if kind in (Kind.CATEGORY, Kind.LANGUAGE) and not note:
        raise NotValid(f"Which {kind}?", {"note": f"Name the {kind} that came."})
    row = put(collection, kind=kind, happened_at=when, note=note, data=data or {}, actor=actor)
    sentence = f"{actor or 'the server'} declared: {row.get_kind_display()}{f' ({note})' if note else ''}"
    audit.record("declarations.declare", sentence, actor=actor, collection=collection, target=row, kind=kind)
    return row


@transaction.atomic
def withdraw(declaration: Declaration, *, actor: User, note: str = "") -> Declaration:
    """Take a declaration back; both rows stay on record.

    Raises
    ------
    Conflict
        It was taken back already.
    """
    again = Conflict("This was taken back already.")
    if declaration.withdraws_id is not None or Declaration.objects.filter(withdraws=declaration).exists():
        raise again
    try:
        with transaction.atomic():
            row = _take_back(declaration, actor, note)
    except IntegrityError as error:
        raise again from error
    _keep_newest_embedding(declaration.collection)
    sentence = f"{actor} took back: {declaration}"
    audit.record("declarations.withdraw", sentence, actor=actor, collection=declaration.collection, target=row)
    return row


def put(
    collection: Collection, *, kind: str, happened_at: datetime, actor: User | None, note: str = "", data: Any = None
) -> Declaration:
    """Add the row alone, for a verb that writes an audit row of its own."""
    row = Declaration.objects.create(
        collection=collection, kind=kind, happened_at=happened_at, note=note, data=data or {}, created_by=actor
    )
    if kind == Kind.EMBEDDING:
        _keep_newest_embedding(collection)
    return row


def put_embedding_date(collection: Collection, when: datetime | None, actor: User | None) -> None:
    """Make a date the newest change of the embeddings; None takes all of them back."""
    later = standing(collection, Kind.EMBEDDING)
    for row in later if when is None else later.filter(happened_at__gt=when):
        _take_back(row, actor, "changed in the settings")
    if when is None:
        _keep_newest_embedding(collection)
    elif not standing(collection, Kind.EMBEDDING).filter(happened_at=when).exists():
        put(collection, kind=Kind.EMBEDDING, happened_at=when, actor=actor, note="said in the settings")


def _take_back(row: Declaration, actor: User | None, note: str) -> Declaration:
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
    """The declarations that nobody took back, the newest first."""
    rows = Declaration.objects.filter(collection=collection).standing()
    return rows.filter(kind__in=kinds) if kinds else rows


def fields_of(collection: Collection) -> dict[str, str]:
    """In which fields of the documents category and language stand; by the usual names until somebody chooses."""
    return fields_among(standing(collection, Kind.FIELDS))


def fields_among(rows: Iterable[Declaration]) -> dict[str, str]:
    """The same where the declarations were read already."""
    chosen = max((row for row in rows if row.kind == Kind.FIELDS), key=lambda row: row.pk, default=None)
    told = chosen.data if chosen else {}
    return {kind: str(told.get(kind) or usual) for kind, usual in FIELDS.items()}
