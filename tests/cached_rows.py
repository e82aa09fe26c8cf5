"""Cache of collections that take hundreds of steps to build: later tests get their rows again.

A process that fills its first collection remembers which rows and files came of it. For the next test the same rows are
written again: under their old keys, as old as they were, and pointing to the new test's people and collection.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.files.storage import default_storage
from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

T = TypeVar("T")
Model = type[models.Model]
Key = tuple[Model, Any]
# What stands before the first step: people, what they may do, and that they began. All else is made by the steps.
BEFORE = {"User", "Session", "Collection", "Membership", "Grant", "AuditRow", "ApiToken"}


@dataclass(frozen=True)
class _Table:
    """Rows of a model as the database takes them, but for moments, which are those of then."""

    columns: list[models.Field]
    rows: list[list[Any]]


@dataclass(frozen=True)
class _Cached:
    """What came of the steps. ``people`` are the users and collections that stood before, by name and old key."""

    tables: list[_Table]
    changed: dict[Key, dict[str, Any]]
    files: dict[Path, bytes]
    people: dict[Key, Any]
    at: datetime
    result: Any


@dataclass(frozen=True)
class _Row:
    """A row of the result."""

    model: Model
    pk: Any


_CACHE: dict[str, _Cached] = {}
# Each fixture has a million keys of its own.
_ROOMS = count(1)


def cached_fixture(build: Callable[..., T]) -> Callable[..., T]:
    """A fixture whose rows later tests get again."""

    @wraps(build)
    def again(**arguments: Any) -> T:
        return cached(f"{build.__module__}.{build.__name__}", lambda: build(**arguments))

    return again


def cached(name: str, build: Callable[[], T]) -> T:
    """What ``build`` makes, by building it or by writing it again.

    Its rows may point to people and collections, and may change them. A test that has made more gets its own.
    """
    return _again(_CACHE[name], build) if name in _CACHE else _first(name, build)


def _again(old: _Cached, build: Callable[[], T]) -> T:
    now = _people()
    moved = {(model, pk): now[model, name] for (model, name), pk in old.people.items() if (model, name) in now}
    age = timezone.now() - old.at
    try:
        with transaction.atomic():
            for table in old.tables:
                _insert(table, moved, age)
    except IntegrityError:
        return build()
    for (model, pk), values in old.changed.items():
        later = {column: value + age if isinstance(value, datetime) else value for column, value in values.items()}
        assert model._base_manager.filter(pk=moved.get((model, pk), pk)).update(**later) == 1
    for path, content in old.files.items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    return _map(old.result, _Row, lambda row: row.model._base_manager.get(pk=moved.get((row.model, row.pk), row.pk)))


def _first(name: str, build: Callable[[], T]) -> T:
    before, people, files = _rows(), _people(), set(_files())
    _leave_room()
    result = build()
    after = _rows()
    if before.keys() <= after.keys() and {model.__name__ for model, _ in before} <= BEFORE:
        tables = [_table(model, after.keys() - before.keys()) for model in _models()]
        _CACHE[name] = _Cached(
            tables=[table for table in tables if table.rows],
            changed={
                row: {column: value for column, value in after[row].items() if value != before[row][column]}
                for row in before
                if after[row] != before[row]
            },
            files={path: path.read_bytes() for path in _files() if path not in files},
            people=people,
            at=timezone.now(),
            result=_map(result, models.Model, lambda row: _Row(type(row), row.pk)),
        )
    return result


def _people() -> dict[Key, Any]:
    """The primary keys of users and collections by their names."""
    names = ((get_user_model(), "username"), (apps.get_model("judgments", "Collection"), "slug"))
    return {(model, name): pk for model, by in names for pk, name in model._base_manager.values_list("pk", by)}


def _leave_room() -> None:
    """A test that counts from 1 again, as after a migration back and forth, shall not find its first keys taken."""
    room = next(_ROOMS) * 1_000_000
    with connection.cursor() as cursor:
        for model in _models():
            table, key = model._meta.db_table, model._meta.pk
            if connection.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence VALUES (%s, %s)", [table, room])
            elif isinstance(key, models.AutoField):
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", [f'"{table}"', key.column, room])


def _table(model: Model, made: set[Key]) -> _Table:
    columns = model._meta.local_concrete_fields
    rows = model._base_manager.filter(pk__in=[pk for one, pk in made if one is model])
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
    """The value with everything of this kind changed, in lists, dictionaries and dataclasses too."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_map(one, kind, change) for one in value)
    if isinstance(value, dict):
        return {name: _map(one, kind, change) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _map(getattr(value, one.name), kind, change) for one in fields(value)})
    return value


def _models() -> Iterator[Model]:
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy and model._meta.app_label not in ("contenttypes", "auth"):
            yield model


def _rows() -> dict[Key, dict[str, Any]]:
    return {
        (model, row["pk"]): row
        for model in _models()
        for row in model._base_manager.values("pk", *(one.attname for one in model._meta.local_concrete_fields))
    }


def _files() -> Iterator[Path]:
    for folder, _, names in os.walk(default_storage.path("")):
        yield from (Path(folder, name) for name in names)
