"""Lookup ``among``: pass a hundred keys to PostgreSQL as one array.

``IN (%s, %s, ...)`` differs for every number of rows, so it is built, parsed and planned each time, and no plan is
reused. PostgreSQL takes the rows as one array instead. SQLite has no arrays and uses ``IN``.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Expression, IntegerField, UUIDField
from django.db.models.lookups import In
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler


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
        """Compile to ``IN``; open keys become parameters in `judgments/models/compiled_queries.py`."""
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
