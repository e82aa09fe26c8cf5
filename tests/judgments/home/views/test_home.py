"""Tests of the home page: collections by role, open work, the number of pairs left."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from judgments.home.views import open_work
from judgments.models import Round, RoundRater, Slot
from judgments.progress import progress
from judgments.rating import assignment, submission
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round, rater):
    return make_round(name="First round", queries=1, documents=3, raters=[rater], ratings_per_pair=1)


def test_newcomer_with_the_right_is_led_to_a_new_collection(client_of, lead):
    assert reverse("collection_new") in client_of(lead).get(reverse("home")).content.decode()


def test_staff_see_their_collections(client_of, collection, engineer):
    assert reverse("collection", args=["shop"]) in client_of(engineer).get(reverse("home")).content.decode()


def test_rater_sees_work_and_no_way_into_the_collection(client_of, round_, rater):
    html = client_of(rater).get(reverse("home")).content.decode()
    assert "First round" in html
    assert reverse("collection", args=["shop"]) not in html


def test_raters_without_work_see_a_message(client_of, round_, rater2):
    assert "No work right now" in client_of(rater2).get(reverse("home")).content.decode()


def test_work_counts_what_is_left(round_, rater, rater2, answer):
    first, second, third = assignment.claim_batch(round_, rater=rater, size=3)
    answer(round_, rater, first)
    answer(round_, rater, second, None, state="later")
    Slot.objects.filter(pair=third).update(rater=rater2, lease_until=timezone.now() + assignment.LEASE)
    assert [(work.graded, work.left) for work in open_work(rater)] == [(1, 1)]


def test_work_counts_what_others_let_go(round_, rater, rater2):
    RoundRater.objects.get_or_create(round=round_, user=rater2, defaults={"pseudonym": "r77"})
    before = open_work(rater)[0].left
    assignment.claim_batch(round_, rater=rater2, size=50)
    Slot.objects.filter(rater=rater2).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert open_work(rater)[0].left == before == assignment.remaining(round_, rater)


def test_closed_round_is_no_work(round_, rater):
    Round.objects.filter(pk=round_.pk).update(state="closed")
    assert open_work(rater) == []


def test_removed_member_has_no_work(round_, rater, collection):
    collection.memberships.get(user=rater).delete()
    assert open_work(rater) == []


def test_raters_and_leads_see_the_same_progress(make_round, rater, rater2):
    """Two raters and one rating a pair: each could get all six pairs, and half of them is theirs."""
    round_ = make_round(raters=[rater, rater2], ratings_per_pair=1)
    (work,) = open_work(rater)
    lead_sees = {one.username: one.left for one in progress.progress(round_).raters}
    assert (work.left, work.part) == (6, 3)
    assert lead_sees[rater.username] == work.part


@pytest.mark.parametrize(
    ("raters", "settings", "part"),
    [(2, RoundSettings(ratings_per_pair=1), 3), (3, RoundSettings(ratings_per_pair=2, extra_at=2), 4)],
)
def test_home_station_and_api_tell_a_rater_one_number(
    make_round, rater, rater2, rater3, client_of, api_of, raters, settings, part
):
    round_ = make_round(raters=[rater, rater2, rater3][:raters], settings=settings)
    browser, api = client_of(rater), api_of(rater, ("rate", "read"))

    def shown_progress():
        (work,) = open_work(rater)
        station = browser.get(reverse("rate", args=[round_.uuid])).content.decode()
        body = api.get(f"/api/v1/rounds/{round_.uuid}/progress/").json()
        on_station = re.search(r'aria-label="(\d+) answered, (\d+) left', station)
        home = browser.get(reverse("home")).content.decode().replace("your share is done", "0 left")
        on_home = re.search(r"(\d+) answered, (\d+) left", home)
        assert body["remaining"] == work.left
        (mine,) = body["raters"]
        return [on_station.groups(), on_home.groups(), (str(mine["graded"]), str(mine["left"]))], work.left

    for answers in range(part + 1):
        assert shown_progress() == ([(str(answers), str(part - answers))] * 3, 6 - answers)
        (pair,) = assignment.claim_batch(round_, rater=rater, size=1)
        submission.submit(round_, submission.Answer(uuid.uuid4(), pair.uuid, 1), rater=rater)
    # Beyond their part there is nothing left of it, whatever else can come.
    station = browser.get(reverse("rate", args=[round_.uuid])).content.decode()
    assert (f"{part + 1} answered, 0 left" in station, open_work(rater)[0].left) == (True, 6 - part - 1)
