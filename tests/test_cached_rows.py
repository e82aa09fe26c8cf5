"""Tests of the cache of collections."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.db import transaction

from judgments.models import Collection, Judgment, Membership, Query, User
from judgments.snapshots import snapshots
from tests import cached_rows
from tests.world import World, make_world

pytestmark = pytest.mark.django_db


def facts(world: World) -> Any:
    """How many rows of each kind but people there are, what was frozen, and who gave which grade how long before."""
    models = [model for model in apps.get_models(include_auto_created=True) if model is not User]
    rows = {model.__name__: model._base_manager.count() for model in models}
    grades = [
        (one.rater.username, one.pair.document.doc_id, one.grade, world.snapshot.created_at - one.created_at)
        for one in Judgment.objects.order_by("pk").select_related("rater", "pair__document")
    ]
    return rows, snapshots.export(world.snapshot, "trec-qrels"), grades


def test_it_is(monkeypatch: pytest.MonkeyPatch, collection: Any, lead: Any, engineer: Any, make_user: Any) -> None:
    monkeypatch.setattr(cached_rows, "_CACHE", {})
    written = []
    for _ in range(2):
        with transaction.atomic():
            cast = {name: make_user(name) for name in ("rater", "rater2")}
            for user in cast.values():
                Membership.objects.create(collection=collection, user=user, role="rater")
            written.append(facts(make_world(collection, lead=lead, engineer=engineer, **cast)))
            transaction.set_rollback(True)
        make_user(f"so that keys differ {len(written)}")
    assert len(cached_rows._CACHE) == 1
    assert written[0] == written[1]


def test_a_changed_collection_is_changed_again(monkeypatch: pytest.MonkeyPatch, collection: Any) -> None:
    monkeypatch.setattr(cached_rows, "_CACHE", {})

    @cached_rows.cached_fixture
    def named(collection: Collection) -> tuple[Collection, Query]:
        Collection.objects.filter(pk=collection.pk).update(name="Tarps")
        return collection, Query.objects.create(collection=collection, query_id="q1", text="tarp")

    for _ in range(2):
        with transaction.atomic():
            _, query = named(collection=collection)
            assert Collection.objects.get().name == "Tarps"
            assert Query.objects.get() == query
            transaction.set_rollback(True)
    assert len(cached_rows._CACHE) == 1
    assert Collection.objects.get().name == "Shop search"
