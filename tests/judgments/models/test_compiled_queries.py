"""Tests of compiled queries: same rows as the query sets they were made from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from judgments.models import Pair, Round, Slot, User
from judgments.models.fields import Compiled, Given
from judgments.rating import assignment

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round: Any, rater: User) -> Round:
    made: Round = make_round(raters=[rater])
    return made


def compiled(build: Any, **values: Any) -> tuple[list[Any], list[Any]]:
    """What a compiled question says, asked twice for other values first, and what the query set says."""
    question = Compiled(lambda: build(**{name: Given(name) for name in values}))
    for _ in range(2):
        rows = question(**values)
    expected: QuerySet[Any, Any] = build(**values)
    return rows, list(expected)


def test_keys_times_and_slices(open_round: Round, rater: User) -> None:
    assignment.claim_batch(open_round, rater=rater, size=3)
    soon = timezone.now() + timedelta(minutes=1)

    def build(round_: Any, now: Any) -> QuerySet[Any, Any]:
        slots = Slot.objects.filter(round=round_, lease_until__gt=now).order_by("pk")
        return slots.values_list("pk", "rater", "lease_until")[:2]

    rows, expected = compiled(build, round_=open_round.pk, now=soon)
    assert rows == expected
    assert len(rows) == 2
    assert compiled(build, round_=open_round.pk, now=soon + timedelta(days=1)) == ([], [])


@pytest.mark.parametrize("kind", [list, set])
def test_any_number_of_keys(open_round: Round, kind: type) -> None:
    uuids = [pair.uuid for pair in open_round.pairs.all()]
    question = Compiled(lambda: Pair.objects.filter(uuid__among=Given("uuids")).order_by("pk"))
    for number in (0, 1, len(uuids)):
        rows = question(uuids=kind(uuids[:number]))
        assert sorted(pair.uuid for pair in rows) == sorted(uuids[:number])


def test_instances_come_with_what_is_related(open_round: Round, django_assert_num_queries: Any) -> None:
    question = Compiled(lambda: Pair.objects.select_related("query", "document").filter(round=Given("round")))
    question(round=0)
    with django_assert_num_queries(1):
        rows = question(round=open_round.pk)
        texts = {pair.pk: (pair.query.text, pair.document.title, pair.origin) for pair in rows}
    expected = Pair.objects.filter(round=open_round)
    assert texts == {pair.pk: (pair.query.text, pair.document.title, pair.origin) for pair in expected}


def test_one_value_may_be_used_several_times(open_round: Round) -> None:
    first, *_ = open_round.pairs.order_by("pk")
    question = Compiled(
        lambda: Pair.objects.filter(round=Given("round"), position=Given("place"), pk=Given("place")).values_list("pk")
    )
    at_place = Pair.objects.filter(round=open_round, position=first.pk, pk=first.pk).values_list("pk")
    assert question(round=open_round.pk, place=first.pk) == list(at_place)
