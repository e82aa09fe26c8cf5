"""Test of collation: every id column compares bytes, whatever the locale of the database server."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

from judgments.models.fields import OpaqueIdField

pytestmark = pytest.mark.django_db
IDS = [
    (model._meta.db_table, field.column)
    for model in apps.get_models()
    for field in model._meta.fields
    if isinstance(field, OpaqueIdField)
]


@pytest.mark.parametrize(("table", "column"), IDS)
def test_every_id_column_compares_bytes(table: str, column: str) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite compares bytes by itself")
    sql = "SELECT collation_name FROM information_schema.columns WHERE table_name = %s AND column_name = %s"
    with connection.cursor() as cursor:
        cursor.execute(sql, [table, column])
        assert cursor.fetchone() == ("C",)
