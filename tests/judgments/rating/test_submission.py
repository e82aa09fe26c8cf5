"""Tests of submission: every judgment is recorded once, superseded, undone or counted as surplus."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from assay.core.errors import Closed, Conflict, NotFound, NotValid
from judgments.models import Judgment, Slot
from judgments.rating import assignment, submission
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, rater2: Any) -> Any:
    return make_round(queries=1, documents=2, raters=[rater, rater2], ratings_per_pair=1)


@pytest.fixture
def pair(round_: Any, rater: Any) -> Any:
    return assignment.claim_batch(round_, rater=rater, size=1)[0]


def test_an_answer_fills_its_slot(round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]) -> None:
    receipt = answer(round_, rater, pair, 3)
    assert receipt.new
    assert pair.slots.get().filled_by == receipt.judgment
    assert receipt.judgment.document_sha256 == pair.document.content_sha256


def test_the_same_client_id_is_recorded_once(round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]) -> None:
    client_id = uuid.uuid4()
    first = answer(round_, rater, pair, 3, client_id=client_id)
    second = answer(round_, rater, pair, 3, client_id=client_id)
    assert (first.new, second.new) == (True, False)
    assert Judgment.objects.count() == 1


def test_a_client_id_belongs_to_one_pair(round_: Any, rater: Any, answer: Callable[..., Any]) -> None:
    one, two = assignment.claim_batch(round_, rater=rater, size=2)
    client_id = uuid.uuid4()
    answer(round_, rater, one, 3, client_id=client_id)
    with pytest.raises(Conflict, match="another pair"):
        answer(round_, rater, two, 3, client_id=client_id)


def test_a_change_of_mind_supersedes(round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]) -> None:
    first = answer(round_, rater, pair, 3).judgment
    second = answer(round_, rater, pair, 1).judgment
    assert second.supersedes == first
    assert list(Judgment.objects.current()) == [second]
    assert Judgment.objects.count() == 2


@pytest.mark.parametrize("fields", [{"grade": 3}, {"grade": None, "state": "unrateable"}])
def test_saving_an_open_pair_supersedes_no_answer(
    round_: Any, pair: Any, rater: Any, answer: Callable[..., Any], fields: dict[str, Any]
) -> None:
    stands = answer(round_, rater, pair, **fields).judgment
    put_off = answer(round_, rater, pair, None, state="later", if_open=True)
    assert (put_off.new, put_off.judgment) == (False, stands)
    assert pair.slots.get().filled_by == stands
    submission.undo(round_, stands.client_id, rater=rater)
    assert answer(round_, rater, pair, None, state="later", if_open=True).new
    # One who says so of a pair that they look at means it.
    answer(round_, rater, pair, 1)
    assert answer(round_, rater, pair, None, state="later").new
    assert list(Judgment.objects.current().values_list("state", flat=True)) == ["later"]


def test_undo_is_an_event_and_returns_the_pair(round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]) -> None:
    judgment = answer(round_, rater, pair, 3).judgment
    event = submission.undo(round_, judgment.client_id, rater=rater)
    assert submission.undo(round_, judgment.client_id, rater=rater) == event
    assert not Judgment.objects.current().exists()
    assert Judgment.objects.count() == 2
    assert pair in assignment.claim_batch(round_, rater=rater, size=2)
    answer(round_, rater, pair, 2)
    assert Judgment.objects.counted().get().grade == 2


def test_only_the_newest_answer_can_be_undone(round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]) -> None:
    first = answer(round_, rater, pair, 3).judgment
    answer(round_, rater, pair, 1)
    with pytest.raises(Conflict, match="newer"):
        submission.undo(round_, first.client_id, rater=rater)


def test_raters_cannot_undo_answers_of_others(
    round_: Any, pair: Any, rater: Any, rater2: Any, answer: Callable[..., Any]
) -> None:
    judgment = answer(round_, rater, pair, 3).judgment
    with pytest.raises(NotFound):
        submission.undo(round_, judgment.client_id, rater=rater2)


def lose_lease(rater: Any) -> None:
    Slot.objects.filter(rater=rater).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_an_answer_after_the_lease_ran_out_counts_while_there_is_room(
    round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]
) -> None:
    lose_lease(rater)
    assert not answer(round_, rater, pair, 3).judgment.surplus


def test_an_answer_for_a_full_pair_is_stored_as_surplus(
    round_: Any, pair: Any, rater: Any, rater2: Any, answer: Callable[..., Any]
) -> None:
    lose_lease(rater)
    assignment.claim_batch(round_, rater=rater2, size=2)
    answer(round_, rater2, pair, 0)
    late = answer(round_, rater, pair, 3).judgment
    assert late.surplus
    assert Judgment.objects.counted().get(pair=pair).grade == 0


def test_a_pair_that_was_never_leased_is_refused(
    round_: Any, pair: Any, rater2: Any, answer: Callable[..., Any]
) -> None:
    with pytest.raises(Conflict, match="never leased"):
        answer(round_, rater2, pair, 3)
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("grade", [4, -1, None])
def test_a_grade_off_the_scale_is_refused_and_named(
    round_: Any, pair: Any, rater: Any, answer: Callable[..., Any], grade: int | None
) -> None:
    with pytest.raises(NotValid) as refused:
        answer(round_, rater, pair, grade)
    assert refused.value.fields == {"grade": "Use one of 0, 1, 2, 3."}
    assert not Judgment.objects.exists()


def test_unrateable_fills_the_slot_and_has_no_grade(
    round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]
) -> None:
    answer(round_, rater, pair, None, state="unrateable", reason="document broken")
    assert pair.slots.get().filled_by.reason == "document broken"
    assert not Judgment.objects.counted().exists()


def test_an_unknown_state_is_refused(round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]) -> None:
    with pytest.raises(NotValid, match="Unknown state"):
        answer(round_, rater, pair, None, state="undone")


def test_a_closed_round_refuses_new_answers_and_repeats_stored_ones(
    round_: Any, pair: Any, rater: Any, lead: Any, answer: Callable[..., Any]
) -> None:
    client_id = uuid.uuid4()
    answer(round_, rater, pair, 3, client_id=client_id)
    closed = rounds.close_round(round_, actor=lead)
    assert not answer(closed, rater, pair, 3, client_id=client_id).new
    with pytest.raises(Closed):
        answer(closed, rater, pair, 1)


@pytest.mark.django_db(transaction=True)
def test_two_undos_at_once_are_one(round_: Any, pair: Any, rater: Any, answer: Callable[..., Any]) -> None:
    client_id = answer(round_, rater, pair, 3).judgment.client_id
    together = threading.Barrier(2)
    events: list[int] = []

    def take_back() -> None:
        try:
            together.wait()
            events.append(submission.undo(round_, client_id, rater=rater).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=take_back) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(events) == 2
    assert len(set(events)) == 1
    assert Judgment.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_answers_of_one_moment_share_a_transaction_and_nothing_else(
    make_round: Callable[..., Any], rater: Any, rater2: Any, rater3: Any
) -> None:
    round_ = make_round(queries=1, documents=4, raters=[rater, rater2, rater3], ratings_per_pair=2)
    one, two, *_ = assignment.claim_batch(round_, rater=rater, size=4)
    other = assignment.claim_batch(round_, rater=rater2, size=4)[0]
    stands = submission.submit(round_, submission.Answer(uuid.uuid4(), two.uuid, 1), rater=rater).judgment.client_id
    results = {
        "counts": (rater, submission.Answer(uuid.uuid4(), one.uuid, 3)),
        "never leased": (rater3, submission.Answer(uuid.uuid4(), one.uuid, 3)),
        # Only the database notices it, and it breaks what the others have in common with it.
        "another pair": (rater, submission.Answer(stands, one.uuid, 2)),
        "not a grade": (rater2, submission.Answer(uuid.uuid4(), other.uuid, 7)),
        "counts too": (rater2, submission.Answer(uuid.uuid4(), other.uuid, 0)),
    }
    heard: dict[str, Any] = {}

    def send(name: str, who: Any, answer: submission.Answer) -> None:
        try:
            heard[name] = submission.submit_all(round_, [answer], rater=who)[0]
        finally:
            connection.close()

    def start(name: str) -> threading.Thread:
        thread = threading.Thread(target=send, args=(name, *results[name]))
        thread.start()
        return thread

    with transaction.atomic():  # whoever comes first waits for this one, and the others come meanwhile
        list(submission.locked_pairs().filter(round=round_))
        threads = [start(name) for name in results]
        wait_for(lambda: len(submission.together.lines.get(round_.pk, [])) == len(results) - 1)
    for thread in threads:
        thread.join()
    for words in ("never leased", "another pair", "not a grade"):
        assert words in str(heard.pop(words))
    assert all(receipt.new and not receipt.judgment.surplus for receipt in heard.values())
    assert Judgment.objects.count() == 1 + len(heard)
    counters = {tally.rater_id: (tally.graded, tally.filled, tally.reached) for tally in round_.tallies.all()}
    assert counters == {rater.pk: (2, 2, one.position), rater2.pk: (1, 1, other.position)}


def wait_for(what: Callable[[], bool]) -> None:
    """Until it is so, for a minute at most."""
    for _ in range(6_000):
        if what():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never was")
