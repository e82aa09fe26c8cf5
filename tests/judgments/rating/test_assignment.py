"""Tests of assignment: order of pairs, leases, ratings per pair, concurrent raters never share a slot."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from assay.core.errors import Closed, NotAllowed
from judgments.models import Judgment, Slot
from judgments.rating import assignment, submission
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db


def test_a_batch_holds_one_query_before_the_next(make_round: Callable[..., Any], rater: Any) -> None:
    round_ = make_round(queries=3, documents=4, raters=[rater], ratings_per_pair=1)
    batch = assignment.claim_batch(round_, rater=rater, size=12)
    assert [pair.query.query_id for pair in batch] == ["q1"] * 4 + ["q2"] * 4 + ["q3"] * 4


def test_the_order_within_a_query_is_the_raters_own_and_repeats(
    make_round: Callable[..., Any], rater: Any, rater2: Any
) -> None:
    round_ = make_round(queries=1, documents=12, raters=[rater, rater2])
    first = [pair.pk for pair in assignment.claim_batch(round_, rater=rater, size=12)]
    other = [pair.pk for pair in assignment.claim_batch(round_, rater=rater2, size=12)]
    again = [pair.pk for pair in assignment.claim_batch(round_, rater=rater, size=12)]
    assert first == again
    assert sorted(first) == sorted(other)
    assert first != other
    assert first != sorted(first)


def test_the_order_depends_only_on_seed_and_pseudonym(make_round: Callable[..., Any], rater: Any, rater2: Any) -> None:
    """Two people with other keys, each r01 of a round of one seed."""
    orders = []
    for user in (rater, rater2):
        round_ = make_round(queries=1, documents=12, raters=[user], name=f"Round of {user}")
        batch = assignment.claim_batch(round_, rater=user, size=12)
        orders.append([pair.position for pair in batch])
    assert orders[0] == orders[1] != sorted(orders[0])


def test_asking_again_gives_what_is_in_hand(make_round: Callable[..., Any], rater: Any) -> None:
    round_ = make_round(raters=[rater], ratings_per_pair=1)
    first = assignment.claim_batch(round_, rater=rater, size=2)
    assert assignment.claim_batch(round_, rater=rater, size=2) == first


def test_k_ratings_means_k_raters(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, rater2: Any, rater3: Any
) -> None:
    round_ = make_round(queries=2, documents=3, raters=[rater, rater2, rater3], ratings_per_pair=2)
    counts = [rate_all(round_, user) for user in (rater, rater2, rater3)]
    assert counts == [6, 6, 0]
    assert Counter(Judgment.objects.values_list("pair_id", flat=True)).most_common(1)[0][1] == 2


def test_a_lease_that_runs_out_returns_the_pair(make_round: Callable[..., Any], rater: Any, rater2: Any) -> None:
    round_ = make_round(queries=1, documents=2, raters=[rater, rater2], ratings_per_pair=1)
    held = assignment.claim_batch(round_, rater=rater, size=2)
    assert assignment.claim_batch(round_, rater=rater2, size=2) == []
    Slot.objects.filter(rater=rater).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert set(assignment.claim_batch(round_, rater=rater2, size=2)) == set(held)


def test_skipped_pairs_come_last(make_round: Callable[..., Any], answer: Callable[..., Any], rater: Any) -> None:
    round_ = make_round(queries=2, documents=2, raters=[rater], ratings_per_pair=1)
    (first,) = assignment.claim_batch(round_, rater=rater, size=1)
    answer(round_, rater, first, None, state="later")
    order = []
    while batch := assignment.claim_batch(round_, rater=rater, size=1):
        order.append(batch[0].pk)
        answer(round_, rater, batch[0], 1)
    assert len(order) == 4
    assert order[-1] == first.pk


def test_overlap_gives_k_ratings_to_a_share_of_the_pairs(make_round: Callable[..., Any], rater: Any) -> None:
    round_ = make_round(queries=5, documents=10, raters=[rater], ratings_per_pair=3, overlap=0.2)
    wanted = Counter(round_.pairs.values_list("ratings_wanted", flat=True))
    assert wanted == {3: 10, 1: 40}


def test_remaining_counts_what_is_open_to_the_rater(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, rater2: Any
) -> None:
    round_ = make_round(queries=2, documents=3, raters=[rater, rater2], ratings_per_pair=1)
    assert assignment.remaining(round_, rater) == 6
    rate_all(round_, rater2)
    assert assignment.remaining(round_, rater) == 0


def test_a_member_outside_the_round_gets_no_pairs(make_round: Callable[..., Any], rater: Any, rater2: Any) -> None:
    round_ = make_round(raters=[rater])
    with pytest.raises(NotAllowed):
        assignment.claim_batch(round_, rater=rater2)


def test_a_draft_and_a_closed_round_hand_out_nothing(make_round: Callable[..., Any], rater: Any, lead: Any) -> None:
    draft = make_round(raters=[rater], opened=False)
    with pytest.raises(Closed, match="not been opened"):
        assignment.claim_batch(draft, rater=rater)
    closed = rounds.close_round(rounds.open_round(draft, actor=lead), actor=lead)
    with pytest.raises(Closed, match="closed"):
        assignment.claim_batch(closed, rater=rater)


def test_a_rater_with_a_late_answer_does_not_get_the_pair_again(
    make_round: Callable[..., Any], rater: Any, rater2: Any, answer: Callable[..., Any]
) -> None:
    round_ = make_round(queries=1, documents=1, raters=[rater, rater2], ratings_per_pair=1)
    (pair,) = assignment.claim_batch(round_, rater=rater)
    Slot.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assignment.claim_batch(round_, rater=rater2)
    counted = answer(round_, rater2, pair, 2).judgment
    assert answer(round_, rater, pair, 1).judgment.surplus
    submission.undo(round_, counted.client_id, rater=rater2)
    Slot.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert assignment.claim_batch(round_, rater=rater) == []
    assert assignment.remaining(round_, rater) == 0


@pytest.mark.django_db(transaction=True)
def test_racing_raters_never_share_a_slot(
    make_round: Callable[..., Any], make_user: Callable[..., Any], collection: Any, lead: Any
) -> None:
    from judgments.models import Membership

    raters = [make_user(f"racer{number}") for number in range(8)]
    Membership.objects.bulk_create(Membership(collection=collection, user=user, role="rater") for user in raters)
    round_ = make_round(queries=2, documents=10, raters=raters, ratings_per_pair=2)
    got: dict[int, list[int]] = {}
    start = threading.Barrier(len(raters))

    def claim(user: Any) -> None:
        try:
            start.wait()
            got[user.pk] = [pair.pk for pair in assignment.claim_batch(round_, rater=user, size=10)]
        finally:
            connection.close()

    threads = [threading.Thread(target=claim, args=(user,)) for user in raters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    handed = Counter(pair for pairs in got.values() for pair in pairs)
    assert len(got) == len(raters)
    assert sum(handed.values()) == 40
    assert set(handed.values()) == {2}
    assert all(len(set(pairs)) == len(pairs) for pairs in got.values())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("left", [1, 2])
def test_leased_pairs_are_assigned_only_when_no_others_are_left(
    make_round: Callable[..., Any], rater: Any, left: int
) -> None:
    round_ = make_round(queries=1, documents=left, raters=[rater], ratings_per_pair=1)
    busy = Slot.objects.order_by("pk")[0]
    got: list[int] = []

    def claim() -> None:
        try:
            got.extend(pair.pk for pair in assignment.claim_batch(round_, rater=rater, size=1))
        finally:
            connection.close()

    thread = threading.Thread(target=claim)
    passes_over = left > 1 and connection.vendor == "postgresql"  # SQLite locks as a whole
    with transaction.atomic():
        Slot.objects.select_for_update().get(pk=busy.pk)
        thread.start()
        thread.join(10 if passes_over else 0.2)
        assert thread.is_alive() != passes_over
    thread.join(10)
    assert len(got) == 1
    assert not passes_over or got != [busy.pair_id]
