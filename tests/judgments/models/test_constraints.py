"""Tests of the database constraints: rows that break an invariant are refused."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from judgments.models import (
    Collection,
    Document,
    Handout,
    ImportedLabel,
    Judge,
    Judgment,
    LabelSource,
    MachineJudgment,
    Membership,
    Pair,
    Query,
    Slot,
)
from judgments.rating import assignment

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=1, documents=2, raters=[rater], ratings_per_pair=2)


def refused(make: Callable[[], Any]) -> bool:
    try:
        with transaction.atomic():
            make()
    except IntegrityError:
        return True
    return False


def judgment(pair: Pair, user: Any, **fields: Any) -> Callable[[], Judgment]:
    values = {"state": "graded", "grade": 1, "client_id": uuid.uuid4(), "document_sha256": ""} | fields
    return lambda: Judgment.objects.create(pair=pair, rater=user, **values)


def test_a_grade_goes_with_graded_and_with_nothing_else(round_: Any, rater: Any) -> None:
    pair = round_.pairs.first()
    assert refused(judgment(pair, rater, grade=None))
    assert refused(judgment(pair, rater, state="later"))
    assert refused(judgment(pair, rater, state="unrated", grade=None))
    assert refused(judgment(pair, rater, state="undone", grade=None))
    assert not refused(judgment(pair, rater))


def test_a_client_id_is_recorded_once_per_rater(round_: Any, rater: Any, rater2: Any) -> None:
    one, two = round_.pairs.all()
    client_id = uuid.uuid4()
    assert not refused(judgment(one, rater, client_id=client_id))
    assert refused(judgment(two, rater, client_id=client_id))
    assert not refused(judgment(two, rater2, client_id=client_id))


def test_one_chain_of_events_per_rater_and_pair(round_: Any, rater: Any) -> None:
    pair = round_.pairs.first()
    first = judgment(pair, rater)()
    assert refused(judgment(pair, rater))
    assert not refused(judgment(pair, rater, supersedes=first))
    assert refused(judgment(pair, rater, supersedes=first))


def test_a_rater_has_one_slot_of_a_pair(round_: Any, rater: Any) -> None:
    one, two = round_.pairs.first().slots.all()
    Slot.objects.filter(pk=one.pk).update(rater=rater)
    assert refused(lambda: Slot.objects.filter(pk=two.pk).update(rater=rater))


def test_a_filled_slot_has_a_rater_and_a_lease_too(round_: Any, rater: Any) -> None:
    pair = round_.pairs.first()
    given = judgment(pair, rater)()
    assert refused(lambda: Slot.objects.filter(pair=pair, number=1).update(filled_by=given))
    assert refused(lambda: Slot.objects.filter(pair=pair, number=1).update(lease_until=round_.opened_at))


def test_a_pair_is_unique_in_a_round_and_per_rater(round_: Any, rater: Any) -> None:
    pair = round_.pairs.first()
    assignment.claim_batch(round_, rater=rater, size=2)
    again = {"query": pair.query, "document": pair.document, "position": 99, "ratings_wanted": 1}
    assert refused(lambda: Pair.objects.create(round=round_, **again))
    assert refused(lambda: Handout.objects.create(pair=pair, rater=rater))


def test_ids_are_unique_in_a_collection_and_free_between_collections(collection: Any) -> None:
    other = Collection.objects.create(slug="other", name="Other")
    Query.objects.create(collection=collection, query_id="q1", text="tent")
    Document.objects.create(collection=collection, doc_id="d1", content_sha256="")
    assert refused(lambda: Query.objects.create(collection=collection, query_id="q1", text="rope"))
    assert refused(lambda: Document.objects.create(collection=collection, doc_id="d1", content_sha256=""))
    assert not refused(lambda: Query.objects.create(collection=other, query_id="q1", text="rope"))


@pytest.mark.parametrize(
    "fields",
    [{"text": ""}, {"query_id": ""}, {"tier": "band"}, {"probability": 0.0}, {"probability": 1.1}, {"weight": -1.0}],
)
def test_a_query_makes_sense(collection: Any, fields: dict[str, Any]) -> None:
    values = {"query_id": "q1", "text": "tent"} | fields
    assert refused(lambda: Query.objects.create(collection=collection, **values))


def test_roles_are_known_and_one_a_member(collection: Any, outsider: Any, lead: Any) -> None:
    assert refused(lambda: Membership.objects.create(collection=collection, user=outsider, role="owner"))
    assert refused(lambda: Membership.objects.create(collection=collection, user=lead, role="rater"))


def test_a_machines_failure_has_no_grade(round_: Any, collection: Any) -> None:
    judge = Judge.objects.create(collection=collection, name="overlap", kind="token_overlap")
    pair = round_.pairs.first()
    assert refused(lambda: MachineJudgment.objects.create(judge=judge, pair=pair, outcome="refused", grade=0))
    assert refused(lambda: MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded"))
    assert refused(lambda: MachineJudgment.objects.create(judge=judge, pair=pair, outcome="guessed", grade=0))
    assert refused(lambda: MachineJudgment.objects.create(judge=judge, pair=pair, outcome="undecided", grade=0))


def test_a_machine_tells_a_grade_or_usefulness_and_never_both(round_: Any, collection: Any) -> None:
    pair = round_.pairs.first()
    judge = Judge.objects.create(collection=collection, name="machine", kind="downstream")
    fields = {"judge": judge, "pair": pair, "outcome": "graded"}
    assert refused(lambda: MachineJudgment.objects.create(**fields, grade=1, usefulness=0.5))
    assert refused(lambda: MachineJudgment.objects.create(**fields, usefulness=1.5))
    assert refused(lambda: MachineJudgment.objects.create(**fields | {"outcome": "refused"}, usefulness=0.5))
    assert str(MachineJudgment.objects.create(**fields, usefulness=0.5)) == "graded 0.5"


def test_an_imported_label_is_unique_in_its_source(round_: Any, collection: Any) -> None:
    source = LabelSource.objects.create(collection=collection, name="old qrels", sha256="a" * 64)
    pair = round_.pairs.first()
    keys = {"source": source, "query": pair.query, "document": pair.document}
    ImportedLabel.objects.create(**keys, value=2)
    assert refused(lambda: ImportedLabel.objects.create(**keys, value=3))


def test_ids_sort_as_bytes_on_every_database(collection: Any) -> None:
    ids = ["Z", "a", "9", "10", "é", "a b", "_"]
    for doc_id in ids:
        Document.objects.create(collection=collection, doc_id=doc_id, content_sha256="")
    listed = list(collection.documents.order_by("doc_id").values_list("doc_id", flat=True))
    assert listed == sorted(ids, key=str.encode)
