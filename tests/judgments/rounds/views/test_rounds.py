"""Tests of the round pages: progress, pseudonyms, actions of leads, hidden grades."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from judgments.agreement import round_report
from judgments.models import Membership, Round
from judgments.progress.progress import Progress
from judgments.rating import assignment
from judgments.rounds import rounds
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round, rater, rater2):
    return make_round(raters=[rater, rater2])


def url(name, round_):
    return reverse(name, args=[round_.uuid])


def page(client, name, round_, query=""):
    return client.get(url(name, round_) + query)


def text(response):
    return response.content.decode()


def test_list_teaches_when_there_is_no_round(client_of, collection, lead):
    assert "No rounds yet" in text(client_of(lead).get(reverse("rounds", args=["shop"])))


def test_list_counts_pairs_and_ratings(client_of, open_round, lead, rater, rate_all):
    rate_all(open_round, rater)
    html = text(client_of(lead).get(reverse("rounds", args=["shop"])))
    assert "6 of 12 (50%)" in html


def test_list_downloads(client_of, open_round, engineer):
    response = client_of(engineer).get(reverse("rounds", args=["shop"]) + "?format=csv")
    assert b"".join(response.streaming_content).decode().splitlines()[1].startswith("Round 1,open,0,6,2,2,version 1")


def test_round_leads_staff_to_progress_and_raters_to_the_station(client_of, open_round, engineer, rater):
    results = [client_of(user).get(url("round", open_round)).url for user in (engineer, rater)]
    assert results == [url("round_progress", open_round), url("rate", open_round)]


def test_progress_shows_ratings_and_hours(client_of, open_round, lead, rater, answer, rate_all):
    rate_all(open_round, rater)
    html = text(page(client_of(lead), "round_progress", open_round))
    assert "6 of 12" in html
    assert "no timings yet" in html


def test_names_are_for_leads_and_pseudonyms_for_engineers(client_of, open_round, lead, engineer, rater):
    pseudonym = open_round.raters.get(user=rater).pseudonym
    assert f"{rater.username} <" in text(page(client_of(lead), "round_progress", open_round))
    html = text(page(client_of(engineer), "round_progress", open_round))
    assert pseudonym in html
    assert rater.username not in html


def test_progress_as_json_and_raters_as_csv(client_of, open_round, engineer, rater, rate_all):
    rate_all(open_round, rater)
    assert page(client_of(engineer), "round_progress", open_round, "?format=json").json()["ratings"] == 6
    lines = text(page(client_of(engineer), "round_progress", open_round, "?format=raters")).splitlines()
    assert sorted(line.split(",")[1] for line in lines[1:]) == ["0", "6"]


def test_pairs_are_filtered_by_how_full_they_are(client_of, open_round, lead, rater, answer, rate_all):
    rate_all(open_round, rater)
    client = client_of(lead)
    counts = [
        page(client, "round_progress", open_round, f"?ratings={value}").context["listing"].count
        for value in ("none", "some", "all")
    ]
    assert counts == [0, 6, 0]


def test_grades_so_far_are_listed_by_pseudonym(client_of, open_round, lead, rater, rate_all):
    rate_all(open_round, rater, grade=3)
    response = page(client_of(lead), "round_progress", open_round, "?format=csv")
    pseudonym = open_round.raters.get(user=rater).pseudonym
    assert b"".join(response.streaming_content).decode().splitlines()[1].startswith(f"1,query 1,{pseudonym}:3,1,")


def test_leads_who_rate_do_not_see_pairs_they_may_still_grade(client_of, make_round, lead, rater, rate_all):
    round_ = make_round(raters=[lead, rater])
    rate_all(round_, rater, grade=3)
    html = text(page(client_of(lead), "round_progress", round_))
    assert html.count("hidden: you may still grade it") == 6
    rate_all(round_, lead, grade=3)
    assert "hidden: you may" not in text(page(client_of(lead), "round_progress", round_))


def test_lead_opens_and_closes(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater], opened=False)
    client = client_of(lead)
    client.post(url("round_open", round_))
    assert Round.objects.get(pk=round_.pk).state == "open"
    client.post(url("round_close", round_))
    assert Round.objects.get(pk=round_.pk).state == "closed"


def test_opening_without_raters_says_what_is_missing(client_of, make_round, lead):
    round_ = make_round(raters=[], opened=False)
    html = text(client_of(lead).post(url("round_open", round_), follow=True))
    assert "The round has no raters" in html
    assert "agreement needs two" in html


def test_closing_twice_is_reported(client_of, open_round, lead):
    rounds.close_round(open_round, actor=lead)
    assert "only an open round can be closed" in text(client_of(lead).post(url("round_close", open_round), follow=True))


def test_lead_asks_more_members(client_of, open_round, lead, rater3):
    client_of(lead).post(url("round_invite", open_round), {"raters": [rater3.username]})
    assert open_round.raters.filter(user=rater3).exists()


def test_strangers_cannot_be_invited(client_of, open_round, lead, outsider):
    response = client_of(lead).post(url("round_invite", open_round), {"raters": [outsider.username]}, follow=True)
    assert "No raters were added" in text(response)
    assert not open_round.raters.filter(user=outsider).exists()


def test_lead_who_became_an_engineer_cannot_act(client_of, open_round, lead, rater2):
    Membership.objects.filter(user=lead).update(role="engineer")
    assert client_of(lead).post(url("round_close", open_round)).status_code == 403


def test_progress_of_many_pairs_needs_few_queries(client_of, make_round, lead, rater, django_assert_max_num_queries):
    round_ = make_round(raters=[rater], queries=10, documents=5)
    client = client_of(lead)
    with django_assert_max_num_queries(55):
        page(client, "round_progress", round_)


def test_json_has_no_names(client_of, open_round, engineer, rater):
    response = page(client_of(engineer), "round_progress", open_round, "?format=json")
    assert rater.username not in json.dumps(response.json())


def test_a_nul_is_no_valid_pseudonym(client_of, open_round, lead):
    assert client_of(lead).post(url("round_invite", open_round), {"raters": "a\0b"}).status_code == 302
    assert open_round.raters.count() == 2


def test_little_remaining_work_is_shown_in_minutes():
    texts = [
        Progress(3, 6, filled, 0, [], hours).time_left for filled, hours in ((5, 0.01), (0, 30.0), (6, 0.0), (0, None))
    ]
    assert texts == ["1 min", "30.0 h", "none", None]


def test_leads_who_still_rate_do_not_see_extra_ratings(client_of, make_round, rater, rater2, lead, answer):
    """A third place where two were planned says that two grades lie far apart."""
    settings = RoundSettings(ratings_per_pair=2, extra_at=2)
    round_ = make_round(queries=1, documents=2, raters=[rater, rater2, lead], settings=settings)
    apart, alike = assignment.claim_batch(round_, rater=rater)
    assignment.claim_batch(round_, rater=rater2)
    for who, grade in ((rater, 0), (rater2, 3)):
        answer(round_, who, apart, grade)
        answer(round_, who, alike, 2)
    rows = text_of_csv(page(client_of(lead), "round_progress", round_, "?format=csv&list=pairs"))
    assert apart.slots.count() == 3
    assert sorted((row["grades"] == "hidden", row["filled"]) for row in rows) == [(False, "2"), (True, "")]
    html = text(page(client_of(lead), "round_progress", round_))
    assert "2 of 3" not in html
    assert "2 of 2" in html


def text_of_csv(response):
    import csv

    body = b"".join(response.streaming_content) if response.streaming else response.content
    return list(csv.DictReader(body.decode().splitlines()))


def test_leads_who_rate_do_not_see_progress_of_their_open_queries(
    client_of, make_round, lead, engineer, rater, rater2, rate_all
):
    """A third rating of two wanted tells that two grades lie far apart."""
    first = make_round(queries=2, documents=1, raters=[rater, rater2], settings=RoundSettings(extra_at=2))
    rate_all(first, rater, grade=0)
    rate_all(first, rater2, grade=3)
    again = make_round(queries=1, documents=1, raters=[lead], name="Again")

    def visible_queries(user):
        lines = text(page(client_of(user), "round_progress", first, "?format=queries")).splitlines()[1:]
        shown = page(client_of(user), "round_progress", first)
        return [line.split(",")[0] for line in lines], shown.context["queries"], text(shown)

    both, counted, _ = visible_queries(engineer)
    assert sorted(both) == ["query 1", "query 2"]
    assert (counted["all"], counted["begun"], counted["hidden"]) == (2, 2, 0)
    one, counted, html = visible_queries(lead)
    assert one == ["query 2"]
    assert (counted["all"], counted["begun"], counted["hidden"]) == (1, 1, 1)
    assert "1 more query with pairs that you may still grade is hidden" in html
    rate_all(again, lead, grade=1)
    assert sorted(visible_queries(lead)[0]) == ["query 1", "query 2"]


def test_raters_do_not_see_queries_of_a_large_round(client_of, open_round, lead, rater, monkeypatch):
    """Which of a million pairs one person may still be given is not looked up for a page."""
    monkeypatch.setattr(round_report, "AT_ONCE", 1)
    rounds.invite(open_round, [lead], actor=lead)
    shown = page(client_of(lead), "round_progress", open_round)
    assert shown.context["queries"]["rows"] == []
    assert len(text(page(client_of(lead), "round_progress", open_round, "?format=queries")).splitlines()) == 1
