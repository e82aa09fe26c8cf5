"""Tests of a rater's recent judgments: list, changes, postponed and undone pairs."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from judgments.models import Document, Judgment, Probe, ProbeAnswer, Query
from judgments.quality import gold_pairs, pausing
from judgments.rating import assignment, submission
from judgments.rating.keyboard_shortcuts import set_keys, table
from judgments.rating.recent_answers import MOST, last_answers
from judgments.rating.submission import Answer
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round, rater, rater2):
    return make_round(queries=2, documents=6, raters=[rater, rater2])


@pytest.fixture
def given(open_round, rater, answer):
    """The pairs of the first query, graded 0 1 2 3 0 1 by their turn."""
    batch = assignment.claim_batch(open_round, rater=rater, size=6)
    for turn, pair in enumerate(batch):
        answer(open_round, rater, pair, grade=turn % 4)
    return batch


def page_of(client, round_):
    return client.get(reverse("rate_last", args=[round_.uuid]))


def correction(pair, **fields):
    return {"pair": pair.uuid, "client_id": uuid.uuid4(), "again": "1", **fields}


def test_own_answers_are_listed_the_newest_first(client_of, open_round, given, rater, rater2, rate_all):
    rate_all(open_round, rater2, grade=3, note="Of somebody else.")
    response = page_of(client_of(rater), open_round)
    assert [one.answer.grade for one, _ in response.context["rows"]] == [1, 0, 3, 2, 1, 0]
    assert [one.pair for one, _ in response.context["rows"]] == given[::-1]
    html = response.content.decode()
    assert html.count(">Change<") == 6
    assert "Of somebody else." not in html


def test_so_many_are_listed_at_most(open_round, rater, rate_all):
    rate_all(open_round, rater)
    assert len(last_answers(open_round, rater)) == MOST < 12


def test_an_empty_list_has_a_message(client_of, open_round, rater):
    assert "No answers yet" in page_of(client_of(rater), open_round).content.decode()


def test_one_is_changed_by_an_answer_that_supersedes_it(client_of, open_round, given, rater, answer):
    client, url = client_of(rater), reverse("rate", args=[open_round.uuid])
    html = client.get(f"{url}?again={given[2].uuid}").content.decode()
    assert "Your answer: <b>2, " in html
    assert "Document 6 of 6" in html
    assert client.post(url, correction(given[2], grade=0, note="Looked again.")).status_code == 302
    chain = Judgment.objects.filter(rater=rater, pair=given[2]).order_by("pk")
    assert [(row.grade, row.supersedes_id) for row in chain] == [(2, None), (0, chain[0].pk)]
    newest, *_ = last_answers(open_round, rater)
    assert (newest.pair, newest.answer.grade, newest.answer.note) == (given[2], 0, "Looked again.")
    # The pair has one answer of theirs as before, in the one slot that they filled.
    assert Judgment.objects.counted().filter(rater=rater).count() == 6
    assert given[2].slots.filter(filled_by__isnull=False).count() == 1


def test_a_judged_pair_cannot_be_skipped(client_of, open_round, given, rater):
    client, url = client_of(rater), reverse("rate", args=[open_round.uuid])
    assert client.post(url, correction(given[0], state="later")).status_code == 302
    assert Judgment.objects.filter(rater=rater, pair=given[0]).get().grade == 0


def test_an_answer_without_a_grade_brings_the_same_document_again(client_of, open_round, given, rater):
    url = reverse("rate", args=[open_round.uuid])
    response = client_of(rater).post(url, correction(given[1], note="Half way."))
    assert response.status_code == 422
    assert response.context["pair"] == given[1]
    assert "Half way." in response.content.decode()


def test_skipped_pairs_can_be_graded_from_here(client_of, open_round, rater, answer):
    first, *_ = assignment.claim_batch(open_round, rater=rater, size=2)
    answer(open_round, rater, first, None, state="later")
    client = client_of(rater)
    assert ">Grade<" in page_of(client, open_round).content.decode()
    url = reverse("rate", args=[open_round.uuid])
    assert client.get(f"{url}?again={first.uuid}").context["pair"] == first
    client.post(url, correction(first, grade=3))
    assert [row.grade for row in Judgment.objects.current().filter(rater=rater)] == [3]


def test_pairs_of_others_and_older_ones_are_not_opened(client_of, open_round, given, rater, rater2, rate_all):
    url = reverse("rate", args=[open_round.uuid])
    other = client_of(rater2).get(f"{url}?again={given[0].uuid}", follow=True)
    assert other.context["again"] is None
    assert "no longer among your recent ones" in other.content.decode()
    rate_all(open_round, rater)
    assert given[0] not in [one.pair for one in last_answers(open_round, rater)]
    assert "again=" not in client_of(rater).get(f"{url}?again={given[0].uuid}").content.decode()
    assert client_of(rater).get(f"{url}?again=nonsense").status_code == 200


def test_inserted_checks_are_listed_like_other_pairs(client_of, make_round, rater, collection, lead):
    round_ = make_round(queries=10, documents=4, raters=[rater])
    query = Query.objects.create(collection=collection, query_id="g", text="known")
    document = Document.objects.create(collection=collection, doc_id="g-1", title="Known one")
    gold_pairs.add(round_, [gold_pairs.Known(query, document, 2, "why-it-is-known")], use="hidden", actor=lead)
    round_.gold_every, round_.repeat_share = 4, 0.25
    round_.save()
    client, shown, mixed = client_of(rater), [], set()
    while batch := assignment.claim_batch(round_, rater=rater, size=5):
        submission.submit_all(round_, [Answer(uuid.uuid4(), one.uuid, 1) for one in batch], rater=rater)
        shown += batch
        result = last_answers(round_, rater)
        assert [one.pair for one in result] == shown[-MOST:][::-1]
        assert len({one.pair.document for one in result}) == len(result), "what they said of a pair the first time"
        mixed |= {one.pair for one in result if isinstance(one.pair, Probe)}
    assert {one.kind for one in mixed} == {"gold", "repeat"}
    probe = next(one.pair for one in result if isinstance(one.pair, Probe))
    html = page_of(client, round_).content.decode().lower()
    assert [word for word in ("why-it-is-known", "gold", "probe", "repeat") if word in html] == []
    assert client.post(reverse("rate", args=[round_.uuid]), correction(probe, grade=3)).status_code == 302
    assert [row.grade for row in ProbeAnswer.objects.filter(probe=probe).order_by("pk")] == [1, 3]
    assert last_answers(round_, rater)[0].pair == probe


def test_leads_cannot_change_grades_after_others_graded(client_of, make_round, lead, rater, rate_all):
    round_ = make_round(queries=1, documents=2, raters=[lead, rater])
    rate_all(round_, lead)
    assert all(one.changeable for one in last_answers(round_, lead))
    rate_all(round_, rater)
    assert not any(one.changeable for one in last_answers(round_, lead))
    html = page_of(client_of(lead), round_).content.decode()
    assert html.count("you can’t change") == 2
    assert "again=" not in html


def test_while_nothing_can_be_changed_nothing_is_listed(client_of, open_round, given, rater, lead):
    station = reverse("rate", args=[open_round.uuid])
    member = open_round.raters.get(user=rater)
    pausing.pause(member, reason="Let us talk.", actor=lead)
    assert page_of(client_of(rater), open_round).url == station
    pausing.resume(member, actor=lead)
    rounds.close_round(open_round, actor=lead)
    assert page_of(client_of(rater), open_round).url == station


def test_withdrawn_and_excluded_judgments_are_not_listed(open_round, given, rater):
    submission.undo(open_round, last_answers(open_round, rater)[0].answer.client_id, rater=rater)
    assert [one.pair for one in last_answers(open_round, rater)] == given[4::-1]


def test_a_chosen_shortcut_stays(rater):
    assert table(rater)["r"] == "last"
    rater.station_keys = {"later": "r"}
    assert table(rater)["r"] == "later"
    assert "last" not in table(rater).values()
    set_keys(rater, {"later": "r", "last": "b"})
    assert (table(rater)["r"], table(rater)["b"]) == ("later", "last")
