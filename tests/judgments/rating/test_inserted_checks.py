"""Tests of gold pairs and repeats mixed into a round: timing, disguise, and no effect on results."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from assay.core.errors import Conflict, NotFound, NotValid
from judgments.agreement import agreement_summary
from judgments.labels import round_labels
from judgments.models import Document, Judgment, Membership, Pair, Probe, ProbeAnswer, Query, Role, Round, Slot, Tally
from judgments.quality import gold_pairs
from judgments.rating import assignment, inserted_checks, submission
from judgments.rating.submission import Answer
from tests.threads import at_once
from tests.world import SECRETS

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


def known(collection: Any, number: int, *, query: str = "", grade: int = 2) -> list[gold_pairs.Known]:
    """Pairs of known grade that no round holds: each of a query of its own, or all of the one that is named."""
    made = []
    for place in range(number):
        name = query or f"g{place}"
        gold_query, _ = Query.objects.get_or_create(
            collection=collection, query_id=name, defaults={"text": f"known {name}"}
        )
        document, _ = Document.objects.get_or_create(
            collection=collection, doc_id=f"gold-{place}", title=f"Known {place}"
        )
        made.append(gold_pairs.Known(gold_query, document, grade, "why-it-is-known"))
    return made


@pytest.fixture
def round_(
    make_round: Make, rater: Any, rater2: Any, collection: Any, lead: Any, monkeypatch: pytest.MonkeyPatch
) -> Round:
    """Six queries of four documents; one pair in four is a known one, a fourth is asked again six answers later."""
    monkeypatch.setattr(inserted_checks, "LAG", 6)
    made = make_round(queries=6, documents=4, raters=[rater, rater2, lead])
    gold_pairs.add(made, known(collection, 5), use="hidden", actor=lead)
    Round.objects.filter(pk=made.pk).update(gold_every=4, repeat_share=0.25)
    return Round.objects.get(pk=made.pk)


def work(round_: Round, rater: Any, *, size: int = 5, grade: int = 1, most: int = 1_000) -> list[Pair | Probe]:
    """Answer what comes, one batch after the other; what was shown, in that order."""
    shown: list[Pair | Probe] = []
    while len(shown) < most and (batch := assignment.claim_batch(round_, rater=rater, size=size)):
        answers = [Answer(uuid.uuid4(), one.uuid, grade) for one in batch]
        results = submission.submit_all(round_, answers, rater=rater)
        assert all(isinstance(result, submission.Receipt) for result in results), results
        shown += batch
    return shown


@pytest.mark.parametrize("size", [1, 7, 50])
def test_gold_pairs_and_repeats_come_between_queries(round_: Round, rater: Any, size: int) -> None:
    shown = work(round_, rater, size=size)
    pairs = [one for one in shown if isinstance(one, Pair)]
    probes = [one for one in shown if isinstance(one, Probe)]
    assert len(pairs) == 24
    kinds = [one.kind for one in probes]
    assert kinds.count("gold") == 5
    assert 3 <= kinds.count("repeat") <= 6
    assert len({one.source for one in probes}) == len(probes)
    order = [one.query_id for one in pairs]
    assert [query for place, query in enumerate(order) if place == 0 or order[place - 1] != query] == [
        *dict.fromkeys(order)
    ], "a query was broken in two"
    inside = [
        place
        for place in range(1, len(shown) - 1)
        if isinstance(shown[place], Probe)
        and isinstance(shown[place - 1], Pair)
        and isinstance(shown[place + 1], Pair)
        and shown[place - 1].query_id == shown[place + 1].query_id != shown[place].query_id
    ]
    assert inside == []


def test_a_gold_pair_appears_among_the_documents_of_its_query(
    round_: Round, rater: Any, collection: Any, lead: Any
) -> None:
    round_.gold.all().delete()
    first = assignment.claim_batch(round_, rater=rater, size=1)[0]
    gold_pairs.add(round_, known(collection, 1, query=first.query.query_id), use="hidden", actor=lead)
    shown = work(round_, rater, most=6)
    place = next(number for number, one in enumerate(shown) if isinstance(one, Probe) and one.kind == "gold")
    assert {one.query_id for one in shown[:5]} == {first.query_id}
    assert place < 5


def test_own_pairs_come_again_after_some_others(round_: Round, rater: Any) -> None:
    shown = work(round_, rater)
    pairs = [one for one in shown if isinstance(one, Pair)]
    for probe in Probe.objects.filter(kind="repeat"):
        before = [one for one in shown[: shown.index(probe)] if isinstance(one, Pair)]
        assert pairs.index(probe.pair) < len(before) - inserted_checks.LAG + 1
        assert probe.expected == 1


def test_the_seed_and_the_pseudonym_decide_when() -> None:
    due = [inserted_checks._due("1 gold r01", 4, answers) for answers in range(41)]
    assert due == [inserted_checks._due("1 gold r01", 4, answers) for answers in range(41)]
    assert due[40] == 10
    assert all(after - before in (0, 1) for before, after in pairwise(due))
    steps = {answers % 4 for answers in range(40) if due[answers + 1] > due[answers]}
    assert len(steps) > 1, "nobody can count them out"
    assert due != [inserted_checks._due("1 gold r02", 4, answers) for answers in range(41)]


def test_nothing_of_it_counts(round_: Round, rater: Any, rater2: Any) -> None:
    work(round_, rater, grade=3)
    assert ProbeAnswer.objects.filter(grade=3).count() == Probe.objects.count() > 7
    assert Judgment.objects.count() == 24
    assert Slot.objects.filter(filled_by__isnull=False).count() == 24
    tally = Tally.objects.get(round=round_, rater=rater)
    assert (tally.graded, tally.events) == (24, 24)
    work(round_, rater2, grade=1)
    assert len(round_labels.rating_rows(round_)) == 48
    assert not any(row[1].startswith("gold") for row in round_labels.rating_rows(round_))
    assert agreement_summary.agreement(round_)["pairs"] == 24


@pytest.mark.django_db(transaction=True)
def test_all_tabs_of_a_rater_get_the_last_check(make_round: Make, make_user: Make, collection: Any, lead: Any) -> None:
    raters = [make_user(f"rater{number}") for number in range(12)]
    Membership.objects.bulk_create(Membership(collection=collection, user=one, role=Role.RATER) for one in raters)
    made = make_round(queries=1, documents=1, raters=raters, ratings_per_pair=len(raters))
    gold_pairs.add(made, known(collection, 1), use="hidden", actor=lead)
    Round.objects.filter(pk=made.pk).update(gold_every=1)
    made.refresh_from_db()
    for rater in raters:
        (pair,) = assignment.claim_batch(made, rater=rater, size=1)
        submission.submit_all(made, [Answer(uuid.uuid4(), pair.uuid, 1)], rater=rater)
        tabs = at_once(*[lambda rater=rater: assignment.claim_batch(made, rater=rater)] * 4)
        assert [[one.source.position for one in batch] for batch in tabs] == [[0]] * 4


def test_leads_get_no_gold_pairs(round_: Round, lead: Any) -> None:
    shown = work(round_, lead)
    assert {one.kind for one in shown if isinstance(one, Probe)} == {"repeat"}


def test_without_a_setting_no_checks_are_inserted(make_round: Make, rater: Any, collection: Any, lead: Any) -> None:
    plain = make_round(queries=3, documents=5, raters=[rater], name="Plain")
    gold_pairs.add(plain, known(collection, 3), use="hidden", actor=lead)
    work(plain, rater)
    assert not Probe.objects.exists()


def due_probe(round_: Round, rater: Any) -> Probe:
    while True:
        one = assignment.claim_batch(round_, rater=rater, size=1)[0]
        if isinstance(one, Probe):
            return one
        submission.submit(round_, Answer(uuid.uuid4(), one.uuid, 1), rater=rater)


def test_a_probe_is_recorded_undone_and_skipped_like_a_pair(round_: Round, rater: Any, rater2: Any) -> None:
    probe = due_probe(round_, rater)
    assert assignment.claim_batch(round_, rater=rater, size=1) == [probe]
    assert assignment.in_hand(round_, rater, probe.uuid) == probe
    client_id = uuid.uuid4()
    first = submission.submit(round_, Answer(client_id, probe.uuid, 2), rater=rater)
    again = submission.submit(round_, Answer(client_id, probe.uuid, 2), rater=rater)
    assert (first.new, again.new, first.judgment == again.judgment) == (True, False, True)
    with pytest.raises(NotValid):
        submission.submit(round_, Answer(uuid.uuid4(), probe.uuid, 9), rater=rater)
    assert submission.last_answer(round_, rater) == first.judgment
    event = submission.undo(round_, client_id, rater=rater)
    assert submission.undo(round_, client_id, rater=rater) == event
    assert assignment.claim_batch(round_, rater=rater, size=1) == [probe]
    submission.submit(round_, Answer(uuid.uuid4(), probe.uuid, None, "later"), rater=rater)
    shown = work(round_, rater)
    assert probe in shown[-8:], "what was put off comes last"
    answer = ProbeAnswer.objects.current().get(probe=probe)
    assert (answer.state, answer.grade) == ("graded", 1)
    with pytest.raises(Conflict, match="never leased"):
        submission.submit(round_, Answer(uuid.uuid4(), probe.uuid, 2), rater=rater2)
    with pytest.raises(NotFound, match="no such pair"):
        submission.submit(round_, Answer(uuid.uuid4(), uuid.uuid4(), 2), rater=rater)


def test_saving_an_open_probe_supersedes_no_answer(round_: Round, rater: Any) -> None:
    probe = due_probe(round_, rater)
    stands = submission.submit(round_, Answer(uuid.uuid4(), probe.uuid, 3), rater=rater).judgment
    later = Answer(uuid.uuid4(), probe.uuid, None, "later", if_open=True)
    again = submission.submit(round_, later, rater=rater)
    assert (again.new, again.judgment) == (False, stands)
    assert ProbeAnswer.objects.current().get(probe=probe) == stands


def test_a_client_id_belongs_to_one_of_both(round_: Round, rater: Any) -> None:
    probe = due_probe(round_, rater)
    given = Judgment.objects.first()
    with pytest.raises(Conflict, match="another pair"):
        submission.submit(round_, Answer(given.client_id, probe.uuid, 2), rater=rater)
    receipt = submission.submit(round_, Answer(uuid.uuid4(), probe.uuid, None, "unrateable", "other"), rater=rater)
    pair = next(one for one in assignment.claim_batch(round_, rater=rater, size=20) if isinstance(one, Pair))
    with pytest.raises(Conflict, match="another pair"):
        submission.submit(round_, Answer(receipt.judgment.client_id, pair.uuid, 2), rater=rater)


def test_no_answer_to_a_rater_tells_what_is_known(
    round_: Round, rater: Any, api_of: Make, client_of: Make, collection: Any
) -> None:
    """Every shape is a pair's, and no word of gold is in any of it."""
    api, browser = api_of(rater, ("rate",)), client_of(rater)
    base = f"/api/v1/rounds/{round_.uuid}"
    responses, shapes = [], set()
    for number in range(12):
        page = browser.get(f"/rounds/{round_.uuid}/rate/").content.decode()
        batch = api.post(f"{base}/batch/?size=3").json()
        responses += [page, json.dumps(batch)]
        for pair in batch["pairs"]:
            shapes.add(
                json.dumps({name: sorted(value) if isinstance(value, dict) else "" for name, value in pair.items()})
            )
            payload = {"client_id": str(uuid.uuid4()), "pair": pair["id"], "grade": 1}
            one = api.post(f"{base}/judgments/", payload, format="json")
            responses.append(one.content.decode())
            shapes.add(json.dumps(sorted(one.json())))
            if number % 5 == 0:
                undone = api.post(f"{base}/judgments/{payload['client_id']}/undo/")
                responses.append(undone.content.decode())
                shapes.add(json.dumps(sorted(undone.json())))
                api.post(f"{base}/judgments/", {**payload, "client_id": str(uuid.uuid4())}, format="json")
        if number % 7 == 0:
            responses.append(api.get(f"{base}/progress/").content.decode())
    assert Probe.objects.filter(kind="gold", answered=True).exists()
    assert Probe.objects.filter(kind="repeat", answered=True).exists()
    assert len(shapes) == 2, shapes
    words = ("why-it-is-known", "probe", "expected", "calibrat", "hidden gold", "repeat_share", "gold_every", *SECRETS)
    assert [word for word in words for text in responses if word in text.lower()] == []


def test_a_batch_in_the_browser_is_not_split(round_: Round, rater: Any) -> None:
    """A probe that is made while the browser holds half a query waits for that query's end, or for a later batch."""
    probe = due_probe(round_, rater)
    pairs = list(round_.pairs.select_related("query").exclude(query=probe.query))
    first = [pair for pair in pairs if pair.query_id == pairs[0].query_id]
    other = next(pair for pair in pairs if pair.query_id != pairs[0].query_id)
    assert inserted_checks.fitted(first[:2], [probe, first[2], first[3]]) == [first[2], first[3]]
    assert inserted_checks.fitted(first[:2], [probe, first[2], other]) == [first[2], probe, other]
    assert inserted_checks.fitted(first[:2], [probe, other]) == [probe, other]
    assert inserted_checks.fitted(first[:2], [probe]) == [probe]
    assert inserted_checks.fitted([], [probe, other]) == [probe, other]
