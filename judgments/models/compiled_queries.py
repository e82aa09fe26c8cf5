"""Frequent queries of raters' requests, compiled to SQL once.

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
        """The placeholder in SQLite's SQL that the ids replace, since SQLite has no arrays."""
        return f"[{self.name}]"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """Return one parameter, which `Compiled` replaces with the value."""
        return "%s", [self]


class Compiled:
    """A query set with placeholders."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]]) -> None:
        self.build = build
        self.texts: dict[str, tuple[QuerySet[Any, Any], Any, str, tuple[Any, ...]]] = {}  # by database vendor

    def __call__(self, **values: Any) -> list[Any]:
        """Return the rows for these values as instances or tuples, as the query set defines."""
        if connection.vendor not in self.texts:
            rows = self.build()
            compiler = rows.query.get_compiler(connection=connection)
            self.texts[connection.vendor] = rows, compiler, *compiler.as_sql()
        rows, compiler, sql, parameters = self.texts[connection.vendor]
        arguments = list[Any]()
        for one in parameters:
            value = _adapted(values[one.name]) if isinstance(one, Given) else one
            if isinstance(one, Given) and isinstance(value, tuple):
                sql = sql.replace(one.place, ", ".join(["%s"] * len(value)))
                arguments += value
            else:
                arguments.append(value)
        # Django reads the rows as for any query set; only the SQL is compiled already.
        fixed_compiler = copy(compiler)
        fixed_compiler.as_sql = lambda: (sql, tuple(arguments))
        query = copy(rows.query)
        query.get_compiler = lambda *_, **__: fixed_compiler  # type: ignore[method-assign]
        queryset = SimpleNamespace(db=connection.alias, query=query, _fields=rows._fields, _known_related_objects={})
        return list(rows._iterable_class(queryset))


def _adapted(value: Any) -> Any:
    """Return the value in the form that the database driver takes."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if connection.vendor == "postgresql":
        return [*value] if isinstance(value, (set, list)) else value
    if isinstance(value, (set, list)):
        return tuple(map(_adapted, value))
    return value.hex if isinstance(value, UUID) else value
