"""Extensions of the ORM for the models of all apps: public ids, opaque ids, archiving, event rows, compiled queries.

Frequent queries of raters' requests are compiled to SQL once, because the ORM takes several times as long to compile
such a query as the database takes to answer it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from types import SimpleNamespace
from typing import Any, NoReturn
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import IntegrityError, connection, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Expression, IntegerField, QuerySet, UUIDField
from django.db.models.lookups import In
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler

from assay.core.errors import NotValid
from assay.core.text_rules import id_fault


@CharField.register_lookup
@IntegerField.register_lookup
@UUIDField.register_lookup
class Among(In):
    """``pk__among=keys`` works like ``pk__in``, but evaluates a subquery for the keys first on PostgreSQL."""

    lookup_name = "among"

    def get_prep_lookup(self) -> Any:
        """Return the keys unchanged, because they come from the same table."""
        return self.rhs if isinstance(self.rhs, (Expression, Query)) else [*self.rhs]

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **words: Any
    ) -> tuple[str, tuple[Any, ...]]:
        """Compile to ``IN``; open keys become parameters of `Compiled`."""
        if not isinstance(self.rhs, Expression):
            return self.as_sql(compiler, connection)
        column, before = self.process_lhs(compiler, connection)
        return f"{column} IN ({self.rhs.place})", (*before, self.rhs)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **words: Any
    ) -> tuple[str, tuple[Any, ...]]:
        """Compile to one array parameter for all keys."""
        if not self.rhs:
            raise EmptyResultSet
        column, before = self.process_lhs(compiler, connection)
        if isinstance(self.rhs, Query):
            keys, parameters = compiler.compile(self.rhs)
            return f"{column} = ANY(ARRAY{keys})", (*before, *parameters)
        return f"{column} = ANY(%s)", (*before, self.rhs)


# The number of values in one query, below the limit of SQLite.
VALUES_AT_ONCE = 1_000


def rows_among(rows: QuerySet[Any], field: str, values: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows whose field has one of the values, with as many queries as the values need."""
    values = list(values)
    for begin in range(0, len(values), VALUES_AT_ONCE):
        yield from rows.filter(**{f"{field}__among": values[begin : begin + VALUES_AT_ONCE]})


class OpaqueIdField(models.CharField):
    """An id from outside, compared and sorted as UTF-8 bytes on every database."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 500)
        super().__init__(*args, **kwargs)

    def db_parameters(self, connection: Any) -> dict[str, Any]:
        parameters = super().db_parameters(connection)
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


class FirstWords(models.Func):
    """The beginning of a text in lower case, for an index that finds texts by their first words.

    It has no parameters, because SQLite uses an index only for the same expression as in the index.
    """

    template = "LOWER(SUBSTR(%(expressions)s, 1, 60))"
    output_field = models.TextField()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **words: Any) -> Any:
        """Compare as bytes, like SQLite."""
        return self.as_sql(compiler, connection, template=f'({self.template} COLLATE "C")', **words)


def check(name: str, condition: models.Q | None = None, **lookups: Any) -> models.CheckConstraint:
    """Return a constraint on every row, given as a condition or as lookups that all hold."""
    return models.CheckConstraint(condition=models.Q(**lookups) if condition is None else condition, name=name)


def unique(name: str, *fields: str, condition: models.Q | None = None) -> models.UniqueConstraint:
    """Return a constraint that the columns together identify a row, perhaps only among some rows."""
    return models.UniqueConstraint(fields=fields, condition=condition, name=name)


@contextmanager
def duplicates_raise(problem: Exception) -> Iterator[None]:
    """Write rows in a transaction; raise the problem if a constraint refuses one, as after a concurrent write."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise problem from error


def checked_name(name: str) -> str:
    """Return a name that follows the rules of ids, which can stand in any file."""
    if fault := id_fault(name):
        raise NotValid(f"The name {fault[1]}.", {"name": f"The name {fault[1]}. Use letters, digits and punctuation."})
    return name


class PublicModel(models.Model):
    """A model that pages and the API identify by UUID; the integer key stays internal."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)

    class Meta:
        abstract = True


class Authored(models.Model):
    """A row with the user who made it, as long as the account exists, and the time."""

    created_by = models.ForeignKey("judgments.User", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class Named:
    """A model that is shown by its name."""

    name: Any

    def __str__(self) -> str:
        return str(self.name)


class OfKind(models.Manager):
    """A manager for the rows of one kind in a table of several kinds."""

    kind: str

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(kind=self.kind)


class ArchivableQuerySet(models.QuerySet):
    """Rows that can be archived."""

    def active(self) -> Any:
        """Filter the rows that are not archived."""
        return self.filter(archived_at__isnull=True)

    def archived(self) -> Any:
        """Filter the archived rows."""
        return self.filter(archived_at__isnull=False)


class Archivable(models.Model):
    """A model whose rows a lead can archive: lists and choices omit them, and their results are kept."""

    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ArchivableQuerySet.as_manager()

    class Meta:
        abstract = True


class EventQuerySet(models.QuerySet):
    """Event rows: they can be read and added, but not changed or deleted."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError(f"{self.model.__name__} rows are events and cannot change; add a new row")

    def delete(self) -> NoReturn:
        raise TypeError(f"{self.model.__name__} rows are events and cannot be deleted; supersede the row")

    def bulk_create(self, objs: Any, *args: Any, ignore_conflicts: bool = False, **kwargs: Any) -> Any:
        """Create rows as Django does. On SQLite a trigger refuses duplicates, so conflicts are ignored row by row."""
        if not ignore_conflicts or connections[self.db].vendor != "sqlite":
            return super().bulk_create(objs, *args, ignore_conflicts=ignore_conflicts, **kwargs)
        rows = list(objs)
        for part in [rows, *([row] for row in rows)]:
            try:
                with transaction.atomic(using=self.db):
                    super().bulk_create(part, *args, **kwargs)
            except IntegrityError:
                continue
            if part is rows:
                break
        return rows


class EventModel(models.Model):
    """A model whose rows never change. The database enforces it too (migration ``events_never_change``)."""

    objects = EventQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError(f"a {type(self).__name__} is an event and cannot change; add a new row")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is an event and cannot be deleted; supersede it")


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
