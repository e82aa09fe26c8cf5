"""Queries that raters' requests run all the time, compiled to SQL once.

The ORM takes several times as long to compile such a query as the database takes to answer it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Expression, QuerySet


class Given(Expression):
    """A placeholder for a value that each call passes: an id, a number, a time, or ids (with ``among``)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    @property
    def place(self) -> str:
        """The mark in SQLite's SQL, which has no arrays, that the ids replace."""
        return f"[{self.name}]"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """One parameter, which `Compiled` replaces by the value."""
        return "%s", [self]


class Compiled:
    """A query set with placeholders.

    Parameters
    ----------
    build : callable
        Returns the query set, with a `Given` for each value that a call passes.
    """

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        self.build = build
        self.texts: dict[str, tuple[QuerySet[Any, Any], Any, str, tuple[Any, ...]]] = {}  # by kind of database

    def __call__(self, **values: Any) -> list[Any]:
        """The rows for these values, as the query set has them: instances or tuples."""
        if connection.vendor not in self.texts:
            rows = self.build()
            compiler = rows.query.get_compiler(connection=connection)
            self.texts[connection.vendor] = rows, compiler, *compiler.as_sql()
        rows, compiler, sql, parameters = self.texts[connection.vendor]
        told = list[Any]()
        for one in parameters:
            value = _adapted(values[one.name]) if isinstance(one, Given) else one
            if isinstance(one, Given) and isinstance(value, tuple):
                sql = sql.replace(one.place, ", ".join(["%s"] * len(value)))
                told += value
            else:
                told.append(value)
        # Django reads the rows as it does for a query set; only the SQL is there already.
        asks = copy(compiler)
        asks.as_sql = lambda: (sql, tuple(told))
        query = copy(rows.query)
        query.get_compiler = lambda *_, **__: asks  # type: ignore[method-assign]
        asked = SimpleNamespace(db=connection.alias, query=query, _fields=rows._fields, _known_related_objects={})
        return list(rows._iterable_class(asked))


def _adapted(value: Any) -> Any:
    """The value as the driver of the database takes it."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if connection.vendor == "postgresql":
        return [*value] if isinstance(value, (set, list)) else value
    if isinstance(value, (set, list)):
        return tuple(map(_adapted, value))
    return value.hex if isinstance(value, UUID) else value
