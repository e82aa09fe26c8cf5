"""Tests of the scoring API."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from evaluation.models import Scoring
from evaluation.scoring import scoring
from tests.world import World

pytestmark = pytest.mark.django_db
SCORES = "/api/v1/collections/shop/scores/"


@pytest.fixture
def score(world: World, engineer: Any, api_of: Any) -> Any:
    api = api_of(engineer)
    request = {"snapshot": str(world.snapshot.uuid), "runs": [str(world.runs[0].uuid)]}
    # Written here, so that half a character can be sent as JSON allows it.
    return lambda **more: api.post(SCORES, json.dumps({**request, **more}), content_type="application/json")


def test_the_usual_metrics_when_none_is_named(score: Any) -> None:
    (run,) = score().json()["runs"]
    assert set(run["metrics"]) == {"nDCG@10", "RR@10", "R@100", "P@10", "AP", "Judged@10"}
    assert run["per_query"]["q1"]["RR@10"] == 1.0


def test_runs_keep_the_requested_order(score: Any, world: World) -> None:
    requests = [str(run.uuid) for run in reversed(world.runs)]
    assert [run["name"] for run in score(runs=requests).json()["runs"]] == [run.name for run in reversed(world.runs)]


REFUSED = [
    ({"snapshot": str(uuid.uuid4())}, "snapshot"),
    ({"snapshot": None}, "snapshot"),
    ({"runs": []}, "runs"),
    ({"runs": [str(uuid.uuid4())]}, "runs"),
    ({"metrics": ["nDGC@10"]}, "metrics"),
    ({"metrics": ["P"]}, "metrics"),
    ({"metrics": "nDCG@10"}, "metrics"),
    ({"metrics": ["nDCG@999999999999"]}, "metrics"),
    ({"metrics": ["x" * 10_000]}, "metrics"),
    ({"metrics": [f"P@{cutoff}" for cutoff in range(1, 10_001)]}, "metrics"),
    ({"metrics": ["P@1," + ",".join(map(str, range(2, 1_000)))]}, "metrics"),
    ({"metrics": ["ERR_IA@10"]}, "metrics"),
    ({"metrics": ["nDCG@10\x00"]}, "metrics"),
    ({"metrics": ["\ud800"]}, "metrics"),
    ({"level": "nan"}, "level"),
    ({"level": 1.0}, "level"),
    ({"level": -1e308}, "level"),
    ({"method": "x" * 10_000}, "method"),
    ({"method": "\ud800"}, "method"),
]


# One collection serves all cases: making it takes longer than asking.
def test_invalid_scorings_are_reported_by_field(score: Any) -> None:
    for request, field in REFUSED:
        response = score(**request)
        assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {field}), (
            request,
            response.content,
        )


def test_large_runs_are_scored_as_a_job(
    score: Any, monkeypatch: pytest.MonkeyPatch, engineer: Any, api_of: Any, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(scoring, "ROWS_AT_ONCE", 1)
    with django_capture_on_commit_callbacks(execute=True):
        response = score(metrics=["AP"])
    assert response.status_code == 202
    assert api_of(engineer).get(f"/api/v1/jobs/{response.json()['job']}/").json()["state"] == "done"
    assert Scoring.objects.get(run__name="bm25").scores.filter(metric="AP").exists()


def test_the_list_has_one_entry_for_each_snapshot(score: Any, engineer: Any, api_of: Any) -> None:
    (entry,) = api_of(engineer).get(SCORES).json()["results"]
    assert set(entry) == {
        "snapshot",
        "qrels",
        "runs",
        "settings",
        "groups",
        "against_baseline",
        "left_out",
        "freshness",
    }
    assert entry["groups"]["metric"] == "nDCG@10"
    assert entry["groups"]["letters"] == {}  # one query tells nothing apart
    assert "fewer than 6 queries" in entry["groups"]["reason"]
    assert [run["name"] for run in entry["runs"]] == ["bm25", "neural"]


def test_level_and_method_are_taken(score: Any) -> None:
    metrics = score(metrics=["AP"], level=0.9, method="bca").json()["settings"]["metrics"]
    assert metrics["AP"] == {"level": 0.9, "method": "bca"}


def test_a_snapshot_that_is_no_id(score: Any, engineer: Any, api_of: Any) -> None:
    assert api_of(engineer).get(f"{SCORES}?snapshot=x").status_code == 400


def test_a_run_that_is_named_twice_is_scored_once(score: Any, world: World) -> None:
    request = str(world.runs[0].uuid)
    response = score(runs=[request, request], metrics=["AP"])
    assert (response.status_code, len(response.json()["runs"])) == (201, 1)
