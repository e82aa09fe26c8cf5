"""Tests of the list mode of the station without JavaScript: changes, reasons, postponed rows."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.guidelines import guidelines
from judgments.models import Judgment, Round, RoundRater
from judgments.rounds import rounds

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round, rater, rater2):
    return make_round(queries=2, documents=4, raters=[rater, rater2])


@pytest.fixture
def sheet(client_of, open_round, rater):
    return PairState(client_of(rater), reverse("rate", args=[open_round.uuid]))


class PairState:
    """A rater's browser without JavaScript on the list: it sends back what the page's form holds."""

    def __init__(self, client, url):
        self.client, self.url = client, url

    def rows(self):
        self.page = self.client.get(f"{self.url}?mode=list")
        return self.page.context["rows"]

    def send(self, grades, how="save", why=None):
        """Grades by the place of the row, and why rows cannot be judged; what was checked stays checked."""
        fields = {"list": how}
        for place, row in enumerate(self.page.context["rows"]):
            pair = row.card.pair.uuid
            fields |= {f"client-{pair}": row.client_id, f"was-{pair}": row.was}
            fields[f"reason-{pair}"] = (why or {}).get(place, row.reason)
            value = grades.get(place, row.given)
            fields |= {f"pair-{pair}": value} if value != "" else {}
        return self.client.post(self.url, fields)


def mine(rater):
    return Judgment.objects.current().filter(rater=rater)


def pairs(rows):
    return [row.card.pair.uuid for row in rows]


def test_rows_stay_in_their_order_with_what_was_saved(sheet, rater):
    before = pairs(sheet.rows())
    assert len(before) == 4
    assert sheet.send({1: 3, 2: "unable"}, why={2: "language"}).status_code == 302
    rows = sheet.rows()
    assert pairs(rows) == before
    assert [row.given for row in rows] == ["", "3", "unable", ""]
    assert 'value="3"\n' in sheet.page.content.decode() or "checked" in sheet.page.content.decode()
    assert {row.how["view"] for row in mine(rater)} == {"list"}


def test_a_grade_is_changed_by_a_new_event(sheet, rater):
    sheet.rows()
    sheet.send({0: 3})
    sheet.rows()
    sheet.send({0: 1})
    assert [row.grade for row in mine(rater)] == [1]
    assert Judgment.objects.filter(rater=rater).count() == 2
    sheet.rows()
    sheet.send({})
    assert Judgment.objects.filter(rater=rater).count() == 2


@pytest.mark.parametrize("how", ["save", "later"])
def test_an_unrateable_row_needs_a_reason_and_the_others_are_saved(sheet, rater, how):
    sheet.rows()
    response = sheet.send({0: 2, 2: "unable"}, how=how)
    assert response.status_code == 422
    assert "Choose a reason in the marked rows" in response.content.decode()
    assert [(row.given, row.unsaid) for row in response.context["rows"]] == [
        ("2", False),
        ("", False),
        ("", True),
        ("", False),
    ]
    assert [(row.grade, row.state) for row in mine(rater)] == [(2, "graded")]
    sheet.page = response
    assert sheet.send({2: "unable"}, why={2: "language"}).status_code == 302
    assert mine(rater).get(state="unrateable").reason == "language"


def test_another_reason_is_another_answer_and_the_same_is_none(sheet, rater):
    sheet.rows()
    sheet.send({0: "unable"}, why={0: "other"})
    sheet.rows()
    assert 'value="other" selected' in sheet.page.content.decode()
    sheet.send({})
    assert Judgment.objects.filter(rater=rater).count() == 1
    sheet.rows()
    sheet.send({}, why={0: "document broken"})
    assert [row.reason for row in mine(rater)] == ["document broken"]
    assert Judgment.objects.filter(rater=rater).count() == 2


def test_next_query_comes_when_all_are_graded(sheet):
    first = sheet.rows()[0].card.pair.query
    sheet.send(dict.fromkeys(range(4), 2))
    assert sheet.rows()[0].card.pair.query != first


def test_remaining_rows_are_skipped_and_come_back_last(sheet, rater):
    first = sheet.rows()[0].card.pair.query
    sheet.send({0: 2}, how="later")
    assert sheet.rows()[0].card.pair.query != first
    sheet.send(dict.fromkeys(range(4), 1))
    assert {row.card.pair.query for row in sheet.rows()} == {first}
    assert len(sheet.rows()) == 3
    assert mine(rater).filter(state="later").count() == 3


def test_a_pair_graded_in_another_tab_is_not_skipped(sheet, rater):
    sheet.rows()
    stale = sheet.page
    sheet.rows()
    sheet.send({0: 2, 1: "unable"}, why={1: "other"})
    sheet.page = stale
    sheet.send({2: 3}, how="later")
    assert sorted(mine(rater).values_list("state", "grade")) == [
        ("graded", 2),
        ("graded", 3),
        ("later", None),
        ("unrateable", None),
    ]
    assert not Judgment.objects.filter(supersedes__isnull=False).exists()


def test_undo_opens_the_row_again(sheet):
    sheet.rows()
    sheet.send({0: 2})
    sheet.rows()
    sheet.client.post(sheet.url, {"undo": "1"})
    assert [row.given for row in sheet.rows()] == [""] * 4


def test_an_invalid_grade_is_refused_and_the_others_are_saved(sheet, rater):
    sheet.rows()
    sheet.send({0: 2, 1: 7})
    assert [row.grade for row in mine(rater)] == [2]
    assert "7 is not a grade of this round" in sheet.client.get(sheet.url).content.decode()
    sheet.rows()
    assert sheet.send({2: "x"}).status_code == 422


def test_lead_sets_the_way_and_the_rater_may_choose_otherwise(client_of, open_round, rater):
    Round.objects.update(as_list=True)
    client, url = client_of(rater), reverse("rate", args=[open_round.uuid])
    assert "rows" in client.get(url).context
    assert "rows" not in client.get(f"{url}?mode=one").context
    assert "rows" not in client.get(url).context
    assert "rows" in client_of(rater).get(url).context


def test_other_address_leads_to_the_station(client_of, open_round, rater):
    response = client_of(rater).get(reverse("judge", args=[open_round.uuid]))
    assert response.url == reverse("rate", args=[open_round.uuid])


def test_guideline_changes_are_shown_until_read(client_of, make_round, rate_all, rater, lead):
    first = make_round(raters=[rater], name="First")
    rate_all(first, rater)
    rounds.close_round(first, actor=lead)
    guidelines.add_version(first.collection, markdown="Grade what truly helps.", actor=lead)
    second = make_round(raters=[rater], name="Second")
    client, url = client_of(rater), reverse("rate", args=[second.uuid])
    page = client.get(url).content.decode()
    assert "version 2 replaces version 1" in page
    assert "truly" in page
    assert client.post(url, {"read": "1"}).status_code == 302
    assert "version 2 replaces version 1" not in client.get(url).content.decode()
    assert RoundRater.objects.get(round=second).guidelines_read_at is not None


def test_new_raters_see_no_change_notice(client_of, make_round, rater, lead, collection):
    guidelines.add_version(collection, markdown="Old.", actor=lead)
    guidelines.add_version(collection, markdown="New.", actor=lead)
    url = reverse("rate", args=[make_round(raters=[rater]).uuid])
    assert client_of(rater).get(url).context["news"] is None
