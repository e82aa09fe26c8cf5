"""Tests of the endpoints for the station script: batches, positions, hidden data, errors as JSON."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from judgments.models import Document, Judgment, Pair, RoundRater, Slot
from judgments.rating import assignment
from judgments.rating.views import station_data
from judgments.rounds import rounds
from tests.world import grade_together

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round, rater, rater2):
    return make_round(queries=2, documents=10, raters=[rater, rater2])


@pytest.fixture
def ask(client_of, open_round, rater):
    """``ask(have)``: the next cards for a browser that holds these pairs."""
    client = client_of(rater)
    address = reverse("rate_next", args=[open_round.uuid])
    return lambda have=(): client.post(address, {"have": list(have)})


def test_cards_come_in_batches_and_none_twice(ask):
    first = [card["pair"] for card in ask().json()["cards"]]
    more = [card["pair"] for card in ask(first).json()["cards"]]
    assert len(first) == station_data.BATCH
    assert len(set(first + more)) == 20
    assert ask(first + more).json()["cards"] == []


def test_places_run_on_over_what_the_browser_holds(ask):
    places = [card["place"] for card in ask().json()["cards"]]
    assert places[:10] == [f"{number} of 10" for number in range(1, 11)]
    assert places[10] == "1 of 10"
    first = [card["pair"] for card in ask().json()["cards"]][:5]
    assert ask(first).json()["cards"][0]["place"] == "6 of 10"


@pytest.mark.slow
def test_places_are_right_whenever_an_answer_comes_between(client_of, make_round, rater, rater2):
    """An answer that is on its way with the request may be taken at any moment of it."""
    client = client_of(rater)
    for moment in range(80):
        round_ = make_round(queries=1, documents=6, raters=[rater, rater2], name=f"At {moment}")
        first, second = assignment.claim_batch(round_, rater=rater, size=2)
        between = _Between(moment, lambda: grade_together(round_, rater, {first.uuid: 2}))  # noqa: B023
        with connection.execute_wrapper(between):
            response = client.post(
                reverse("rate_next", args=[round_.uuid]), {"have": [str(first.uuid), str(second.uuid)]}
            )
        assert [card["place"] for card in response.json()["cards"]] == [f"{n} of 6" for n in (3, 4, 5, 6)], moment
        if not between.done:
            break
    assert 10 < moment < 79


class _Between:
    """Do something once, before the given query of those outside of any transaction of Assay's own."""

    def __init__(self, moment: int, act: Callable[[], object]) -> None:
        self.left, self.act, self.done = moment, act, False

    def __call__(self, execute: Any, *arguments: Any) -> Any:
        if not self.done and not connection.savepoint_ids:
            self.done = self.left == 0
            self.left -= 1
            if self.done:
                self.act()
        return execute(*arguments)


def test_cards_are_what_the_page_without_script_shows(client_of, ask, open_round, rater):
    page = client_of(rater).get(reverse("rate", args=[open_round.uuid])).content.decode()
    first = ask().json()["cards"][0]
    squeezed = "".join(page.split())
    assert "".join(first["ask"].split()) in squeezed
    assert "".join(first["document"].split()) in squeezed


def test_a_long_text_comes_with_its_fragment(ask):
    Document.objects.update(text="<p>One sentence. </p>" * 400 + "<p>The last word is zebra.</p>")
    card = ask().json()["cards"][0]
    assert "zebra" in card["whole"]
    assert "zebra" not in card["document"]
    assert card["kind"] == "excerpt"


def test_reassigned_pairs_are_reported(ask, open_round, rater, rater2, rater3):
    held = [card["pair"] for card in ask().json()["cards"]]
    slots = Slot.objects.filter(rater=rater, pair__uuid=held[0])
    slots.update(lease_until=timezone.now() - timedelta(minutes=1))
    assert ask(held).json()["gone"] == []  # whoever is there gets the lease anew
    for slot, user in zip(Slot.objects.filter(pair__uuid=held[1]), (rater2, rater3), strict=True):
        Slot.objects.filter(pk=slot.pk).update(rater=user, lease_until=timezone.now() + timedelta(minutes=5))
    assert ask(held).json()["gone"] == [held[1]]


