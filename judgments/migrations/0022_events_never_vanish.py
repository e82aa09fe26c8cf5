"""What happened cannot be emptied or replaced either: TRUNCATE on PostgreSQL, INSERT OR REPLACE on SQLite.

SQLite deletes the row that is in the way of INSERT OR REPLACE without asking the triggers for DELETE, unless a connection
turns ``recursive_triggers`` on. So a row that would be in the way of one is refused before it comes.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

# What is unique in each table beside `id` and `uuid`: columns, and where the rule holds only for some rows, for which.
CHAIN, ANSWERED = "{}supersedes_id IS NULL", "{}outcome <> 'transport_error'"
UNIQUE: dict[str, list[tuple[tuple[str, ...], str]]] = {
    "judgment": [(("rater_id", "client_id"), ""), (("supersedes_id",), ""), (("pair_id", "rater_id"), CHAIN)],
    "adjudication": [(("supersedes_id",), ""), (("pair_id",), CHAIN)],
    "probeanswer": [(("rater_id", "client_id"), ""), (("supersedes_id",), ""), (("probe_id",), CHAIN)],
    "machinejudgment": [(("judge_id", "pair_id"), "")],
    "modelcall": [(("judge_id", "key"), ANSWERED)],
    "battle": [(("run_id", "a_id", "b_id", "swapped", "key"), ANSWERED)],
    "battlecanary": [(("run_id", "a_id", "b_id", "swapped", "key"), ANSWERED)],
    "declaration": [(("withdraws_id",), "")],
    "snapshot": [(("collection_id", "name"), "")],
    "guidelinesversion": [(("collection_id", "number"), "")],
    "promptversion": [(("collection_id", "name", "number"), "")],
    "auditrow": [],
}


def statements(vendor: str) -> list[str]:
    if vendor == "postgresql":
        return [
            f"CREATE TRIGGER judgments_{table}_never_truncated BEFORE TRUNCATE ON judgments_{table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION assay_events_never_change()"
            for table in UNIQUE
        ]
    return [_before_insert(table, keys) for table, keys in UNIQUE.items()]


def _before_insert(table: str, keys: list[tuple[tuple[str, ...], str]]) -> str:
    there = []
    for columns, where in [(("id",), ""), (("uuid",), ""), *keys]:
        same = [f"{column} = NEW.{column}" for column in columns]
        some = [where.format(""), where.format("NEW.")] if where else []
        there.append(f"EXISTS (SELECT 1 FROM judgments_{table} WHERE {' AND '.join([*same, *some])})")
    return (
        f"CREATE TRIGGER judgments_{table}_never_replaced BEFORE INSERT ON judgments_{table} "
        f"WHEN {' OR '.join(there)} "
        f"BEGIN SELECT RAISE(ABORT, '{table} rows are events: add one, never change or replace one'); END"
    )


def forwards(apps: Any, schema_editor: Any) -> None:
    for statement in statements(schema_editor.connection.vendor):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("judgments", "0021_archive")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]
