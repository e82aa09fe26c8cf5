"""API tests of pairwise comparison runs: start, follow, download scores, create grades, refuse bad numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.models import BattleRun, Judge
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import with_worth
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]


def test_the_whole_way(
    provider: Any,
    make_round: Callable[..., Any],
    rater: Any,
    rate_all: Any,
    lead: Any,
    api_of: Any,
    server: ModelServer,
    django_capture_on_commit_callbacks: Any,
) -> None:
    round_ = with_worth(make_round(queries=3, documents=4, raters=[rater], ratings_per_pair=1))
    api, here = api_of(lead), f"/api/v1/rounds/{round_.uuid}/battles/"
    body = {"models": [{"provider": str(provider.uuid), "model": "judge-1"}], "cycles": 2, "cap_usd": 1}
    response = api.post(here, {**body, "dry_run": True}, format="json")
    assert (response.status_code, response.json()["documents"], len(server.requests)) == (200, 12, 0)
    assert 0 < response.json()["usd"][0] < response.json()["usd"][1]
    wrong = api.post(here, {**body, "models": [{"provider": str(round_.uuid), "model": "judge-1"}]}, format="json")
    assert (wrong.status_code, "models" in wrong.json()["error"]["fields"]) == (400, True)
    with django_capture_on_commit_callbacks(execute=True):
        begun = api.post(here, body, format="json")
    one = api.get(here).json()[0]
    assert (begun.status_code, begun.json()) == (202, {"job": one["job"], "id": one["id"]})
    run = f"{here}{one['id']}/"
    assert (one["state"], one["battles"], one["calls"], one["judges"]) == (
        "done",
        len(server.requests),
        one["battles"],
        [],
    )
    assert one["by_model"][0]["answers"] == one["battles"]
    assert api.get(run).json() == one

    scores = api.get(f"{run}scores/?query=q2").json()
    assert [row["doc_id"] for row in scores] == ["d2-4", "d2-3", "d2-2", "d2-1"]
    assert all(row["standard_error"] > 0 for row in scores)
    assert sum(row["score"] for row in scores) == pytest.approx(0.0, abs=1e-9)
    assert api.get(f"{run}scores/?query=q9").status_code == 404
    page = api.get(f"{run}answers/").json()
    assert page["count"] == one["battles"]
    for row in page["results"]:
        assert (row["score"] > 0) == (row["b"] > row["a"])

    refused = api.post(f"{run}grades/", {}, format="json")
    assert (refused.status_code, "share" in refused.json()["error"]["fields"]) == (400, True)
    rate_all(round_, rater, lambda pair: int(pair.document.doc_id[-1]) // 2)
    made = api.post(f"{run}grades/", {"share": 0.6}, format="json")
    judge = Judge.objects.get(kind="pairwise")
    assert (made.status_code, made.json()["judge"]) == (201, str(judge.uuid))
    assert api.get(f"/api/v1/rounds/{round_.uuid}/judges/{judge.uuid}/").json()["outcomes"] == {"graded": 12}

    before = len(server.requests)
    response = api.post(f"{run}further/", {"number": 1, "dry_run": True}, format="json")
    assert (response.status_code, len(server.requests), response.json()["kin"]) == (200, before, [])
    assert 0 < response.json()["usd"][0] < response.json()["usd"][1]
    with django_capture_on_commit_callbacks(execute=True):
        assert api.post(f"{run}further/", {"number": 1}, format="json").status_code == 202
    assert BattleRun.objects.get().battles == one["battles"] + response.json()["battles"]
    with django_capture_on_commit_callbacks(execute=True):
        assert api.post(f"{run}go-on/", {"cap_usd": 2}, format="json").status_code == 202
    assert api.post(f"{run}pause/").status_code == 409
    assert api.get(run).json()["cap_usd"] == 2


@pytest.mark.parametrize("odd", [{"seed": 2**63}, {"most": 10**30}, {"cap_calls": 2**31}, {"cap_usd": 1e300}])
def test_numbers_that_nothing_holds_are_refused(make_round: Any, rater: Any, lead: Any, api_of: Any, odd: Any) -> None:
    round_ = make_round(queries=1, documents=2, raters=[rater])
    provider = provider_at("http://127.0.0.1:9/v1", round_.collection, lead)
    body = {"models": [{"provider": str(provider.uuid), "model": "judge-1"}], "cap_calls": 5, **odd}
    response = api_of(lead).post(f"/api/v1/rounds/{round_.uuid}/battles/", body, format="json")
    assert (response.status_code, list(response.json()["error"]["fields"])) == (400, list(odd))
