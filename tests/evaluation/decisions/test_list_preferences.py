"""Tests of comparing whole lists: blind, mirrored, and apart from the grades."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from assay.core.errors import Conflict, NotValid
from evaluation.decisions import decisions, findings, list_preferences, live
from evaluation.models import ListPreference
from judgments.members import round_raters
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture
from tests.evaluation.decisions.conftest import lists, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def decision(start: Any) -> Any:
    return start(*lists(0.5, queries=30), closes=False)


def test_a_judge_sees_each_query_once_in_the_order_of_the_decision(start: Any, rater2: Any) -> None:
    decision = start(*lists(0.5, queries=8, same=3))
    judge = list_preferences.join(decision, rater2)
    seen = []
    while shown := list_preferences.next_lists(judge):
        seen.append(shown.query.query_id)
        list_preferences.prefer(judge, shown.candidate, shown.query, side="same")
    assert seen == [query_id for query_id in decision.order if query_id >= "q003"]
    assert shown is None


def test_sides_are_mirrored_and_a_side_means_the_system_on_it(decision: Any, rater2: Any, rater3: Any) -> None:
    sides = []
    for user in (rater2, rater3):
        judge = list_preferences.join(decision, user)
        while shown := list_preferences.next_lists(judge):
            run = decision.candidates.get().run
            of_candidate = list(decisions.lists_of(decision, run)[shown.query.query_id])
            assert ([one.doc_id for one in shown.left] == of_candidate) == shown.candidate_left
            sides.append(shown.candidate_left)
            made = list_preferences.prefer(judge, shown.candidate, shown.query, side="left")
            assert made.choice == ("candidate" if shown.candidate_left else "baseline")
    assert 15 < sum(sides) < 45


def test_preferences_do_not_change_the_verdict(decision: Any, rater: Any, rater2: Any) -> None:
    rate(decision, rater)
    before = live.standing(decision, decision.candidates.get().run).outcome.to_dict()
    judge = list_preferences.join(decision, rater2)
    while shown := list_preferences.next_lists(judge):
        side = "right" if shown.candidate_left else "left"
        list_preferences.prefer(judge, shown.candidate, shown.query, side=side)
    assert live.standing(decision, decision.candidates.get().run).outcome.to_dict() == before
    summary = findings.page(decision)["parts"][0].lists
    assert (summary.people, summary.queries, summary.baseline, summary.candidate) == (1, 30, 30, 0)
    assert summary.mean == -1.0
    assert summary.high < 0


def test_a_newer_preference_replaces_an_earlier_one(decision: Any, rater2: Any) -> None:
    judge = list_preferences.join(decision, rater2)
    shown = list_preferences.next_lists(judge)
    assert shown is not None
    for side in ("left", "same"):
        list_preferences.prefer(judge, shown.candidate, shown.query, side=side)
    summary = list_preferences.summary(decision, shown.candidate)
    assert summary is not None
    assert (summary.same, summary.candidate + summary.baseline) == (1, 0)


def test_who_rates_the_documents_does_not_see_their_lists(decision: Any, rater: Any, lead: Any) -> None:
    with pytest.raises(Conflict):
        list_preferences.join(decision, rater)
    rounds.close_round(decision.round, actor=lead)
    assert list_preferences.join(decision, rater)


def test_who_saw_lists_is_handed_no_documents_of_their_queries(
    decision: Any, rater2: Any, rater3: Any, lead: Any
) -> None:
    list_preferences.join(decision, rater2)
    with pytest.raises(NotValid) as caught:
        round_raters.invite(decision.round, [rater2, rater3], actor=lead)
    assert rater2.username in caught.value.fields["raters"]
    round_raters.invite(decision.round, [rater3], actor=lead)


def test_another_round_of_the_same_queries_is_barred_too(decision: Any, rater2: Any, lead: Any) -> None:
    list_preferences.join(decision, rater2)
    run = decision.candidates.get().run
    with pytest.raises(NotValid):
        decisions.start(
            decision.baseline,
            [run],
            actor=lead,
            name="again",
            settings=decisions.Settings(metric="DCG@3"),
            raters=[rater2],
        )


def test_the_page_names_no_system_and_forgets_the_last_answer(decision: Any, rater2: Any, client_of: Any) -> None:
    browser = client_of(rater2)
    page = reverse("decision_lists", args=["shop", decision.uuid])
    assert browser.get(page).context["judge"] is None
    browser.post(page, {"begin": "1"})
    shown = browser.get(page)
    html = shown.content.decode()
    assert "current" not in html.replace("aria-current", "")
    assert not ListPreference.objects.exists()
    answer = {"query": shown.context["shown"].query.uuid, "candidate": shown.context["shown"].candidate.run.uuid}
    browser.post(page, {**answer, "side": "left"})
    assert ListPreference.objects.count() == 1
    browser.post(page, {**answer, "side": "both"})
    assert ListPreference.objects.count() == 1
    browser.post(page, {"undo": "1"})
    assert not ListPreference.objects.exists()


def test_who_is_to_rate_a_draft_does_not_see_its_lists(decision: Any, rater2: Any, lead: Any) -> None:
    rounds.draft_of(decision.round, list(decision.round.pairs.all()), origin={}, actor=lead, raters=[rater2])
    with pytest.raises(Conflict):
        list_preferences.join(decision, rater2)


def test_lists_are_compared_by_api(decision: Any, api_of: Any, rater: Any, rater2: Any, lead: Any) -> None:
    there = f"/api/v1/collections/shop/decisions/{decision.uuid}/"
    api, compared = api_of(rater2), []
    while (response := api.post(f"{there}lists/next/", format="json")).status_code == 200:
        body = response.json()
        assert not {"candidate", "candidate_left", "run"} & body.keys()
        compared.append(body["query"]["id"])
        better = max(("left", "right"), key=lambda side: sum(int(one["id"][-1]) for one in body[side]))
        sent = {"query": compared[-1], "comparison": body["comparison"], "side": better}
        assert api.post(f"{there}preferences/", sent, format="json").status_code == 204
    assert compared == decision.order
    rate(decision, rater)
    summary = api_of(lead).get(there).json()["candidates"][0]["preferences"]
    assert (summary["people"], summary["queries"], summary["candidate"] > summary["baseline"]) == (1, 30, True)
    assert api.delete(f"{there}preferences/").status_code == 204
    assert api.post(f"{there}lists/next/").json()["query"]["id"] == compared[-1]


def test_bad_preferences_by_api(decision: Any, api_of: Any, rater: Any, rater2: Any) -> None:
    there = f"/api/v1/collections/shop/decisions/{decision.uuid}/"
    assert api_of(rater).post(f"{there}lists/next/").status_code == 409
    api = api_of(rater2)
    body = api.post(f"{there}lists/next/").json()
    sent = {"query": body["query"]["id"], "comparison": body["comparison"], "side": "left"}
    for change, status in (
        ({"side": "both"}, 400),
        ({"query": "unknown"}, 404),
        ({"comparison": "00000000-0000-4000-8000-000000000000"}, 404),
        ({"grade": 3}, 400),
    ):
        assert api.post(f"{there}preferences/", {**sent, **change}, format="json").status_code == status
    assert api.delete(f"{there}preferences/").status_code == 409
