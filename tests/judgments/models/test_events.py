"""Does the database itself refuse to change what happened?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction

from judgments import assignment
from judgments.models import AuditRow, GuidelinesVersion, Judgment, Slot
from judgments.models.fields import EventModel

pytestmark = pytest.mark.django_db
events = import_module("judgments.migrations.0002_events_never_change")


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
            expected = 1
        else:
            cursor.execute(
                "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [f"judgments_{table}"]
            )
            expected = 2
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


def test_our_own_code_cannot_either(judgment: Judgment) -> None:
    judgment.grade = 0
    with pytest.raises(TypeError, match="never change one"):
        judgment.save()
    with pytest.raises(TypeError, match="supersede one"):
        judgment.delete()
    with pytest.raises(TypeError, match="never change one"):
        Judgment.objects.filter(pk=judgment.pk).update(grade=0)
    with pytest.raises(TypeError, match="supersede one"):
        AuditRow.objects.all().delete()
    with pytest.raises(TypeError, match="never change one"):
        GuidelinesVersion.objects.update(markdown="other")
