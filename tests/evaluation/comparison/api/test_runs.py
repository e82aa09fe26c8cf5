"""Tests of the comparison API."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from evaluation.scoring import scoring
from tests.world import World

pytestmark = pytest.mark.django_db
COMPARE = "/api/v1/collections/shop/scores/compare/"


@pytest.fixture
def compare(world: World, engineer: Any, api_of: Any) -> Any:
    scoring.score_runs(world.snapshot, world.runs, actor=engineer, metrics=["nDCG@10", "RR@10"])
    api = api_of(engineer)
    return lambda **fields: api.get(COMPARE, fields)


def test_all_pairs_where_no_run_is_named(compare: Any, world: World) -> None:
    body = compare().json()
    assert set(body) == {
        "snapshot",
        "runs",
        "groups",
        "pairs",
        "rankings",
        "settings",
        "qrels",
        "files",
        "left_out",
        "freshness",
    }
    (pair,) = body["pairs"]
    assert (pair["a"], pair["b"], pair["metric"], pair["queries"]) == ("bm25", "neural", "nDCG@10", 1)
    assert (body["snapshot"], body["left_out"]) == (str(world.snapshot.uuid), 0)


def test_one_query_has_no_p_but_a_reason(compare: Any) -> None:
    (pair,) = compare().json()["pairs"]
    assert (pair["p"], pair["low"], pair["effect"]) == (None, None, None)
    assert "fewer than 6 queries" in pair["reason"]


def test_runs_by_id_or_name_keep_the_requested_order(compare: Any, world: World) -> None:
    ids = {run.name: str(run.uuid) for run in world.runs}
    body = compare(a=ids["neural"], b="bm25", metric="RR@10", snapshot=str(world.snapshot.uuid)).json()
    (pair,) = body["pairs"]
    assert (pair["a"], pair["b"], pair["metric"], pair["difference"]) == ("neural", "bm25", "RR@10", 0.0)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"a": "bm25"}, {"b"}),
        ({"a": "nosuch", "b": "bm25"}, {"a"}),
        ({"a": "bm25", "b": "bm25"}, {"b"}),
        ({"metric": "AP"}, {"metric"}),
        ({"weight": "trafic"}, {"weight"}),
    ],
)
def test_invalid_comparisons_are_reported_by_field(compare: Any, body: dict[str, str], fields: set[str]) -> None:
    response = compare(**body)
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, fields)


@pytest.mark.parametrize("snapshot", ["x", str(uuid.UUID(int=4))])
def test_a_snapshot_that_is_not_there(compare: Any, snapshot: str) -> None:
    assert compare(snapshot=snapshot).status_code == 404


def test_a_single_run_is_no_comparison(world: World, engineer: Any, api_of: Any) -> None:
    world.scoring.snapshot.scorings.exclude(pk=world.scoring.pk).delete()
    response = api_of(engineer).get(COMPARE)
    assert response.status_code == 400
    assert "Fewer than two runs" in response.json()["error"]["message"]
