"""Tests of the ``among`` lookup: same rows as ``in`` on SQLite and PostgreSQL."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judgments.models import Pair, Slot


@pytest.fixture
def open_round(make_round, rater, rater2):
    return make_round(raters=[rater, rater2], queries=3, documents=3)


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_it_finds_what_in_finds(open_round, size):
    keys = [*open_round.pairs.values_list("pk", flat=True)[:size], 10**12]
    assert set(Pair.objects.filter(pk__among=keys)) == set(Pair.objects.filter(pk__in=keys))
    assert len(Pair.objects.filter(pk__among=keys)) == size
    assert set(Slot.objects.filter(pair__pk__among=keys)) == set(Slot.objects.filter(pair__in=keys))
    assert set(Pair.objects.exclude(pk__among=keys)) == set(Pair.objects.exclude(pk__in=keys))


def test_no_key_finds_nothing(open_round):
    assert not Pair.objects.filter(pk__among=[]).exists()
    assert Pair.objects.exclude(pk__among=[]).count() == open_round.pairs.count()


def test_sets_and_dictionaries_are_keys_too(open_round):
    keys = dict.fromkeys(open_round.pairs.values_list("pk", flat=True)[:3])
    assert Pair.objects.filter(pk__among=keys).count() == 3
    assert Pair.objects.filter(pk__among=set(keys)).count() == 3


def test_words_are_keys_too(open_round):
    names = [*open_round.pairs.values_list("document__doc_id", flat=True)[:2]]
    pairs = Pair.objects.filter(document__doc_id__among=[*names, "no such"])
    assert {*pairs.values_list("document__doc_id", flat=True)} == {*names}


def test_public_ids_are_keys_too(open_round):
    pairs = [*open_round.pairs.all()[:2]]
    assert {*Pair.objects.filter(uuid__among=[pair.uuid for pair in pairs])} == {*pairs}


def test_postgresql_reads_one_text_however_many_keys_there_are(open_round):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no arrays")
    keys = [*open_round.pairs.values_list("pk", flat=True)]
    statements = [str(Slot.objects.filter(pair__pk__among=keys[:size]).query.sql_with_params()[0]) for size in (1, 5)]
    assert statements[0] == statements[1]
    assert "JOIN" not in statements[0]
    with CaptureQueriesContext(connection) as done:
        list(Slot.objects.filter(pair__pk__among=keys[:5]))
    assert "= ANY(" in done[0]["sql"]
