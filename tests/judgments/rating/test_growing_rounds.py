"""Tests of growing rounds: pairs added while open, overlap share, limits, triggered pair selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from assay.core.errors import Closed, Conflict, NotValid
from judgments import hooks
from judgments.jobs import jobs
from judgments.models import AuditRow, Document, Job, Round, Slot
from judgments.rating import assignment
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db


def more(round_: Round, query: str, *names: str) -> list[rounds.Candidate]:
    """Further documents for a query of the round."""
    collection = round_.collection
    row = collection.queries.get(query_id=query)
    documents = [Document.objects.get_or_create(collection=collection, doc_id=name)[0] for name in names]
    return [rounds.Candidate(row, document, {"strategy": "thompson", "step": 7}) for document in documents]


def test_pairs_are_put_behind_those_that_are_there_each_once(make_round: Any, rater: Any) -> None:
    round_ = make_round(raters=[rater], most_pairs=9)
    candidates = [*more(round_, "q2", "n1"), *more(round_, "q1", "d1-1", "n2"), *more(round_, "q2", "n3")]
    assert rounds.append_pairs(round_, candidates=candidates) == 3
    added = list(round_.pairs.filter(position__gte=6).values_list("query__query_id", "document__doc_id", "position"))
    assert added == [("q2", "n1", 6), ("q2", "n3", 7), ("q1", "n2", 8)]
    assert Slot.objects.filter(pair__position__gte=6).count() == 3 * round_.ratings_per_pair
    assert AuditRow.objects.get(verb="rounds.append_pairs").actor is None
    assert rounds.append_pairs(round_, candidates=candidates) == 0


def test_the_share_of_pairs_with_all_ratings_holds_over_all_that_are_appended(make_round: Any, rater: Any) -> None:
    round_ = make_round(queries=1, documents=4, raters=[rater], ratings_per_pair=3, overlap=0.3, most_pairs=40)
    for at in range(18):
        rounds.append_pairs(round_, candidates=more(round_, "q1", f"n{at}-1", f"n{at}-2"))
    assert Counter(round_.pairs.values_list("ratings_wanted", flat=True)) == {3: 12, 1: 28}


def test_no_more_than_was_allowed_and_nothing_after_the_end(make_round: Any, rater: Any, lead: Any) -> None:
    round_ = make_round(raters=[rater], most_pairs=7)
    with pytest.raises(Conflict, match="6 of at most 7"):
        rounds.append_pairs(round_, candidates=more(round_, "q1", "n1", "n2"))
    assert round_.pairs.count() == 6
    rounds.stop_growing(round_, why="the budget is used up", actor=lead)
    with pytest.raises(Conflict, match="fixed"):
        rounds.append_pairs(round_, candidates=more(round_, "q1", "n1"))
    fixed = make_round(name="Fixed", raters=[rater])
    with pytest.raises(Conflict, match="fixed"):
        rounds.append_pairs(fixed, candidates=more(fixed, "q1", "n1"))
    closed = rounds.close_round(make_round(name="Closed", raters=[rater], most_pairs=9), actor=lead)
    assert not closed.growing
    with pytest.raises(Closed):
        rounds.append_pairs(closed, candidates=more(closed, "q1", "n1"))
    with pytest.raises(NotValid, match="already has 6"):
        make_round(name="Full", raters=[rater], most_pairs=6)


def test_remaining_pairs_of_each_rater(make_round: Any, answer: Any, rater: Any, rater2: Any) -> None:
    round_ = make_round(queries=1, documents=6, raters=[rater, rater2], ratings_per_pair=2)
    assert assignment.available_pairs(round_) == {rater.pk: 6, rater2.pk: 6}
    assert (assignment.count_active_raters(round_), assignment.free_slots(round_)) == (0, 12)
    first = assignment.claim_batch(round_, rater=rater, size=4)
    answer(round_, rater, first[0])
    for pair in assignment.claim_batch(round_, rater=rater2, size=6):
        answer(round_, rater2, pair)
    # Two pairs have a free slot and are not in the first rater's hands; the second has answered them all.
    assert assignment.available_pairs(round_) == {rater.pk: 2, rater2.pk: 0}
    assert (assignment.count_active_raters(round_), assignment.free_slots(round_)) == (2, 2)


@pytest.fixture
def woken() -> Iterator[list[str]]:
    """The names of the rounds about which a chooser was told, who then fails."""
    names: list[str] = []

    def wake(round_: Round) -> None:
        names.append(round_.name)
        raise RuntimeError("the chooser is broken")

    hooks.CHOOSERS.register("of a test", hooks.Chooser(wake, lambda round_: None))
    yield names
    hooks.CHOOSERS._members.pop("of a test")


def test_a_chooser_is_woken_and_its_failure_costs_no_answer(
    make_round: Any, answer: Any, rater: Any, woken: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        round_ = make_round(name="Growing", raters=[rater], most_pairs=99, opened=True)
        fixed = make_round(name="Fixed", raters=[rater])
    assert woken == ["Growing"]
    with django_capture_on_commit_callbacks(execute=True):
        for row in (round_, fixed):
            assert answer(row, rater, assignment.claim_batch(row, rater=rater, size=1)[0]).new
    assert woken == ["Growing"] * 3


def test_a_job_is_queued_again_once(collection: Any, lead: Any) -> None:
    job = jobs.start("import", title="x", parameters={}, collection=collection, actor=lead)
    assert not jobs.again(job)
    Job.objects.update(state=Job.State.CANCELLED, cancel_requested=True, attempts=3, log="kept")
    assert (jobs.again(job), jobs.again(job)) == (True, False)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.cancel_requested, job.log) == ("queued", 0, False, "kept")
