"""Tests of recorded changes: permanent record, withdrawal, validation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from assay.core.errors import Conflict, NotValid
from judgments.members import recorded_changes
from judgments.members.collections import update_collection
from judgments.models import AuditRow, Declaration

pytestmark = pytest.mark.django_db
DAY = datetime(2026, 11, 3, tzinfo=UTC)


def test_a_recorded_change_holds_until_withdrawn_and_both_are_audited(collection, lead):
    first = recorded_changes.declare(collection, kind="schema", happened_at=DAY, note=" new\n analyzer ", actor=lead)
    assert (first.note, list(recorded_changes.standing(collection, "schema"))) == ("new analyzer", [first])
    recorded_changes.withdraw(first, actor=lead)
    assert not recorded_changes.standing(collection).exists()
    assert Declaration.objects.count() == 2
    with pytest.raises(Conflict):
        recorded_changes.withdraw(first, actor=lead)
    verbs = AuditRow.objects.filter(verb__startswith="declarations.").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["declarations.declare", "declarations.withdraw"]


def test_the_date_of_the_embeddings_is_the_newest_declaration(collection, lead):
    older = recorded_changes.declare(collection, kind="embedding", happened_at=DAY, actor=lead)
    newer = recorded_changes.declare(collection, kind="embedding", happened_at=DAY + timedelta(days=2), actor=lead)
    collection.refresh_from_db()
    assert collection.embedding_changed_at == newer.happened_at
    recorded_changes.withdraw(newer, actor=lead)
    collection.refresh_from_db()
    assert collection.embedding_changed_at == older.happened_at


def test_the_settings_write_the_same_history(collection, lead):
    update_collection(collection, actor=lead, embedding_changed_at=DAY)
    update_collection(collection, actor=lead, embedding_changed_at=DAY - timedelta(days=1), name="Site")
    (row,) = recorded_changes.standing(collection, "embedding")
    assert (row.happened_at, row.created_by) == (DAY - timedelta(days=1), lead)
    update_collection(collection, actor=lead, embedding_changed_at=None)
    collection.refresh_from_db()
    assert (collection.name, collection.embedding_changed_at) == ("Site", None)
    assert Declaration.objects.filter(collection=collection).count() == 4


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "weather"}, "kind"),
        ({"kind": "schema", "happened_at": timezone.now() + timedelta(days=3)}, "happened_at"),
        ({"kind": "schema", "note": "x" * 301}, "note"),
        ({"kind": "category"}, "note"),
    ],
)
def test_invalid_changes_are_refused_by_field(collection, lead, change, field):
    with pytest.raises(NotValid) as caught:
        recorded_changes.declare(collection, actor=lead, **change)
    assert field in caught.value.fields
    assert not Declaration.objects.exists()


def test_no_client_of_the_database_can_change_one(collection, lead):
    recorded_changes.declare(collection, kind="schema", actor=lead)
    for statement in ("UPDATE judgments_declaration SET note = 'x'", "DELETE FROM judgments_declaration"):
        with pytest.raises(DatabaseError, match="never change"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_fields_are_the_usual_ones_until_a_lead_chooses(collection, lead):
    assert recorded_changes.fields_of(collection) == {"category": "category", "language": "language"}
    recorded_changes.declare(collection, kind="fields", data={"category": "type"}, actor=lead)
    assert recorded_changes.fields_of(collection) == {"category": "type", "language": "language"}
