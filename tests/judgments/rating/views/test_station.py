"""Tests of the rater station without JavaScript: grading, undo, postponed pairs, hidden data."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from judgments.models import Document, Judgment, Pair, Slot
from judgments.rating import submission
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def open_round(make_round, rater, rater2):
    return make_round(raters=[rater, rater2])


@pytest.fixture
def station(client_of, open_round, rater):
    return Station(client_of(rater), open_round)


class Station:
    """A rater's browser without JavaScript: it sends back what the page's form holds."""

    def __init__(self, client, round_):
        self.client, self.url = client, reverse("rate", args=[round_.uuid])

    def open(self, query=""):
        self.page = self.client.get(self.url + query)
        return self.page

    def html(self):
        return self.open().content.decode()

    def send(self, **fields):
        context = self.page.context
        hidden = {"pair": context["pair"].uuid, "client_id": context["client_id"]}
        return self.client.post(self.url, {**hidden, **fields})

    def grade(self, value, **fields):
        self.open()
        return self.send(grade=value, **fields)


def mine(rater):
    return Judgment.objects.current().filter(rater=rater)


def test_grade_is_recorded_and_the_next_document_comes_by_a_get(station, rater):
    first = station.open().context["pair"]
    response = station.send(grade=2)
    assert (response.status_code, response.url) == (302, station.url)
    assert mine(rater).get(pair=first).grade == 2
    assert station.open().context["pair"] != first


def test_reloading_the_page_keeps_the_document(station):
    assert station.open().context["pair"] == station.open().context["pair"]


def test_page_says_what_was_saved_and_offers_undo(station):
    station.grade(2)
    html = station.html()
    assert "Saved 2, Good." in html
    assert '<button name="undo" value="1"' in html


def test_sending_the_same_form_twice_records_it_once(station, rater):
    station.open()
    station.send(grade=2)
    station.send(grade=2)
    assert mine(rater).count() == 1


def test_undo_brings_the_document_back(station, rater):
    first = station.open().context["pair"]
    station.send(grade=0)
    station.open()
    response = station.send(undo=1)
    assert station.client.get(response.url).context["pair"] == first
    assert not mine(rater).exists()


def test_undo_with_nothing_to_undo_says_so(station):
    station.open()
    station.send(undo=1)
    assert "There is nothing to undo" in station.html()


def test_cannot_judge_keeps_reason_and_note(station, rater):
    station.open()
    station.send(state="unrateable", reason="language", note="Finnish, I think")
    judgment = mine(rater).get()
    assert (judgment.state, judgment.reason, judgment.note) == ("unrateable", "language", "Finnish, I think")


def test_later_comes_back_when_nothing_else_is_left(station, rater, rate_all):
    put_off = station.open().context["pair"]
    station.send(state="later")
    for _ in range(5):
        station.grade(1)
    assert station.open().context["pair"] == put_off


def test_measured_times_are_stored(station, rater):
    station.grade(1, seconds_active="12.5", seconds_away="3")
    judgment = mine(rater).get()
    assert (judgment.seconds_active, judgment.seconds_away) == (12.5, 3.0)


@pytest.mark.parametrize("nonsense", ["", "nan", "-1", "inf", "soon"])
def test_nonsense_times_are_unknown(station, rater, nonsense):
    station.grade(1, seconds_active=nonsense)
    assert mine(rater).get().seconds_active is None


def test_times_without_end_are_cut_to_a_day(station, rater):
    station.grade(1, seconds_active="1e9")
    assert mine(rater).get().seconds_active == 86400


@pytest.mark.parametrize("grade", ["7", "", "two", "²", "-1"])
def test_grade_off_the_scale_brings_the_document_back_with_the_note(station, rater, grade):
    pair = station.open().context["pair"]
    response = station.send(grade=grade, note="my note")
    assert (response.status_code, response.context["pair"]) == (422, pair)
    assert "my note" in response.content.decode()
    assert not mine(rater).exists()


def test_pair_of_another_rater_gives_409(station, open_round, rater):
    station.open()
    stranger = open_round.pairs.exclude(handouts__rater=rater).first()
    assert station.send(pair=stranger.uuid, grade=1).status_code == 409


def test_form_with_broken_hidden_fields_is_refused(station):
    station.open()
    assert station.send(client_id="x", grade=1).status_code == 422


def test_the_position_counts_within_the_query_and_in_total(station):
    for _ in range(3):
        station.grade(1)
    html = station.html()
    assert "Document 1 of 3" in html
    assert "Query 2 of 2" in html


def test_nothing_left_says_what_next(station, rater, open_round, rate_all):
    rate_all(open_round, rater)
    assert "left for other raters" in station.html()


def test_done_round_says_thank_you(station, rater, rater2, open_round, rate_all):
    rate_all(open_round, rater)
    rate_all(open_round, rater2)
    assert "is complete" in station.html()


def test_closed_round_says_so_and_takes_no_answer(station, open_round, lead):
    station.open()
    rounds.close_round(open_round, actor=lead)
    assert station.send(grade=1).status_code == 410
    assert "is closed" in station.html()


def test_draft_is_not_open_yet(client_of, make_round, rater):
    draft = make_round(raters=[rater], opened=False)
    assert "is not open yet" in Station(client_of(rater), draft).html()


def test_raters_outside_the_round_are_refused(client_of, open_round, rater3, engineer, outsider):
    url = reverse("rate", args=[open_round.uuid])
    assert [client_of(user).get(url).status_code for user in (rater3, engineer, outsider)] == [403, 403, 404]


def test_station_tells_nothing_about_systems_or_others(station, open_round, rater2, answer):
    for slot in Slot.objects.filter(round=open_round, number=2):
        Slot.objects.filter(pk=slot.pk).update(rater=rater2)
    Pair.objects.filter(round=open_round).update(origin={"strategy": "SECRET-strategy", "runs": {"SECRET-run": 4}})
    html = station.html()
    assert "SECRET" not in html
    assert rater2.username not in html


def test_words_of_the_query_are_marked_in_the_document(station, open_round):
    Document.objects.update(title="Query Größe", text="<p>A QUERY, queries &amp; more</p>")
    html = station.html()
    assert "<mark>Query</mark> Größe" in html
    assert "A <mark>QUERY</mark>" in html


def test_script_in_a_document_is_taken_out(station):
    Document.objects.update(title="<script>alert(1)</script>", text="<p onclick='x()'>Hi</p><script>alert(2)</script>")
    article = station.html().split("<article")[1].split("</article>")[0]
    assert "<script" not in article
    assert "onclick" not in article
    assert "&lt;script&gt;" in article


def test_address_that_runs_script_is_no_link(station):
    Document.objects.update(url="javascript:alert(1)", image="javascript:alert(1)")
    assert "javascript:" not in station.html()


@pytest.mark.parametrize("view", ["one", "list"])
def test_a_page_over_tls_says_why_it_shows_no_picture_in_the_clear(client_of, open_round, rater, view, settings):
    settings.REMOTE_IMAGES = True
    client, url = client_of(rater), reverse("rate", args=[open_round.uuid])
    results = {}
    for scheme in ("http", "https"):
        Document.objects.update(image=f"{scheme}://shop.example/1.jpg")
        for secure in (False, True):
            response = client.get(url, {"mode": view}, secure=secure)
            html = response.content.decode()
            results[scheme, secure] = f'src="{scheme}://shop.example/1.jpg"' in html, "is not encrypted" in html
            assert (" http:" in response.headers["Content-Security-Policy"]) is not secure
    assert results.pop(("http", True)) == (False, True)
    assert set(results.values()) == {(True, False)}


def test_a_picture_without_an_address_of_the_web_says_so(station):
    Document.objects.update(image="pictures/1.jpg")
    assert "its address does not start with" in station.html()


def test_document_without_content_says_so(station):
    Document.objects.update(stub=True, title="", text="")
    assert "has not been imported yet" in station.html()


def test_fields_are_shown_as_words(station):
    Document.objects.update(fields={"brand": "Fell", "sizes": ["S", "M"], "nested": {"a": 1}, "empty": ""})
    assert station.open().context["facts"] == [("brand", "Fell"), ("sizes", "S, M")]


def test_scale_of_the_round_makes_the_buttons(client_of, make_round, rater):
    grades = [(value, f"Grade {value}", "") for value in range(12)]
    html = Station(client_of(rater), make_round(raters=[rater], grades=grades)).html()
    assert html.count('name="grade"') == 12
    assert 'aria-keyshortcuts="9"' in html
    assert 'aria-keyshortcuts="10"' not in html


def test_answer_by_another_client_id_changes_the_mind(station, open_round, rater):
    pair = station.open().context["pair"]
    station.send(grade=1)
    again = submission.Answer(uuid.uuid4(), pair.uuid, 3)
    submission.submit(open_round, again, rater=rater)
    assert mine(rater).get(pair=pair).grade == 3


def test_page_asks_the_database_as_often_in_a_larger_round(client_of, make_round, rater, django_assert_max_num_queries):
    requests = []
    for number, documents in enumerate((3, 30)):
        station = Station(client_of(rater), make_round(raters=[rater], documents=documents, name=f"Round {number}"))
        station.grade(1)
        with django_assert_max_num_queries(50) as captured:
            station.open()
        requests.append(len(captured))
    assert requests[0] == requests[1]


def test_a_nul_loses_no_answer(station, rater):
    assert station.grade(2, note="a\0b").status_code == 302
    station.open()
    assert station.send(state="unrateable", reason="other\0").status_code == 302
    assert [(row.note, row.reason) for row in mine(rater)] == [("ab", ""), ("", "other")]
