"""Tests of resolved pairs for raters: own pairs, after the round, and none they may still grade."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.agreement import resolutions
from judgments.agreement.resolutions import resolved_pairs_for, rounds_with_resolutions
from judgments.models import GoldPair, Pair
from judgments.quality import gold_pairs
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round, rater, rater2, rater3, rate_all, lead):
    """Four pairs that two raters each differ about; a lead settled all of them."""
    round_ = make_round(raters=[rater, rater2, rater3], queries=2, documents=2)
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=3)
    for pair in round_.pairs.all():
        resolutions.resolve(pair, grade=2, cause="slip", reason=f"Why {pair.document.doc_id} fits.", actor=lead)
    return round_


@pytest.fixture
def closed(open_round, lead):
    return rounds.close_round(open_round, actor=lead)


def read(client_of, user, round_):
    response = client_of(user).get(reverse("settled", args=[round_.uuid]))
    assert response.status_code == 200
    return response.content.decode()


def documents(user, round_):
    return [pair.document.doc_id for pair in resolved_pairs_for(user, round_)]


def test_resolutions_are_hidden_while_the_round_is_open(client_of, open_round, rater):
    html = read(client_of, rater, open_round)
    assert "is not closed yet" in html
    assert "fits." not in html
    assert "Resolved pairs" not in client_of(rater).get("/").content.decode()


def test_after_the_round_raters_read_the_grade_and_why_of_their_own_pairs(client_of, closed, rater, rater2, lead):
    html = read(client_of, rater, closed)
    assert html.count("A rater made a mistake. Why d") == 4
    assert html.count('data-grade="0"') == html.count('data-grade="2"') == 4
    # The other one's grade and everybody's names stay out.
    assert 'data-grade="3"' not in html
    names = [rater2.username, lead.username, *closed.raters.values_list("pseudonym", flat=True)]
    assert [name for name in names if name in html] == []
    assert "Resolved pairs in Round 1" in client_of(rater).get("/").content.decode()


def test_raters_without_grades_see_no_resolutions(client_of, closed, rater3):
    assert documents(rater3, closed) == []
    assert "No resolved pairs to show" in read(client_of, rater3, closed)
    assert rounds_with_resolutions(rater3) == []


def test_the_api_returns_the_same(api_of, open_round, rater, rater2, lead):
    path = f"/api/v1/rounds/{open_round.uuid}/settled/"
    api = api_of(rater, ("rate",))
    assert api.get(path).json()["results"] == []
    closed = rounds.close_round(open_round, actor=lead)
    response = api.get(path)
    rows = response.json()["results"]
    assert [row["document"]["id"] for row in rows] == documents(rater, closed)
    assert {(row["given"], row["settled"]) for row in rows} == {(0, 2)}
    assert all(f"Why {row['document']['id']} fits." in row["reason"] for row in rows)
    names = [rater2.username, lead.username, *open_round.raters.values_list("pseudonym", flat=True)]
    assert [name for name in names if name in response.content.decode()] == []


def test_the_current_resolution_is_shown(closed, rater, lead):
    resolutions.resolve(closed.pairs.get(document__doc_id="d1-1"), grade=1, reason="Looked again.", actor=lead)
    (first, *_) = resolved_pairs_for(rater, closed)
    assert [(one.grade, one.reason) for one in first.resolutions] == [(1, "Looked again.")]
    assert [one.grade for one in first.mine] == [0]


@pytest.mark.parametrize("opened", [True, False])
def test_a_pair_in_another_round_is_hidden_until_that_round_closes(closed, make_round, rater, rater3, lead, opened):
    again = make_round(raters=[rater3], queries=1, documents=2, name="Again", opened=opened)
    assert documents(rater, closed) == ["d2-1", "d2-2"]
    whole = make_round(raters=[rater3], queries=2, documents=2, name="Whole", opened=False)
    assert rounds_with_resolutions(rater) == [], "a link to an empty page"
    Pair.objects.filter(round=whole).delete()
    assert rounds_with_resolutions(rater) == [closed]
    if opened:
        rounds.close_round(again, actor=lead)
        assert documents(rater, closed) == ["d1-1", "d1-2", "d2-1", "d2-2"]


def test_a_gold_pair_of_another_round_is_hidden(closed, make_round, rater, rater2, lead):
    other = make_round(raters=[rater, rater2], queries=1, documents=1, name="Other")
    known = [one for one in gold_pairs.known_elsewhere(other, viewer=lead) if one.document.doc_id == "d2-2"]
    gold_pairs.add(other, known, use=GoldPair.Use.HIDDEN, actor=lead)
    assert documents(rater, closed) == ["d1-2", "d2-1"]


def test_a_duplicate_of_a_pair_in_another_round_is_hidden(closed, make_round, rater, rater3):
    again = make_round(raters=[rater3], queries=1, documents=1, name="Again")
    again.pairs.update(origin={"copies": [{"doc_id": "d1-2"}]})
    assert documents(rater, closed) == ["d2-1", "d2-2"]
