"""Cache of collections that take hundreds of steps to build: later tests get their rows again.

A process that fills its first collection remembers which rows and files came of it. For the next test the same rows are
written again: under their old keys, as old as they were, and pointing to the new test's people and collection.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

T = TypeVar("T")
Key = tuple[type[models.Model], Any]
# What stands before the first step: people, what they may do, and that they began. All else is made by the steps.
BEFORE = {"User", "Session", "Collection", "Membership", "Grant", "AuditRow", "ApiToken"}


@dataclass(frozen=True)
class _Table:
    """Rows of a model as the database takes them, but for moments, which are those of then."""

    columns: list[models.Field]
    rows: list[list[Any]]


@dataclass(frozen=True)
class _Cached:
    """What came of the steps; ``known`` stood before them, ``result`` names its rows by their keys."""

    tables: list[_Table]
    files: dict[Path, bytes]
    known: list[Key]
    at: datetime
    result: Any


@dataclass(frozen=True)
class _Row:
    """A row of the result: by its key, or by its place among the known ones."""

    model: type[models.Model]
    pk: Any
    place: int | None

    def again(self, known: list[models.Model]) -> models.Model:
        return self.model._base_manager.get(pk=self.pk) if self.place is None else known[self.place]


_CACHE: dict[str, _Cached] = {}


def cached(name: str, known: list[models.Model], build: Callable[[], T]) -> T:
    """What ``build`` makes, by building it or by writing it again.

    ``known`` are the rows that the new ones may point to, in the same order in every test. A test that has made more
    than these gets its own.
    """
    stood = _keys(known)
    if name not in _CACHE:
        return _first(name, stood, build)
    old = _CACHE[name]
    moved = {key: new for key, (_, new) in zip(old.known, stood, strict=True)}
    age = timezone.now() - old.at
    try:
        with transaction.atomic():
            for table in old.tables:
                _insert(table, moved, age)
    except IntegrityError:
        return build()
    for path, content in old.files.items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    return _map(old.result, _Row, lambda row: row.again(known))


def _first(name: str, stood: list[Key], build: Callable[[], T]) -> T:
    before = {model: set(model._base_manager.values_list("pk", flat=True)) for model in _models()}
    files = set(_files())
    _leave_room(before)
    result = build()
    place = {key: place for place, key in enumerate(stood)}
    if not any(keys for model, keys in before.items() if model.__name__ not in BEFORE):
        new = {model: list(model._base_manager.exclude(pk__in=keys)) for model, keys in before.items()}
        _CACHE[name] = _Cached(
            tables=[_table(model, rows) for model, rows in new.items() if rows],
            files={path: path.read_bytes() for path in _files() if path not in files},
            known=stood,
            at=timezone.now(),
            result=_map(result, models.Model, lambda row: _Row(type(row), row.pk, place.get((type(row), row.pk)))),
        )
    return result


def _leave_room(made: Iterable[type[models.Model]]) -> None:
    """SQLite's next test counts from 1 again: its own first rows shall not find their keys taken."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for model in made:
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [model._meta.db_table])
                cursor.execute("INSERT INTO sqlite_sequence VALUES (%s, 1000000)", [model._meta.db_table])


def _table(model: type[models.Model], rows: list[models.Model]) -> _Table:
    columns = model._meta.local_concrete_fields
    return _Table(columns, [[_prepared(column, getattr(row, column.attname)) for column in columns] for row in rows])


def _prepared(column: models.Field, value: Any) -> Any:
    return value if isinstance(column, models.DateTimeField) else column.get_db_prep_save(value, connection)


def _insert(table: _Table, moved: dict[Key, Any], age: timedelta) -> None:
    """The rows again, pointing to what stands now, and as old as they were: a lease of half an hour still has it."""
    name = connection.ops.quote_name
    into = f"{name(table.columns[0].model._meta.db_table)} ({', '.join(name(one.column) for one in table.columns)})"
    rows = [list(row) for row in table.rows]
    for place, column in enumerate(table.columns):
        for row in rows:
            if column.related_model is not None:
                row[place] = moved.get((column.related_model, row[place]), row[place])
            elif isinstance(row[place], datetime):
                row[place] = column.get_db_prep_save(row[place] + age, connection)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {into} VALUES ({', '.join(['%s'] * len(table.columns))})", rows)


def _map(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """The value with everything of this kind changed, in lists and dataclasses too."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, list):
        return [_map(one, kind, change) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _map(getattr(value, one.name), kind, change) for one in fields(value)})
    return value


def _models() -> Iterator[type[models.Model]]:
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy and model._meta.app_label not in ("contenttypes", "auth"):
            yield model


def _keys(rows: list[models.Model]) -> list[Key]:
    return [(type(row), row.pk) for row in rows]


def _files() -> Iterator[Path]:
    for folder, _, names in os.walk(default_storage.path("")):
        yield from (Path(folder, name) for name in names)
