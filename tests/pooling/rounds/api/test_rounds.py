"""Tests of the API that makes a round of a pool."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from judgments.models import GuidelinesVersion, Round
from tests.world import World

pytestmark = pytest.mark.django_db
ROUNDS = "/api/v1/collections/shop/rounds/"


@pytest.fixture
def make(api: Any, world: World, rater: Any) -> Any:
    options = {"name": "Autumn", "pool": str(world.pool.uuid), "raters": [rater.username]}
    return lambda **more: api.post(ROUNDS, {**options, **more}, format="json")


def test_the_usual_scale_when_none_is_given(make: Any) -> None:
    body = make(scale=None).json()
    assert [grade["label"] for grade in body["scale"]["grades"]] == ["Poor", "Fair", "Good", "Perfect"]
    assert (body["state"], body["ratings_per_pair"], body["overlap"], body["pairs"]) == ("draft", 2, 1.0, 5)


def test_settings_are_returned_with_the_round_and_change_by_the_same_names(make: Any, api: Any) -> None:
    body = make(extra_at=2, gold_every=10, overlap=0.5).json()
    assert {name: body["settings"][name] for name in ("extra_at", "gold_every", "overlap")} == {
        "extra_at": 2,
        "gold_every": 10,
        "overlap": 0.5,
    }
    address = f"/api/v1/rounds/{body['id']}/"
    changed = api.patch(address, {"extra_at": None, "as_list": True}, format="json").json()["settings"]
    assert (changed["extra_at"], changed["as_list"], changed["gold_every"]) == (None, True, 10)
    for name, value in [("overlap", 0.2), ("scale", {}), ("pool", "x"), ("as_lists", True), ("pass_mark", 7)]:
        refused = api.patch(address, {name: value}, format="json")
        assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, {name})


def test_from_which_grade_on_a_document_is_relevant(make: Any) -> None:
    grades = [{"value": value, "label": f"G{value}"} for value in range(4)]
    assert make(scale=None).json()["scale"]["relevant_from"] == 1
    assert make(name="B", scale={"grades": grades, "relevant_from": 2}).json()["scale"]["relevant_from"] == 2
    for value in (0, 4):
        refused = make(name="C", scale={"grades": grades, "relevant_from": value})
        assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, {"relevant_from"})


def test_a_scale_of_ones_own(make: Any) -> None:
    grades = [{"value": 0, "label": "No"}, {"value": 1, "label": "Yes", "cue": "It helps."}]
    body = make(scale={"grades": grades}).json()
    assert body["scale"]["grades"] == [{"value": 0, "label": "No", "cue": ""}, grades[1]]


@pytest.mark.parametrize("text", [None, "", "Grade 0 to 3.", "\r\nGrade 0 to 3.\r\n"])
def test_the_newest_guidelines_when_they_say_the_same(make: Any, text: str | None) -> None:
    assert make(guidelines=text).json()["guidelines_version"] == 1


def test_another_text_becomes_the_next_version(make: Any) -> None:
    assert make(guidelines="# Grade\nwith care").json()["guidelines_version"] == 2
    assert GuidelinesVersion.objects.get(number=2).markdown == "# Grade\nwith care\n"


def test_a_round_that_is_refused_leaves_no_guidelines(make: Any) -> None:
    assert make(name="Open", guidelines="Something new").status_code == 409
    assert GuidelinesVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"pool": str(uuid.uuid4())}, "pool"),
        ({"pool": "x"}, "pool"),
        ({"name": ""}, "name"),
        ({"ratings_per_pair": 0}, "ratings_per_pair"),
        ({"overlap": 1.5}, "overlap"),
        ({"raters": ["nobody"]}, "raters"),
        ({"raters": ["emil"]}, "raters"),
        ({"scale": {"grades": [{"value": 0, "label": "No"}]}}, "scale"),
        ({"scale": {"grades": [{"value": 0, "label": "No"}, {"value": 0, "label": "Yes"}]}}, "scale"),
        ({"scale": {"grades": [{"value": 0, "label": "No"}, {"value": 2**40, "label": "Yes"}]}}, "scale"),
        ({"scale": []}, "scale"),
        ({"seed": "x"}, "seed"),
        ({"gold_every": 1}, "gold_every"),
        ({"extra_at": 4}, "extra_at"),
        ({"gate_coefficient": "kappa"}, "gate_coefficient"),
        # Belongs into refill, and was passed over in silence once.
        ({"most_pairs": 100}, "most_pairs"),
        ({"rating_per_pair": 3}, "rating_per_pair"),
        ({"refill": {"most_pairs": 100, "batches": 2}}, "refill"),
    ],
)
def test_invalid_rounds_are_reported_by_field(make: Any, options: Any, field: str) -> None:
    before = Round.objects.count()
    response = make(**options)
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {field}), response.content
    assert Round.objects.count() == before


def test_the_list_can_be_requested_by_state(api: Any) -> None:
    assert [row["name"] for row in api.get(f"{ROUNDS}?state=open").json()["results"]] == ["Open"]


def test_a_pool_of_another_collection_is_none(make: Any, world: World, elsewhere: Any) -> None:
    world.pool.collection = elsewhere
    world.pool.save()
    assert set(make().json()["error"]["fields"]) == {"pool"}
