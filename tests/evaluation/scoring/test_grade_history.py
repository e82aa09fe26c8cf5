"""Tests of grade history: every event under pseudonyms, and none of pairs the reader may still grade."""

from __future__ import annotations

import json
import uuid

import pytest

from evaluation.scoring.grade_history import MOST_SNAPSHOTS, grade_history, snapshots_of
from judgments.agreement import resolutions
from judgments.models import Judge, MachineJudgment, Snapshot
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def frozen_round(stage, collection, lead, rater, rater2):
    """Query q00 with a change of mind, a conflict that was settled, a machine, an import and two snapshots."""
    stage.queries(1)
    stage.documents()
    stage.store("qrels", "q00 0 d0 2\n", "old.qrels")
    round_ = stage.round(runs=0)
    for person, grade in ((rater, 1), (rater2, 3)):
        for pair in assignment.claim_batch(round_, rater=person, size=50):
            answer = submission.Answer(uuid.uuid4(), pair.uuid, grade, note=f"note of {pair.document.doc_id}")
            submission.submit(round_, answer, rater=person)
    d0 = round_.pairs.get(document__doc_id="d0")
    submission.submit(round_, submission.Answer(uuid.uuid4(), d0.uuid, 2), rater=rater)
    judge = Judge.objects.create(collection=collection, name="overlap", kind="token-overlap")
    MachineJudgment.objects.create(judge=judge, pair=d0, outcome="graded", grade=0, rationale="no shared word")
    first = stage.frozen(round_, "first")
    resolutions.resolve(d0, grade=3, reason="It is just that.", actor=lead)
    rounds.close_round(round_, actor=lead)
    return round_, first, stage.frozen(round_, "second")


def documents(snapshot, hidden=(), shown=()):
    query = snapshot.collection.queries.get(query_id="q00")
    return {one.doc_id: one for one in grade_history(snapshot, query, shown, hidden=hidden)}


def test_every_event_in_its_order(frozen_round):
    _, _, second = frozen_round
    result = documents(second)["d0"]
    assert [(event.kind, event.what, event.grade, event.stands) for event in result.events] == [
        ("import", "imported", 2.0, True),
        ("rater", "graded", 1, False),
        ("rater", "graded", 3, True),
        ("rater", "graded", 2, True),
        ("machine", "graded", 0, True),
        ("snapshot", "frozen with the rule median", 2.0, True),
        ("adjudication", "settled", 3, True),
        ("snapshot", "frozen with the rule median", 3.0, True),
    ]
    assert result.label == 3
    assert sorted(event.grade for event in result.raters) == [2, 3]
    assert (result.settled.note, result.spread) == ("It is just that.", 1)
    assert [(event.who, event.grade) for event in result.frozen] == [("first", 2.0), ("second", 3.0)]


def test_the_history_contains_no_names(frozen_round, lead, rater, rater2):
    _, first, _ = frozen_round
    text = json.dumps([one.as_json() for one in documents(first).values()])
    assert "note of d0" in text
    assert not [person.username for person in (lead, rater, rater2) if person.username in text]
    assert {event.who for one in documents(first).values() for event in one.raters} == {"r01", "r02"}


def test_a_hidden_document_has_no_history(frozen_round):
    _, _, second = frozen_round
    hidden = documents(second, hidden={"d0"})["d0"]
    assert (hidden.hidden, hidden.label, hidden.events) == (True, None, [])
    assert hidden.as_json() == {"doc_id": "d0", "label": None, "hidden": True, "history": []}


def test_a_withdrawn_judgment_is_not_in_the_history(frozen_round, stage, rater):
    again = stage.round(name="Round 2", runs=0, raters=1)
    (pair, *_) = assignment.claim_batch(again, rater=rater, size=1)
    client_id = uuid.uuid4()
    submission.submit(again, submission.Answer(client_id, pair.uuid, 0), rater=rater)
    submission.undo(again, client_id, rater=rater)
    events = [event for event in documents(frozen_round[1])[pair.document.doc_id].events if event.place == "Round 2"]
    assert [(event.what, event.stands) for event in events] == [("graded", False), ("undid the judgment", False)]


def test_unjudged_documents_come_last(frozen_round):
    result = documents(frozen_round[2], shown=["d7", "elsewhere"])
    assert list(result) == ["d0", "d1", "d2", "d7", "elsewhere"]
    assert (result["elsewhere"].title, result["elsewhere"].uuid, result["d7"].events) == ("elsewhere", "", [])


def test_only_the_newest_snapshots_are_read_but_always_the_one_in_question(frozen_round, collection, lead):
    _, first, second = frozen_round
    assert [one.name for one in snapshots_of(second)] == ["first", "second"]
    for number in range(MOST_SNAPSHOTS):
        Snapshot.objects.create(
            collection=collection,
            name=f"later {number}",
            content_sha256="0" * 64,
            rule="median",
            folder="x",
            manifest={},
            created_by=lead,
        )
    names = [one.name for one in snapshots_of(first)]
    assert len(names) == MOST_SNAPSHOTS + 1
    assert (names[0], names[-1]) == ("first", f"later {MOST_SNAPSHOTS - 1}")


def test_a_document_that_was_judged_as_another_one_says_as_which(frozen_round):
    round_, _, second = frozen_round
    pair = round_.pairs.get(document__doc_id="d0")
    pair.origin = {**pair.origin, "copies": [{"doc_id": "d9"}]}
    pair.save()
    result = documents(second)["d9"]
    assert [(one.kind, one.what, one.grade) for one in result.events] == [("copy", "judged as its duplicate d0", None)]
    assert documents(second, hidden=["d9"])["d9"].events == []


def test_usefulness_in_the_history_is_not_a_grade(frozen_round, collection):
    round_, _, second = frozen_round
    judge = Judge.objects.create(collection=collection, name="useful", kind="downstream")
    pair = round_.pairs.get(document__doc_id="d0")
    MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", usefulness=0.25)
    result = documents(second)["d0"]
    (event,) = [one for one in result.events if one.who == "useful"]
    assert "useful" not in {one.who for one in result.machines}
    assert (event.what, event.grade) == ("measured a usefulness of 0.25", None)
