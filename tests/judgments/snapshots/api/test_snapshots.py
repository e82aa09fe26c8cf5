"""API tests of freezing: equal hashes for equal labels, refused rounds."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def freeze(world: World, lead: Any, api_of: Any) -> Any:
    api = api_of(lead)

    def send(**changes: Any) -> Any:
        request = {"name": "second", "rounds": [str(world.closed.uuid)], **changes}
        return api.post("/api/v1/collections/shop/snapshots/", request, format="json")

    return send


def test_the_same_labels_have_the_same_hash(freeze: Any, world: World) -> None:
    response = freeze()
    assert response.status_code == 201
    assert response.json()["content_sha256"] == world.snapshot.content_sha256
    assert response.json()["rounds"] == [str(world.closed.uuid)]


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"name": "first"}, 409, "name"),
        ({"name": ""}, 400, "name"),
        ({"rounds": []}, 400, "rounds"),
        ({"rounds": [str(uuid.uuid4())]}, 400, "rounds"),
        ({"rounds": ["x"]}, 400, "rounds"),
        ({"rule": "medain"}, 400, "rule"),
        ({"sources": ["machine"]}, 400, "sources"),
        ({"merge": "oldest"}, 400, "merge"),
    ],
)
def test_invalid_snapshots(freeze: Any, changes: Any, status: int, field: str) -> None:
    response = freeze(**changes)
    assert (response.status_code, set(response.json()["error"]["fields"])) == (status, {field})


def test_a_round_of_another_collection_is_none(freeze: Any, world: World, elsewhere: Any) -> None:
    world.closed.collection = elsewhere
    world.closed.save()
    assert set(freeze().json()["error"]["fields"]) == {"rounds"}
