"""The database itself refuses to change or delete an event: not only our code, any client of the database."""

from __future__ import annotations

from typing import Any

from django.db import migrations

TABLES = ("judgment", "adjudication", "machinejudgment", "snapshot", "guidelinesversion", "auditrow")

POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION assay_events_never_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% rows are events: add one, never change or delete one', TG_TABLE_NAME; END $$
"""


def statements(vendor: str) -> list[str]:
    if vendor == "postgresql":
        return [POSTGRESQL_FUNCTION] + [
            f"CREATE TRIGGER judgments_{table}_never_changes BEFORE UPDATE OR DELETE ON judgments_{table} "
            "FOR EACH ROW EXECUTE FUNCTION assay_events_never_change()"
            for table in TABLES
        ]
    return [
        f"CREATE TRIGGER judgments_{table}_never_{act.lower()}s BEFORE {act} ON judgments_{table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} rows are events: add one, never change or delete one'); END"
        for table in TABLES
        for act in ("UPDATE", "DELETE")
    ]


def forwards(apps: Any, schema_editor: Any) -> None:
    for statement in statements(schema_editor.connection.vendor):
        schema_editor.execute(statement, params=None)  # a % in it is a %, not a placeholder


class Migration(migrations.Migration):
    dependencies = [("judgments", "0001_initial")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
