"""Tests of the pool API: pools and errors."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from pooling.models import Pool
from pooling.pools import pools
from tests.world import World

pytestmark = pytest.mark.django_db
POOLS = "/api/v1/collections/shop/pools/"


@pytest.fixture
def draw(api: Any, world: World) -> Any:
    runs = [str(run.uuid) for run in world.runs]
    return lambda **options: api.post(POOLS, {"strategy": "depth", "runs": runs, "seed": 1, **options}, format="json")


def test_a_pool_says_how_it_was_drawn(draw: Any, world: World) -> None:
    body = draw(depth=1).json()
    assert body["pairs"] == body["summary"]["pairs"] == 2
    assert (body["parameters"]["depth"], body["seed"]) == (1, 1)
    assert set(body["runs"]) == {str(run.uuid) for run in world.runs}


def test_null_means_no_value(draw: Any) -> None:
    assert draw(depth=3, budget=None, residual=0).json()["pairs"] == 5


def test_a_budget_and_another_strategy(draw: Any) -> None:
    assert draw(strategy="rbp", p=0.8, budget=2).json()["pairs"] == 2


def test_the_listed_pool_is_the_one_that_was_drawn(draw: Any, api: Any) -> None:
    drawn = draw(depth=1).json()
    assert api.get(POOLS).json()["results"][0] == drawn


def test_a_preview_tells_pairs_duplicates_and_minutes_and_stores_nothing(draw: Any, world: World) -> None:
    before = Pool.objects.count()
    summary = draw(depth=3, preview=True, duplicates="near", raters=2, ratings_per_pair=2)
    assert summary.status_code == 200
    assert summary.json()["summary"]["pairs"] + summary.json()["summary"]["copies"] == 5
    effort = summary.json()["effort"]
    assert effort["minutes_per_rater"] == effort["ratings"] * effort["seconds_per_rating"] / 60 / 2
    assert Pool.objects.count() == before


def test_hours_a_token_and_a_document_apart(draw: Any, api: Any, world: World) -> None:
    world.collection.documents.filter(doc_id__in=["d1", "d2"]).update(
        title="Same", text="same", fields={}, image="", stub=False
    )
    token = str(uuid.uuid4())
    options = {"depth": 3, "duplicates": "exact", "hours": 1, "raters": 3, "token": token}
    body = draw(**options).json()
    assert (body["id"], body["pairs"], body["parameters"]["total"]) == (token, 4, 270)
    assert draw(**options).json() == body
    address = f"{POOLS}{token}/duplicates/"
    (row,) = api.get(address).json()["results"]
    assert (row["doc_id"], row["copy_id"], row["why"]) == ("d1", "d2", "exact")
    pair = {"query_id": "q1", "doc_id": "d2"}
    assert api.post(address, pair, format="json").json()["pairs"] == 5
    assert api.post(address, pair, format="json").status_code == 404
    assert draw(depth=3, duplicates="exact", apart=[pair]).json()["pairs"] == 5


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"strategy": "dept"}, "strategy"),
        ({"depth": 0}, "depth"),
        ({"depth": "ten"}, "depth"),
        ({"p": 0.8}, "p"),
        ({"runs": []}, "runs"),
        ({"runs": [str(uuid.uuid4())]}, "runs"),
        ({"runs": "x"}, "runs"),
        ({"budget": 0}, "budget"),
        ({"total": 0}, "total"),
        ({"hours": 0}, "hours"),
        ({"duplicates": "same"}, "duplicates"),
        ({"duplicates": "near", "similarity": 0.3}, "similarity"),
        ({"apart": [{"query_id": "q1"}]}, "apart"),
        ({"token": "x"}, "token"),
        ({"seed": 2**63}, "seed"),
        ({"strategy": "list", "pairs": []}, "pairs"),
        ({"strategy": "list", "pairs": [1]}, "pairs"),
        ({"strategy": "list", "pairs": [{"query_id": "q1"}]}, "pairs"),
        ({"strategy": "list", "pairs": [{"query_id": "q1", "doc_id": ""}]}, "pairs"),
        ({"strategy": "list", "pairs": [{"query_id": "q1", "doc_id": "a\0"}]}, "pairs"),
        ({"strategy": "list", "pairs": [{"query_id": "strange", "doc_id": "d1"}]}, "pairs"),
        ({"strategy": "list", "pairs": {"query_id": "q1"}}, "pairs"),
    ],
)
def test_invalid_draws_are_reported_by_field(draw: Any, options: Any, field: str) -> None:
    before = Pool.objects.count()
    response = draw(**options)
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {field}), response.content
    assert Pool.objects.count() == before


def test_large_runs_are_pooled_as_a_job(
    draw: Any, api: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(pools, "LARGE", 0)
    with django_capture_on_commit_callbacks(execute=True):
        response = draw(depth=1)
    assert response.status_code == 202
    assert api.get(f"/api/v1/jobs/{response.json()['job']}/").json()["result"]["pairs"] == 2


@pytest.mark.parametrize("body", [[], "x", None, 5])
def test_a_body_that_is_no_object(api: Any, body: Any) -> None:
    assert api.post(POOLS, body, format="json").status_code == 400
