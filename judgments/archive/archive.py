"""Archive, restore and delete: hide a row, restore it, or delete it if nothing depends on it.

Archiving hides a row from lists and choices and changes no row made from it. Deleting is for rows that nothing depends
on, such as a mistaken upload or a draft. Before a deletion, a page lists the rows that will be deleted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin.utils import NestedObjects
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from assay.core.errors import Conflict, NotFound
from judgments.hooks import ARCHIVE_KINDS, ArchiveKind
from judgments.models import Collection, Document, Round, User, audit
from judgments.models.fields import EventModel
from judgments.web import access


@dataclass(frozen=True)
class Deletion:
    """The rows that deleting a row would also delete, and the rows that prevent it, as counts by kind."""

    goes: dict[str, int] = field(default_factory=dict)
    blocked_by: dict[str, int] = field(default_factory=dict)
    why_not: str = ""

    @property
    def possible(self) -> bool:
        return not self.blocked_by and not self.why_not


def _open_rounds(collection: Collection) -> str:
    open_ = collection.rounds.filter(state=Round.State.OPEN).count()
    return (
        f"{open_} of its rounds {'is' if open_ == 1 else 'are'} open. Close {'it' if open_ == 1 else 'them'} first."
        if open_
        else ""
    )


KINDS: dict[str, ArchiveKind] = {
    "collection": ArchiveKind(
        Collection,
        "collection",
        in_use=_open_rounds,
        needed=lambda collection: "Its audit trail must be preserved.",
    ),
    "document": ArchiveKind(Document, "documents"),
    "round": ArchiveKind(
        Round,
        "rounds",
        frozenset({"Pair", "Slot", "RoundRater", "Tally", "RoundReport", "RoundEffect", "Refill", "InviteLink"}),
        in_use=lambda round_: "The round is open. Close it first." if round_.state == Round.State.OPEN else "",
        needed=lambda round_: "" if round_.state == Round.State.DRAFT else "Only a draft can be deleted.",
    ),
}


def get_kind(name: str) -> ArchiveKind:
    if name not in ARCHIVE_KINDS:
        raise NotFound(f"Unknown kind {name!r}. Known kinds: {', '.join(sorted(ARCHIVE_KINDS))}.")
    return ARCHIVE_KINDS[name]


def archivable_row(user: User, collection: Collection, name: str, uuid: Any) -> Any:
    """Return a row of this kind in the collection, for a lead."""
    model = get_kind(name).model
    if model is Collection:
        if str(collection.uuid) != str(uuid):
            raise NotFound("Collection not found.")
        return collection
    return access.reach(model.objects.filter(collection=collection), user, access.LEADS, uuid=uuid)


@transaction.atomic
def archive(name: str, row: Any, *, actor: User) -> None:
    """Archive a row. Archiving an archived row changes nothing."""
    row = _locked(row)
    if row.archived_at is not None:
        return
    if why := get_kind(name).in_use(row):
        raise Conflict(f"{row} cannot be archived. {why}")
    row.archived_at = timezone.now()
    row.save(update_fields=["archived_at"])
    _record("archive.archive", f"{actor} archived {name} {row}", name, row, actor)


@transaction.atomic
def restore(name: str, row: Any, *, actor: User) -> None:
    """Restore an archived row to lists and choices."""
    row = _locked(row)
    if row.archived_at is None:
        return
    row.archived_at = None
    row.save(update_fields=["archived_at"])
    _record("archive.restore", f"{actor} restored {name} {row}", name, row, actor)


def deletion(name: str, row: Any) -> Deletion:
    """Return the rows that deleting a row would also delete, or those that prevent it."""
    kind = get_kind(name)
    if why_not := kind.needed(row):
        return Deletion(why_not=why_not)
    collector = NestedObjects(using="default")
    collector.collect([row])
    rows: Counter[type[Model]] = Counter()
    for model, instances in collector.data.items():
        rows[model] += len(instances)
    for query in collector.fast_deletes:
        rows[query.model] += query.count()
    rows[type(row)] -= 1
    goes, blocked = Counter[str](), Counter[str]()
    for model, number in rows.items():
        if number > 0:
            part = model.__name__ in kind.goes and not issubclass(model, EventModel)
            (goes if part else blocked)[_plural(model)] += number
    for one in collector.protected:
        blocked[_plural(type(one))] += 1
    return Deletion(dict(goes), dict(blocked))


@transaction.atomic
def delete(name: str, row: Any, *, actor: User) -> Deletion:
    """Delete a row that nothing depends on, with its parts and its file."""
    row = _locked(row)
    preview = deletion(name, row)
    if not preview.possible:
        named = ", ".join(f"{number:,} {name}" for name, number in preview.blocked_by.items())
        why = preview.why_not or f"Other objects depend on it: {named}."
        raise Conflict(f"{row} cannot be deleted. {why} Archive it instead.")
    path = get_kind(name).file(row)
    _record("archive.delete", f"{actor} deleted {name} {row}", name, row, actor, goes=preview.goes)
    row.delete()
    if path:
        transaction.on_commit(lambda: default_storage.delete(path))
    return preview


def _locked(row: Any) -> Any:
    return type(row).objects.select_for_update(of=("self",)).get(pk=row.pk)


def _record(verb: str, sentence: str, name: str, row: Any, actor: User, **more: Any) -> None:
    collection = row if isinstance(row, Collection) else row.collection
    audit.record(verb, sentence, actor=actor, collection=collection, target=row, kind=name, name=str(row), **more)


def _plural(model: type[Model]) -> str:
    return str(model._meta.verbose_name_plural)
