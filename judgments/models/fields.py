"""Base classes and fields for the models of all apps: public ids, opaque ids, archiving, event rows."""

from __future__ import annotations

import uuid
from typing import Any, NoReturn

from django.db import IntegrityError, connections, models, transaction


class OpaqueIdField(models.CharField):
    """An id that comes from outside: a string that is compared and sorted as UTF-8 bytes, on every database.

    SQLite compares bytes by itself; PostgreSQL needs collation ``C``, or the order would follow the server's locale.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 500)
        super().__init__(*args, **kwargs)

    def db_parameters(self, connection: Any) -> dict[str, Any]:
        parameters = super().db_parameters(connection)
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


class PublicModel(models.Model):
    """A row that pages and the API name by UUID; the small integer stays inside."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)

    class Meta:
        abstract = True


class OfKind(models.Manager):
    """The rows of one kind, in tables that hold several."""

    kind: str

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(kind=self.kind)


class ArchivableQuerySet(models.QuerySet):
    """Rows that can be put away."""

    def active(self) -> Any:
        """Those that lists and choices offer."""
        return self.filter(archived_at__isnull=True)

    def archived(self) -> Any:
        """Those that were put away."""
        return self.filter(archived_at__isnull=False)


class Archivable(models.Model):
    """A row that a lead can archive: lists and choices leave it out, what was made from it stays."""

    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ArchivableQuerySet.as_manager()

    class Meta:
        abstract = True


class EventQuerySet(models.QuerySet):
    """Rows that happened: a query can read them and add to them, nothing else."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError(f"{self.model.__name__} rows are events: add one, never change one")

    def delete(self) -> NoReturn:
        raise TypeError(f"{self.model.__name__} rows are events: supersede one, never delete one")

    def bulk_create(self, objs: Any, *args: Any, ignore_conflicts: bool = False, **kwargs: Any) -> Any:
        """As Django's. On SQLite a trigger refuses a row that is there, so that conflicts are ignored one by one."""
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
    """A row that is written once. The database refuses changes too (see the migration ``events_never_change``)."""

    objects = EventQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError(f"a {type(self).__name__} is an event: add one, never change one")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is an event: supersede one, never delete one")
