"""Tests of recorded changes: permanent record, withdrawal, validation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from judgments import declarations
from judgments.collections import update_collection
from judgments.core.errors import Conflict, NotValid
from judgments.models import AuditRow, Declaration

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 11, 3, tzinfo=UTC)


def test_declared_stands_until_it_is_taken_back_and_both_stay_on_record(collection, lead):
    first = declarations.declare(collection, kind="schema", happened_at=DAY, note=" new\n analyzer ", actor=lead)
    assert (first.note, list(declarations.standing(collection, "schema"))) == ("new analyzer", [first])
    declarations.withdraw(first, actor=lead)
    assert not declarations.standing(collection).exists()
    assert Declaration.objects.count() == 2
    with pytest.raises(Conflict):
        declarations.withdraw(first, actor=lead)
    verbs = AuditRow.objects.filter(verb__startswith="declarations.").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["declarations.declare", "declarations.withdraw"]


def test_the_date_of_the_embeddings_is_the_newest_declaration(collection, lead):
    older = declarations.declare(collection, kind="embedding", happened_at=DAY, actor=lead)
    newer = declarations.declare(collection, kind="embedding", happened_at=DAY + timedelta(days=2), actor=lead)
    collection.refresh_from_db()
    assert collection.embedding_changed_at == newer.happened_at
    declarations.withdraw(newer, actor=lead)
    collection.refresh_from_db()
    assert collection.embedding_changed_at == older.happened_at


def test_the_settings_write_the_same_history(collection, lead):
    update_collection(collection, actor=lead, embedding_changed_at=DAY)
    update_collection(collection, actor=lead, embedding_changed_at=DAY - timedelta(days=1), name="Site")
    (row,) = declarations.standing(collection, "embedding")
    assert (row.happened_at, row.created_by) == (DAY - timedelta(days=1), lead)
    update_collection(collection, actor=lead, embedding_changed_at=None)
    collection.refresh_from_db()
    assert (collection.name, collection.embedding_changed_at) == ("Site", None)
    assert Declaration.objects.filter(collection=collection).count() == 4


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"kind": "weather"}, "kind"),
        ({"kind": "schema", "happened_at": timezone.now() + timedelta(days=3)}, "happened_at"),
        ({"kind": "schema", "note": "x" * 301}, "note"),
        ({"kind": "category"}, "note"),
    ],
)
def test_what_makes_no_sense_is_told_by_field(collection, lead, told, field):
    with pytest.raises(NotValid) as caught:
        declarations.declare(collection, actor=lead, **told)
    assert field in caught.value.fields
    assert not Declaration.objects.exists()


def test_no_client_of_the_database_can_change_one(collection, lead):
    declarations.declare(collection, kind="schema", actor=lead)
    for statement in ("UPDATE judgments_declaration SET note = 'x'", "DELETE FROM judgments_declaration"):
        with pytest.raises(DatabaseError, match="never change"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_fields_are_the_usual_ones_until_a_lead_chooses(collection, lead):
    assert declarations.fields_of(collection) == {"category": "category", "language": "language"}
    declarations.declare(collection, kind="fields", data={"category": "type"}, actor=lead)
    assert declarations.fields_of(collection) == {"category": "type", "language": "language"}