def test_a_refresh_of_the_list_assigns_no_pairs(client_of, open_round, rater, rater2, rater3):
    client, address = client_of(rater), reverse("rate_next", args=[open_round.uuid])
    held = [str(pair.uuid) for pair in assignment.claim_batch(open_round, rater=rater, size=3)]
    for slot, user in zip(Slot.objects.filter(pair__uuid=held[1]), (rater2, rater3), strict=True):
        Slot.objects.filter(pk=slot.pk).update(rater=user, lease_until=timezone.now() + timedelta(minutes=5))
    body = client.post(address, {"have": [held[0], held[1]], "looks": "1"}).json()
    assert (body["cards"], body["gone"]) == ([], [held[1]])
    assert Slot.objects.filter(rater=rater).count() == 2


def test_cards_tell_nothing_about_systems_or_others(ask, open_round, rater2):
    Pair.objects.filter(round=open_round).update(origin={"strategy": "SECRET-strategy", "runs": {"SECRET-run": 4}})
    text = ask().content.decode()
    assert "SECRET" not in text
    assert rater2.username not in text


def test_the_script_gets_errors_as_json(client_of, ask, open_round, lead, engineer, outsider):
    address = reverse("rate_next", args=[open_round.uuid])
    statuses = [client_of(user).post(address).status_code for user in (None, outsider, engineer, lead)]
    assert statuses == [401, 404, 403, 403]
    rounds.close_round(open_round, actor=lead)
    refused = ask()
    assert (refused.status_code, refused.json()["error"]["code"]) == (410, "closed")


def test_paused_raters_see_the_reason(client_of, ask, open_round, rater):
    RoundRater.objects.filter(user=rater).update(paused_at=timezone.now(), pause_reason="Let us talk first.")
    assert ask().status_code == 403
    page = client_of(rater).get(reverse("rate", args=[open_round.uuid]))
    assert page.status_code == 200
    assert "Let us talk first." in page.content.decode()


def test_nonsense_in_what_is_held_is_passed_over(ask):
    stranger = str(uuid.uuid4())
    answer = ask(["x", stranger]).json()
    assert len(answer["cards"]) >= station_data.BATCH
    assert answer["gone"] == [stranger]


def test_huge_texts_and_mere_markup_are_shown_as_far_as_they_can_be(client_of, ask, open_round, rater):
    documents = Document.objects.order_by("pk")
    documents.filter(doc_id__endswith="1").update(text="A tent for rain. " * 300_000)
    documents.exclude(doc_id__endswith="1").update(
        text="<script>let a = 1</script><img src=x><style>b {}</style>" * 500
    )
    cards = ask().json()["cards"]
    assert max(len(card["document"]) + len(card["whole"]) for card in cards) < 1_000_000
    assert any("est is not shown" in card["document"] for card in cards)
    assert any("only markup" in card["document"] for card in cards)
    assert not any("<script" in card["document"] + card["whole"] for card in cards)
    assert client_of(rater).get(reverse("rate", args=[open_round.uuid])).status_code == 200


def test_answers_are_recorded_for_who_gave_them_only(client_of, ask, open_round, rater, rater2):
    pair = ask().json()["cards"][0]["pair"]
    address = f"/api/v1/rounds/{open_round.uuid}/judgments/"
    body = {"client_id": str(uuid.uuid4()), "pair": pair, "grade": 2, "how": {"by": "key", "rank": 3}}
    statuses = [
        client_of(user)
        .post(address, body, content_type="application/json", headers={"X-Assay-Rater": str(rater.uuid)})
        .status_code
        for user in (rater2, rater)
    ]
    assert statuses == [401, 201]
    next_ = reverse("rate_next", args=[open_round.uuid])
    left_open = client_of(rater2).post(next_, headers={"X-Assay-Rater": str(rater.uuid)})
    assert (left_open.status_code, Slot.objects.filter(rater=rater2).count()) == (401, 0)
    judgment = Judgment.objects.get()
    assert (judgment.rater, judgment.how) == (rater, {"by": "key"})
