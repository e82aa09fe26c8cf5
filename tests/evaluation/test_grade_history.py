"""Is every event of a grade told, under pseudonyms, and nothing of what the reader may still have to grade?"""

from __future__ import annotations

import json
import uuid

import pytest

from evaluation.grade_history import MOST_SNAPSHOTS, grade_history, snapshots_of
from judgments import adjudication, assignment, rounds, submission
from judgments.models import Judge, MachineJudgment, Snapshot

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(stage, collection, lead, rater, rater2):
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
    adjudication.settle(d0, grade=3, reason="It is just that.", actor=lead)
    rounds.close_round(round_, actor=lead)
    return round_, first, stage.frozen(round_, "second")


def documents(snapshot, hidden=(), shown=()):
    query = snapshot.collection.queries.get(query_id="q00")
    return {one.doc_id: one for one in grade_history(snapshot, query, shown, hidden=hidden)}


def test_every_event_in_its_order(told):
    _, _, second = told
    found = documents(second)["d0"]
    assert [(event.kind, event.what, event.grade, event.stands) for event in found.events] == [
        ("import", "imported", 2.0, True),
        ("rater", "graded", 1, False),
        ("rater", "graded", 3, True),
        ("rater", "graded", 2, True),
        ("machine", "graded", 0, True),
        ("snapshot", "frozen by median", 2.0, True),
        ("adjudication", "settled", 3, True),
        ("snapshot", "frozen by median", 3.0, True),
    ]
    assert found.label == 3
    assert sorted(event.grade for event in found.raters) == [2, 3]
    assert (found.settled.note, found.spread) == ("It is just that.", 1)
    assert [(event.who, event.grade) for event in found.frozen] == [("first", 2.0), ("second", 3.0)]


def test_nobody_is_named(told, lead, rater, rater2):
    _, first, _ = told
    text = json.dumps([one.as_json() for one in documents(first).values()])
    assert "note of d0" in text
    assert not [person.username for person in (lead, rater, rater2) if person.username in text]
    assert {event.who for one in documents(first).values() for event in one.raters} == {"r01", "r02"}


def test_nothing_is_told_of_a_hidden_document(told):
    _, _, second = told
    hidden = documents(second, hidden={"d0"})["d0"]
    assert (hidden.hidden, hidden.label, hidden.events) == (True, None, [])
    assert hidden.as_json() == {"doc_id": "d0", "label": None, "hidden": True, "history": []}


def test_an_answer_taken_back_does_not_stand(told, stage, rater):
    again = stage.round(name="Round 2", runs=0, raters=1)
    (pair, *_) = assignment.claim_batch(again, rater=rater, size=1)
    client_id = uuid.uuid4()
    submission.submit(again, submission.Answer(client_id, pair.uuid, 0), rater=rater)
    submission.undo(again, client_id, rater=rater)
    events = [event for event in documents(told[1])[pair.document.doc_id].events if event.place == "Round 2"]
    assert [(event.what, event.stands) for event in events] == [("graded", False), ("took the answer back", False)]


def test_documents_that_nobody_judged_stand_last(told):
    found = documents(told[2], shown=["d7", "elsewhere"])
    assert list(found) == ["d0", "d1", "d2", "d7", "elsewhere"]
    assert (found["elsewhere"].title, found["elsewhere"].uuid, found["d7"].events) == ("elsewhere", "", [])


def test_only_the_newest_snapshots_are_read_but_always_the_one_in_question(told, collection, lead):
    _, first, second = told
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


def test_a_document_that_was_judged_as_another_one_says_as_which(told):
    round_, _, second = told
    pair = round_.pairs.get(document__doc_id="d0")
    pair.origin = {**pair.origin, "copies": [{"doc_id": "d9"}]}
    pair.save()
    found = documents(second)["d9"]
    assert [(one.kind, one.what, one.grade) for one in found.events] == [
        ("copy", "judged as d0, which says the same", None)
    ]
    assert documents(second, hidden=["d9"])["d9"].events == []


def test_what_a_system_made_of_a_document_is_called_no_grade(told, collection):
    round_, _, second = told
    judge = Judge.objects.create(collection=collection, name="useful", kind="downstream")
    pair = round_.pairs.get(document__doc_id="d0")
    MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", usefulness=0.25)
    found = documents(second)["d0"]
    (event,) = [one for one in found.events if one.who == "useful"]
    assert "useful" not in {one.who for one in found.machines}
    assert (event.what, event.grade) == ("found it 0.25 useful", None)
