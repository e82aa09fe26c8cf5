"""Archive, restore and delete: hide a row, bring it back, or remove it if nothing depends on it.

Archiving hides a row from lists and choices and changes nothing that was made from it. Deleting is for rows that
nothing depends on, such as a mistaken upload or a draft. Before either, a page lists what will go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin.utils import NestedObjects
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from judgments import access, audit
from judgments.core.errors import Conflict, NotFound
from judgments.models import Collection, Document, Round, User
from judgments.models.fields import EventModel


@dataclass(frozen=True)
class Kind:
    """One kind of thing that can be archived.

    Parameters
    ----------
    model : type of Model
        Its table.
    page : str
        The name of the page that shows one, or that lists them.
    goes : frozenset of str
        Names of the models whose rows are parts of it and are deleted with it.
    in_use : callable
        Why one cannot be archived now; empty where it can.
    needed : callable
        What else depends on one, in words; empty where nothing does.
    file : callable
        The stored file that goes with one; empty where there is none.
    """

    model: type[Any]
    page: str
    goes: frozenset[str] = frozenset()
    in_use: Callable[[Any], str] = lambda row: ""
    needed: Callable[[Any], str] = lambda row: ""
    file: Callable[[Any], str] = lambda row: ""


@dataclass(frozen=True)
class Deletion:
    """What deleting a row would take with it, and what forbids it: numbers by the name of the kind of row."""

    goes: dict[str, int] = field(default_factory=dict)
    blocked_by: dict[str, int] = field(default_factory=dict)
    why_not: str = ""

    @property
    def possible(self) -> bool:
        return not self.blocked_by and not self.why_not


def _open_round(round_: Round) -> str:
    return "The round is open. Close it first." if round_.state == Round.State.OPEN else ""


def _open_rounds(collection: Collection) -> str:
    open_ = collection.rounds.filter(state=Round.State.OPEN).count()
    return f"{open_} of its rounds {'is' if open_ == 1 else 'are'} open. Close them first." if open_ else ""


KINDS: dict[str, Kind] = {
    "collection": Kind(
        Collection,
        "collection",
        in_use=_open_rounds,
        needed=lambda collection: "Its audit trail stays. Archive it instead.",
    ),
    "document": Kind(Document, "documents"),
    "round": Kind(
        Round,
        "rounds",
        frozenset({"Pair", "Slot", "RoundRater", "Tally", "RoundReport", "RoundEffect", "Refill", "InviteLink"}),
        in_use=_open_round,
        needed=lambda round_: "" if round_.state == Round.State.DRAFT else "Only a draft can be deleted.",
    ),
}


def kind_named(name: str) -> Kind:
    """The kind of this name.

    Raises
    ------
    NotFound
        There is none.
    """
    if name not in KINDS:
        raise NotFound(f"Unknown kind {name!r}. Known kinds: {', '.join(sorted(KINDS))}.")
    return KINDS[name]


def thing(user: User, collection: Collection, name: str, uuid: Any) -> Any:
    """The row of this kind in the collection, for a lead.

    Raises
    ------
    NotFound
        There is none, or no such kind.
    """
    model = kind_named(name).model
    if model is Collection:
        if str(collection.uuid) != str(uuid):
            raise NotFound("There is no such collection.")
        return collection
    return access.reach(model.objects.filter(collection=collection), user, access.LEADS, uuid=uuid)


@transaction.atomic
def archive(name: str, row: Any, *, actor: User) -> None:
    """Put a row away. Archiving what is archived changes nothing.

    Raises
    ------
    Conflict
        It is in use: an open round, a run that a growing round draws from.
    """
    row = _locked(row)
    if row.archived_at is not None:
        return
    if why := kind_named(name).in_use(row):
        raise Conflict(f"{row} cannot be archived. {why}")
    row.archived_at = timezone.now()
    row.save(update_fields=["archived_at"])
    _record("archive.archive", f"{actor} archived {name} {row}", name, row, actor)


@transaction.atomic
def restore(name: str, row: Any, *, actor: User) -> None:
    """Bring an archived row back to lists and choices."""
    row = _locked(row)
    if row.archived_at is None:
        return
    row.archived_at = None
    row.save(update_fields=["archived_at"])
    _record("archive.restore", f"{actor} restored {name} {row}", name, row, actor)


def deletion(name: str, row: Any) -> Deletion:
    """Return what deleting a row would take with it, or what forbids it."""
    kind = kind_named(name)
    if why_not := kind.needed(row):
        return Deletion(why_not=why_not)
    found = NestedObjects(using="default")
    found.collect([row])
    rows: Counter[type[Model]] = Counter()
    for model, instances in found.data.items():
        rows[model] += len(instances)
    for query in found.fast_deletes:
        rows[query.model] += query.count()
    rows[type(row)] -= 1
    goes, blocked = Counter[str](), Counter[str]()
    for model, number in rows.items():
        if number > 0:
            part = model.__name__ in kind.goes and not issubclass(model, EventModel)
            (goes if part else blocked)[_plural(model)] += number
    for one in found.protected:
        blocked[_plural(type(one))] += 1
    return Deletion(dict(goes), dict(blocked))


@transaction.atomic
def delete(name: str, row: Any, *, actor: User) -> Deletion:
    """Remove a row that nothing depends on, with its parts and its file.

    Raises
    ------
    Conflict
        Something depends on it; it can be archived instead.
    """
    row = _locked(row)
    found = deletion(name, row)
    if not found.possible:
        raise Conflict(f"{row} cannot be deleted. {_in_words(found)} Archive it instead.")
    path = kind_named(name).file(row)
    _record("archive.delete", f"{actor} deleted {name} {row}", name, row, actor, goes=found.goes)
    row.delete()
    if path:
        transaction.on_commit(lambda: default_storage.delete(path))
    return found


def _locked(row: Any) -> Any:
    return type(row).objects.select_for_update(of=("self",)).get(pk=row.pk)


def _record(verb: str, sentence: str, name: str, row: Any, actor: User, **more: Any) -> None:
    collection = row if isinstance(row, Collection) else row.collection
    audit.record(verb, sentence, actor=actor, collection=collection, target=row, kind=name, name=str(row), **more)


def _in_words(found: Deletion) -> str:
    if found.why_not:
        return found.why_not
    named = ", ".join(f"{number:,} {name}" for name, number in found.blocked_by.items())
    return f"These depend on it: {named}."


def _plural(model: type[Model]) -> str:
    return str(model._meta.verbose_name_plural)
