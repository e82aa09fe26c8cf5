"""Tests of append-only tables: the database refuses to change, delete or replace events."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction

from judgments.models import AuditRow, GuidelinesVersion, Judgment, Slot
from judgments.models.fields import EventModel
from judgments.rating import assignment

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
events = import_module("judgments.migrations.0002_events_never_change")
vanish = import_module("judgments.migrations.0022_events_never_vanish")


@pytest.fixture
def judgment(make_round: Callable[..., Any], answer: Callable[..., Any], rater: Any) -> Judgment:
    round_ = make_round(raters=[rater])
    (pair,) = assignment.claim_batch(round_, rater=rater, size=1)
    return answer(round_, rater, pair, 2).judgment


EVENTS = {
    model._meta.db_table.removeprefix("judgments_") for model in apps.get_models() if issubclass(model, EventModel)
}


@pytest.mark.parametrize("table", sorted({*events.TABLES, *EVENTS}))
def test_every_event_table_has_its_triggers(table: str) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT count(*) FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal",
                [f"judgments_{table}"],
            )
            expected = 2
        else:
            cursor.execute(
                "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [f"judgments_{table}"]
            )
            expected = 3
        assert cursor.fetchone()[0] == expected


def test_sql_cannot_change_a_judgment(judgment: Judgment) -> None:
    with pytest.raises(DatabaseError, match="never change"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE judgments_judgment SET grade = 0")
    judgment.refresh_from_db()
    assert judgment.grade == 2


def test_sql_cannot_delete_a_judgment(judgment: Judgment) -> None:
    Slot.objects.update(filled_by=None)
    with pytest.raises(DatabaseError, match="never change"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM judgments_judgment")
    assert Judgment.objects.filter(pk=judgment.pk).exists()


def rows_of(table: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM judgments_{table} ORDER BY id")
        return list(cursor.fetchall())


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no TRUNCATE")
@pytest.mark.parametrize("table", sorted(EVENTS))
@pytest.mark.parametrize("how", ["{}", "{} CASCADE", "{} RESTART IDENTITY CASCADE", "judgments_user, {} CASCADE"])
def test_sql_cannot_empty_a_table(judgment: Judgment, table: str, how: str) -> None:
    before = rows_of("judgment")
    connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")  # nothing else is in the way
    with pytest.raises(DatabaseError, match=r"never change|foreign key"), transaction.atomic():
        connection.cursor().execute(f"TRUNCATE {how.format(f'judgments_{table}')}")
    with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
        connection.cursor().execute("TRUNCATE judgments_collection CASCADE")
    assert rows_of("judgment") == before


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no INSERT OR REPLACE")
@pytest.mark.parametrize("same", ["id", "uuid", "client_id, rater_id", "pair_id, rater_id"])
@pytest.mark.parametrize("how", ["INSERT OR REPLACE", "REPLACE", "INSERT OR FAIL"])
def test_sql_cannot_replace_a_judgment(judgment: Judgment, same: str, how: str) -> None:
    """SQLite deletes what is in the way, and asks no trigger for DELETE."""
    before = rows_of("judgment")
    new = {"id": "id + 1000", "uuid": "'" + "f" * 32 + "'", "client_id": "'" + "e" * 32 + "'", "grade": "0"}
    new = {name: value for name, value in new.items() if name not in same.split(", ")}
    columns = [field.column for field in Judgment._meta.concrete_fields]
    values = ", ".join(new.get(column, column) for column in columns)
    statement = f"{how} INTO judgments_judgment ({', '.join(columns)}) SELECT {values} FROM judgments_judgment"
    for trusted in ("ON", "OFF"):
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA recursive_triggers = {trusted}")
        with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
            cursor.execute(statement)
    assert rows_of("judgment") == before


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the triggers of SQLite name what is unique")
@pytest.mark.parametrize("table", sorted(EVENTS))
def test_the_triggers_know_all_that_is_unique(table: str) -> None:
    """A unique index that a trigger does not know would let INSERT OR REPLACE delete a row."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA index_list(judgments_{table})")
        unique = [(row[1], bool(row[4])) for row in cursor.fetchall() if row[2]]
        from_triggers = set()
        for name, partial in unique:
            cursor.execute(f"PRAGMA index_info({name})")
            from_triggers.add((frozenset(row[2] for row in cursor.fetchall()), partial))
    known = {(frozenset(columns), bool(where)) for columns, where in vanish.UNIQUE[table]}
    assert from_triggers == known | {(frozenset({"uuid"}), False)}


def test_existing_events_can_be_skipped(judgment: Judgment, lead: Any) -> None:
    """``ignore_conflicts`` goes on working, row by row."""
    row = AuditRow.objects.create(verb="a.b", sentence="first", actor=lead)
    again = [AuditRow(uuid=row.uuid, verb="a.b", sentence="again"), AuditRow(verb="a.b", sentence="new")]
    AuditRow.objects.bulk_create(again, ignore_conflicts=True)
    assert [*AuditRow.objects.filter(verb="a.b").order_by("pk").values_list("sentence", flat=True)] == ["first", "new"]


@pytest.fixture
def application_role() -> Iterator[str]:
    """A role with the rights that docs/operating.md gives to the application."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no roles")
    name = f"assay_app_{uuid.uuid4().hex[:8]}"
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    grants = re.search(r"```sql\n(.*?)```", text, re.DOTALL)
    assert grants is not None
    with connection.cursor() as cursor:
        for statement in grants[1].replace("'...'", "'word'").split(";"):
            if statement.strip():
                with transaction.atomic():
                    cursor.execute(re.sub(r"\bassay_app\b", name, statement))
        yield name
        cursor.execute("RESET ROLE")
        cursor.execute(f"DROP OWNED BY {name}")
        cursor.execute(f"DROP ROLE {name}")


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE judgments_auditrow",
        "ALTER TABLE judgments_auditrow DISABLE TRIGGER ALL",
        "DROP TRIGGER judgments_auditrow_never_changes ON judgments_auditrow",
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION assay_events_never_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN END $$",
        "DROP TABLE judgments_auditrow CASCADE",
        "ALTER TABLE judgments_auditrow ADD more text",
        "CREATE TABLE more (id int)",
        "DELETE FROM judgments_auditrow",
        "UPDATE judgments_auditrow SET sentence = 'other'",
    ],
)
def test_the_applications_role_cannot_take_the_triggers_away(application_role: str, lead: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {application_role}")
        AuditRow.objects.create(verb="a.b", sentence="said", actor=lead)
        with pytest.raises(DatabaseError), transaction.atomic():
            cursor.execute(statement)
        assert AuditRow.objects.filter(sentence="said").count() == 1
        assert Judgment.objects.select_for_update().first() is None


def test_our_own_code_cannot_either(judgment: Judgment) -> None:
    judgment.grade = 0
    with pytest.raises(TypeError, match="cannot change"):
        judgment.save()
    with pytest.raises(TypeError, match="supersede"):
        judgment.delete()
    with pytest.raises(TypeError, match="cannot change"):
        Judgment.objects.filter(pk=judgment.pk).update(grade=0)
    with pytest.raises(TypeError, match="supersede"):
        AuditRow.objects.all().delete()
    with pytest.raises(TypeError, match="cannot change"):
        GuidelinesVersion.objects.update(markdown="other")
