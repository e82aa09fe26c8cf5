"""Tests of the API of decisions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.models import Decision
from tests.evaluation.decisions.conftest import lists, rate

pytestmark = pytest.mark.django_db
DECISIONS = "/api/v1/collections/shop/decisions/"


@pytest.fixture
def body(systems: Any, rater: Any) -> dict[str, Any]:
    baseline, candidate = systems(*lists(0.8))
    return {
        "name": "new",
        "baseline": str(baseline.uuid),
        "candidates": [str(candidate.uuid)],
        "raters": [rater.username],
        "metric": "DCG@3",
    }


def test_a_decision_is_started_followed_and_traced(api_of: Any, lead: Any, rater: Any, body: dict[str, Any]) -> None:
    api = api_of(lead)
    made = api.post(DECISIONS, body, format="json")
    assert made.status_code == 201
    assert (made.json()["queries"], made.json()["candidates"][0]["verdict"]) == (40, "undecided")
    decision = Decision.objects.get()
    rate(decision, rater)
    one = api.get(f"{DECISIONS}{decision.uuid}/").json()
    (candidate,) = one["candidates"]
    assert (candidate["verdict"], candidate["expected_more"]) == ("better", 0)
    assert candidate["decided_at"]
    trace = api.get(f"{DECISIONS}{decision.uuid}/trace/").content.decode().splitlines()
    lines = [json.loads(line) for line in trace]
    assert [line["n"] for line in lines] == list(range(1, 41))
    assert lines[candidate["queries"] - 1]["verdict"] == "better"
    assert api.get(DECISIONS).json()["results"][0]["id"] == one["id"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"metric": "nDCG"}, "metric"),
        ({"method": "guess"}, "method"),
        ({"raters": []}, "raters"),
        ({"raters": ["nobody"]}, "raters"),
        ({"candidates": []}, "candidates"),
        ({"skips_same_rank": True, "metric": "nDCG@3"}, "skips_same_rank"),
        ({"query_ids": ["no such query"]}, "queries"),
    ],
)
def test_bad_values_are_refused_by_field(
    api_of: Any, lead: Any, body: dict[str, Any], changes: dict[str, Any], field: str
) -> None:
    answer = api_of(lead).post(DECISIONS, {**body, **changes}, format="json")
    assert answer.status_code == 400
    assert field in answer.json()["error"]["fields"]


def test_only_leads_start_decisions(api_of: Any, engineer: Any, rater: Any, body: dict[str, Any]) -> None:
    assert api_of(engineer).post(DECISIONS, body, format="json").status_code == 403
    assert api_of(engineer).get(DECISIONS).status_code == 200
    assert api_of(rater).get(DECISIONS).status_code == 403
