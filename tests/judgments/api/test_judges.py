"""Can a program set a model to a round, follow it, and read what it is worth?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from judgments.models import JudgeRun, MachineJudgment
from tests.judgments.models_asked import KEY, grade
from tests.model_server import ModelServer, serving

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: grade(3 if "Document 1-1" in prompt else 0)) as found:
        yield found


def test_the_whole_way(
    make_round: Callable[..., Any],
    rater: Any,
    rate_all: Any,
    lead: Any,
    api_of: Any,
    server: ModelServer,
    django_capture_on_commit_callbacks: Any,
) -> None:
    round_ = make_round(queries=2, documents=3, raters=[rater], ratings_per_pair=1)
    rate_all(round_, rater, lambda pair: 3 if pair.document.doc_id == "d1-1" else 0)
    api, slug = api_of(lead), round_.collection.slug
    here, place = f"/api/v1/rounds/{round_.uuid}/judges/", f"/api/v1/collections/{slug}/providers/"
    asked = {
        "name": "local", "protocol": "openai", "base_url": server.url, "key": KEY,
        "models": [{"name": "judge-1", "price_in": 1, "price_out": 4}],
    }  # fmt: skip
    provider = api.post(place, asked, format="json").json()
    assert (provider["has_key"], KEY in str(provider)) == (True, False)
    assert api.patch(f"{place}{provider['id']}/", {"concurrency": 2}, format="json").json()["has_key"] is True
    words = {"name": "ours", "prompt": "Searched: {query}. {scale}. {document}"}
    prompt = api.post(f"/api/v1/collections/{slug}/prompts/", words, format="json").json()
    judge = {
        "provider": provider["id"], "model": "judge-1", "prompt": prompt["id"], "cap_usd": 1, "audit_share": 1.0,
        "canaries": 2,
    }  # fmt: skip
    told = api.post(here, {**judge, "dry_run": True}, format="json")
    assert (told.status_code, told.json()["pairs"], len(server.requests), JudgeRun.objects.count()) == (200, 6, 0, 0)
    assert 0 < told.json()["usd"][0] < told.json()["usd"][1]
    wrong = api.post(here, {**judge, "model": "judge-9", "dry_run": True}, format="json")
    assert (wrong.status_code, "model" in wrong.json()["error"]["fields"]) == (400, True)
    with django_capture_on_commit_callbacks(execute=True):
        begun = api.post(here, judge, format="json")
    assert begun.status_code == 202
    assert api.get(f"/api/v1/jobs/{begun.json()['job']}/").json()["state"] == "done"
    (row,) = api.get(here).json()
    assert (row["state"], row["outcomes"], row["models_answered"]) == ("done", {"graded": 6}, ["judge-1"])
    assert [(one["trap"], one["planted"], one["flipped"]) for one in row["flips"]] == [
        ("instruction", 2, 0),
        ("query-words", 2, 0),
    ]
    mine = f"{here}{row['id']}/"
    people = api.get(f"{mine}people/").json()
    assert (people["slice_size"], people["calibrated"]["kappa"]["quadratic"]["value"]) == (6, 1.0)
    answers = api.get(f"{mine}answers/?outcome=graded").json()
    assert (answers["count"], answers["results"][0]["grade"]) == (6, 3)
    assert api.get(f"{mine}effect/").json()["why"] == "no run answers a query that both graded"
    assert api.post(f"{mine}pause/").status_code == 409
    routed = api.get(f"{here}routing/").json()
    assert {one["reason"] for one in routed} == {"audit"}
    # People have judged all of it already: there is nothing that a round could ask.
    assert api.post(f"{here}routing/", {}, format="json").status_code == 409
    assert api.delete(f"{place}{provider['id']}/").status_code == 204
    gone = api.post(f"{mine}go-on/", {"cap_usd": 2}, format="json")
    assert (gone.status_code, "was removed" in gone.json()["error"]["message"]) == (409, True)
    assert MachineJudgment.objects.count() == 6
