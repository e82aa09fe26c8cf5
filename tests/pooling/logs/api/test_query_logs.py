"""Tests of the query log API: upload and sampling."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import Query
from pooling.logs import traffic
from tests.world import World

pytestmark = pytest.mark.django_db
LOGS = "/api/v1/collections/shop/query-logs/"


@pytest.fixture
def draw(api: Any, world: World) -> Any:
    return lambda **options: api.post(f"{LOGS}{world.log.uuid}/draw/", options, format="json")


def test_a_counted_log_as_a_list(api: Any) -> None:
    body = api.post(LOGS, [{"query": "lamp", "count": 7}, {"query": "rope", "count": 2}], format="json").json()
    (log,) = [row for row in api.get(LOGS).json()["results"] if row["id"] == body["id"]]
    assert (log["searches"], log["distinct"]) == (9, 2)


def test_a_raw_log_as_a_list(api: Any) -> None:
    rows = [{"query": "lamp", "timestamp": f"2026-05-0{day}T10:00:00Z", "client_id": "c1"} for day in (1, 2)]
    body = api.post(LOGS, rows, format="json").json()
    (log,) = [row for row in api.get(LOGS).json()["results"] if row["id"] == body["id"]]
    assert (log["searches"], log["distinct"], log["first_at"][:10]) == (2, 1, "2026-05-01")


def test_drawing_adds_queries_with_tier_weight_and_probability(draw: Any) -> None:
    response = draw(head=1, tail=2, seed=7)
    body = response.json()
    assert (response.status_code, body["sample"]["seed"], body["drawn"]) == (201, 7, 3)
    assert {row["query"] for row in body["queries"]} == {"tent", "stove"}  # rain jacket is there already
    assert Query.objects.get(text="rain jacket").tier == "head"


def test_tiers_by_rank_and_the_languages_of_a_log(draw: Any, api: Any) -> None:
    body = draw(head=1, head_ranks=1, torso_ranks=2).json()["sample"]
    assert (body["parameters"]["head_ranks"], body["frame"]["tiers"]["head"]["queries"]) == (1, 1)
    assert "torso_ranks" in str(draw(head=1, head_ranks=1).json())
    assert "language" in str(draw(head=1, language="de").json())
    rows = [{"query": "lamp", "language": "en"}, {"query": "Lampe", "language": "de"}]
    refused = api.post(LOGS, rows, format="json")
    assert (refused.status_code, "single_counts" in str(refused.json())) == (400, True)
    body = api.post(f"{LOGS}?single_counts=true", rows, format="json")
    (log,) = [row for row in api.get(LOGS).json()["results"] if row["id"] == body.json()["id"]]
    assert log["languages"] == {"de": 1, "en": 1}


def test_a_large_log_is_drawn_from_as_a_job(
    draw: Any, api: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(traffic, "LARGE", 0)
    with django_capture_on_commit_callbacks(execute=True):
        response = draw(head=1, tail=2)
    assert response.status_code == 202
    assert api.get(f"/api/v1/jobs/{response.json()['job']}/").json()["result"]["queries"] == 3


def test_a_tier_that_is_not_named_gives_none(draw: Any) -> None:
    assert draw(head=1).json()["drawn"] == 1


def test_drawing_by_traffic(draw: Any) -> None:
    assert draw(method="pps", n=2).json()["sample"]["method"] == "pps"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"head": -1}, "head"),
        ({"head": "ten"}, "head"),
        ({"method": "best"}, "method"),
        ({"seed": 10**30}, "seed"),
        ({"head_share": 2}, "head_share"),
        ({"window_days": 0}, "window_days"),
        ({"haed": 5}, "haed"),
        ({"token": "mine"}, "token"),
    ],
)
def test_invalid_draws_are_reported_by_field(draw: Any, options: Any, field: str) -> None:
    response = draw(**options)
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {field})


def test_an_unknown_option_draws_nothing(draw: Any, world: World) -> None:
    before = world.collection.queries.count()
    fields = draw(head=1, windowdays=30, nonsense=None).json()["error"]["fields"]
    assert set(fields) == {"windowdays", "nonsense"}
    assert "window_days" in fields["windowdays"]
    assert world.collection.queries.count() == before


def test_with_one_token_it_is_drawn_once(draw: Any, world: World) -> None:
    options = {"head": 1, "tail": 2, "token": "0b2f64a0-55cf-4b3a-8a4e-0c5b6b2c9d11"}
    first, second = draw(**options).json(), draw(**options).json()
    assert first["sample"]["id"] == second["sample"]["id"] == options["token"]
    assert (first["drawn"], second["drawn"], second["queries"]) == (3, 3, [])


@pytest.mark.parametrize("options", [{"head": 0, "torso": 0, "tail": 0}, {"head_share": 0.9, "torso_share": 0.1}])
def test_a_draw_of_nothing(draw: Any, options: Any) -> None:
    assert draw(**options).status_code == 400


def test_a_log_of_another_collection_is_not_detected(draw: Any, world: World, elsewhere: Any) -> None:
    world.log.collection = elsewhere
    world.log.save()
    assert draw(head=1).status_code == 404
