"""Tests against attempts to find gold pairs by counting, replaying or undoing answers."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from assay.core.errors import Conflict, NotFound
from judgments.home.views import open_work
from judgments.models import Pair, Probe, Round
from judgments.quality import gold_pairs, qualification
from judgments.rating import assignment, rater_progress, submission
from judgments.rating.submission import Answer
from tests.judgments.rating.test_inserted_checks import due_probe, known, round_, work

__all__ = ["round_"]

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


def pair_in_hand(round_: Round, rater: Any) -> Pair:
    batch = assignment.claim_batch(round_, rater=rater, size=20)
    return next(one for one in batch if isinstance(one, Pair))


@pytest.mark.slow
def test_every_page_counts_the_same_answers(round_: Round, rater: Any, client_of: Make) -> None:
    """Whatever is answered moves each count that the rater sees by one, and all of them say the same."""
    browser = client_of(rater)
    while batch := assignment.claim_batch(round_, rater=rater, size=1):
        (one,) = batch
        before = rater_progress.rater_position(round_, rater, one).answered
        (mine,) = open_work(rater)
        assert mine.graded == before
        submission.submit(round_, Answer(uuid.uuid4(), one.uuid, 1), rater=rater)
        (mine,) = open_work(rater)
        assert mine.graded == before + 1
    assert Probe.objects.filter(answered=True).exists()
    page = " ".join(browser.get(f"/rounds/{round_.uuid}/rate/").content.decode().split())
    assert f"You answered {before + 1} pairs" in page


def test_a_client_id_belongs_to_one_of_both_in_every_round(
    round_: Round, rater: Any, make_round: Make, collection: Any, lead: Any
) -> None:
    """An id that was used elsewhere is refused alike, whether it stood for a pair or for what was mixed in."""
    probe = due_probe(round_, rater)
    receipt = submission.submit(round_, Answer(uuid.uuid4(), probe.uuid, 1), rater=rater)
    other = make_round(name="Other", queries=1, documents=2, raters=[rater])
    first = assignment.claim_batch(other, rater=rater, size=1)[0]
    with pytest.raises(Conflict, match="another pair"):
        submission.submit(other, Answer(receipt.judgment.client_id, first.uuid, 2), rater=rater)
    Round.objects.filter(pk=round_.pk).update(gold_every=None, repeat_share=0)
    round_.refresh_from_db()
    with pytest.raises(Conflict, match="another pair"):
        submission.submit(round_, Answer(receipt.judgment.client_id, pair_in_hand(round_, rater).uuid, 2), rater=rater)


@pytest.mark.parametrize("kind", ["pair", "probe"])
def test_an_undo_whose_id_is_taken_is_refused_alike(round_: Round, rater: Any, kind: str) -> None:
    """The id of an undo follows from that of the answer, so that a client can have used it before."""
    probe = due_probe(round_, rater)
    batch = assignment.claim_batch(round_, rater=rater, size=20)
    first, second = [one for one in batch if isinstance(one, Pair)][:2]
    one, client_id = probe if kind == "probe" else first, uuid.uuid4()
    submission.submit(round_, Answer(client_id, one.uuid, 1), rater=rater)
    submission.submit(round_, Answer(uuid.uuid5(client_id, "undo"), second.uuid, 3), rater=rater)
    with pytest.raises(Conflict, match="another pair"):
        submission.undo(round_, client_id, rater=rater)


def test_calibration_answers_cannot_be_undone(make_round: Make, rater: Any, lead: Any, collection: Any) -> None:
    """An answer there is final, since what is right is told at once."""
    made = make_round(queries=1, documents=2, raters=[rater])
    gold_pairs.add(made, known(collection, 2), use="calibration", actor=lead)
    Round.objects.filter(pk=made.pk).update(pass_mark=1.0)
    made.refresh_from_db()
    client_id = uuid.uuid4()
    probe = qualification.next_probe(made, rater)
    qualification.answer(made, Answer(client_id, probe.uuid, 0), rater=rater)
    with pytest.raises(NotFound):
        submission.undo(made, client_id, rater=rater)
    assert len(qualification.sitting(made, rater).done) == 1


@pytest.mark.slow
def test_a_lease_says_nothing(round_: Round, rater: Any, api_of: Make) -> None:
    """Asked for again at once the lease is the same, whatever is in the batch."""
    api, path = api_of(rater, ("rate",)), f"/api/v1/rounds/{round_.uuid}/batch/?size=1"
    probes = 0
    while (first := api.post(path)).status_code == 200:
        again = api.post(path).json()
        assert (again["lease"], again["expires_at"]) == (first.json()["lease"], first.json()["expires_at"])
        shown = first.json()["pairs"][0]["id"]
        probes += Probe.objects.filter(uuid=shown).exists()
        submission.submit(round_, Answer(uuid.uuid4(), uuid.UUID(shown), 1), rater=rater)
    assert probes


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 4])
def test_returned_pairs_are_the_assigned_ones(round_: Round, rater: Any, size: int) -> None:
    """Neither the number that was shown and given back, nor what comes of giving it back twice, tells a probe."""
    seen = 0
    while batch := assignment.claim_batch(round_, rater=rater, size=size):
        assert assignment.release(round_, rater) == len(batch)
        assert assignment.release(round_, rater) == 0
        for one in assignment.claim_batch(round_, rater=rater, size=size):
            seen += isinstance(one, Probe)
            submission.submit(round_, Answer(uuid.uuid4(), one.uuid, 1), rater=rater)
        assert assignment.release(round_, rater) == 0
    assert seen


@pytest.mark.slow
def test_each_answer_changes_every_count_by_one(round_: Round, rater: Any, api_of: Make) -> None:
    """Answers, positions, times and what is left are counted alike, whatever was answered.

    What is still to be mixed in is counted from the beginning.
    """
    api, base = api_of(rater, ("rate", "read")), f"/api/v1/rounds/{round_.uuid}"
    positions, remaining, counts = [], [], []
    while batch := assignment.claim_batch(round_, rater=rater, size=1):
        (one,) = batch
        where = rater_progress.rater_position(round_, rater, one)
        assert 1 <= where.document <= where.documents
        assert 1 <= where.query <= where.queries
        positions.append(where.answered)
        remaining.append(assignment.remaining(round_, rater))
        submission.submit(round_, Answer(uuid.uuid4(), one.uuid, 1, seconds_active=8.0 + len(counts)), rater=rater)
        body = api.get(f"{base}/progress/").json()
        (mine,) = body["raters"]
        counts.append((mine["median_seconds"], mine["left"], body["remaining"]))
        assert (mine["graded"], mine["unrateable"], mine["later"]) == (len(counts), 0, 0)
    answers = len(counts)
    assert positions == list(range(answers))
    assert remaining == list(range(answers, 0, -1))
    assert len({seconds for seconds, _, _ in counts}) > answers / 3
    assert [left for _, _, left in counts] == list(range(answers - 1, -1, -1))
    parts = [left for _, left, _ in counts]
    assert {one - other for one, other in pairwise(parts) if one} == {1}, "one less each time, until their part is done"
    assert assignment.remaining(round_, rater) == 0
    assert work(round_, rater) == []
