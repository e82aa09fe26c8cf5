"""Tests of the pages of growing rounds: opening, progress and the notice for raters."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.jobs import jobs
from judgments.models import Job, Round
from judgments.rounds import rounds
from pooling.models import Refill
from pooling.pools import pools
from tests.pooling.pools.growing_round import make_growing, rate
from tests.pooling.rounds.views.test_new import _form

pytestmark = pytest.mark.django_db


@pytest.fixture
def learning(example: Any, lead: Any) -> Any:
    return pools.draw_pool(example, strategy="hedge", actor=lead, runs=list(example.runs.all()), budget=2)


def test_the_form_creates_and_opens_a_growing_round(
    learning: Any, pool: Any, guidelines: Any, at: Any, client_of: Any, lead: Any, rater: Any
) -> None:
    page, browser = f"{at('round_new', learning.collection)}?pool={learning.uuid}", client_of(lead)
    shown = browser.get(page).content.decode()
    assert "Additional pairs" in shown
    assert 'name="most_pairs" value="10"' in shown
    fixed = browser.get(f"{at('round_new', learning.collection)}?pool={pool.uuid}").content.decode()
    assert "Additional pairs" not in fixed
    plan = {"goes_on": "on", "most_pairs": "4", "pairs_per_query": "", "batch": "2", "residual": "0"}
    cost = browser.post(page, _form(rater, act="cost", **plan)).content.decode()
    assert "with all additional pairs" in cost
    for wrong in ({"most_pairs": ""}, {"most_pairs": "2"}, {"batch": "99"}):
        refused = browser.post(page, _form(rater, act="open", **{**plan, **wrong}))
        assert refused.status_code == 422
    assert not Round.objects.exists()
    browser.post(page, _form(rater, act="open", **plan))
    made = Round.objects.get()
    assert (made.state, made.most_pairs, made.growing, Refill.objects.get().batch) == ("open", 4, True, 2)
    shown = browser.get(f"/rounds/{made.uuid}/progress/").content.decode()
    assert "2 of at most 4 pairs" in shown
    plain = _form(rater, name="S", act="create", guidelines=str(guidelines.uuid), **plan)
    other = pools.draw_pool(
        learning.collection, strategy="hedge", actor=lead, runs=list(learning.runs.all()), budget=1, seed=9
    )
    del plain["goes_on"]
    browser.post(f"{at('round_new', learning.collection)}?pool={other.uuid}", plain)
    assert Round.objects.get(name="S").most_pairs is None


def test_waiting_raters_see_a_message_and_the_page_refreshes(
    store: Any, collection: Any, client_of: Any, api_of: Any, lead: Any, rater: Any
) -> None:
    row = make_growing(store, collection, lead, [rater])
    station, batch = f"/rounds/{row.round.uuid}/rate/", f"/api/v1/rounds/{row.round.uuid}/batch/"
    assert "so far" in client_of(rater).get(station).content.decode()
    while rate(row.round, rater):
        pass
    shown = client_of(rater).get(station).content.decode()
    assert "The next documents are being chosen" in shown
    assert f'content="4; url={station}?waited=4"' in shown
    for waited, then in (("4", 8), ("48", 60), ("x", 4), ("-3", 4)):
        assert f'content="{then}; url=' in client_of(rater).get(f"{station}?waited={waited}").content.decode()
    waits = api_of(rater).post(batch)
    assert (waits.status_code, waits.headers["Retry-After"]) == (204, "5")
    assert api_of(rater).get(f"/api/v1/rounds/{row.round.uuid}/progress/").json()["more_may_come"] is True
    assert "the next pairs are being chosen" in client_of(rater).get("/").content.decode()
    jobs.work_on_job.func(str(row.job.uuid))
    assert "Document " in client_of(rater).get(station).content.decode()
    assert api_of(rater).post(batch).status_code == 200
    rounds.stop_growing(row.round, why="a test", actor=lead)
    while rate(row.round, rater):
        pass
    done = api_of(rater).post(batch)
    assert done.status_code == 204
    assert "Retry-After" not in done.headers
    shown = client_of(rater).get(station).content.decode()
    assert "is complete" in shown
    assert "http-equiv" not in shown


def test_pages_and_programs_stop_choosing_and_go_on(
    store: Any, collection: Any, client_of: Any, api_of: Any, lead: Any, engineer: Any, rater: Any
) -> None:
    row = make_growing(store, collection, lead, [rater])
    page, path = f"/rounds/{row.round.uuid}/progress/", f"/api/v1/rounds/{row.round.uuid}/refill/"
    Job.objects.filter(pk=row.job.pk).update(state=Job.State.FAILED, error="the file of run one is gone")
    shown = client_of(lead).get(page).content.decode()
    assert "the file of run one is gone" in shown
    assert "Resume selection" in shown
    assert "Resume selection" not in client_of(engineer).get(page).content.decode()
    body = api_of(lead).get(path).json()
    assert (body["state"], body["pairs"], body["most_pairs"], body["steps"]) == ("stopped", 12, 60, 0)
    assert api_of(lead).get(f"/api/v1/rounds/{row.round.uuid}/").json()["refill"] == body
    while rate(row.round, rater):
        pass
    station = client_of(rater).get(f"/rounds/{row.round.uuid}/rate/").content.decode()
    assert "selection of further pairs has stopped" in station
    assert "run one" not in station
    client_of(lead).post(f"/rounds/{row.round.uuid}/refill/", {"act": "go-on"})
    assert api_of(lead).post(path, {"act": "go-on"}, format="json").status_code == 409
    assert api_of(lead).get(path).json()["state"] == "choosing"
    progress = api_of(lead).get(f"/api/v1/rounds/{row.round.uuid}/progress/").json()
    assert (progress["pairs"], progress["most_pairs"], progress["most_ratings"]) == (12, 60, 60)
    stopped = api_of(lead).post(path, {"act": "stop"}, format="json").json()
    assert (stopped["state"], stopped["reason"]) == ("complete", "a lead stopped choosing pairs")
    assert "complete" in client_of(lead).get(page).content.decode()
    assert api_of(lead).post(path, {"act": "stop"}, format="json").status_code == 409


def test_the_api_creates_a_growing_round(learning: Any, api_of: Any, lead: Any, rater: Any) -> None:
    address = f"/api/v1/collections/{learning.collection.slug}/rounds/"
    options = {"name": "R", "pool": str(learning.uuid), "raters": [rater.username]}
    api = api_of(lead)
    refused = api.post(address, {**options, "refill": {"most_pairs": 2}}, format="json")
    assert "most_pairs" in refused.json()["error"]["fields"]
    made = api.post(address, {**options, "refill": {"most_pairs": 5, "batch": 1}}, format="json").json()
    assert (made["most_pairs"], made["more_may_come"], made["refill"]["state"]) == (5, True, "waiting")
    assert made["refill"]["reason"] == "the round is not open yet"
    fixed = api.post(address, {**options, "name": "S"}, format="json").json()
    assert (fixed["most_pairs"], fixed["more_may_come"], fixed["refill"]) == (None, False, None)
    assert api.get(f"/api/v1/rounds/{fixed['id']}/refill/").status_code == 404
