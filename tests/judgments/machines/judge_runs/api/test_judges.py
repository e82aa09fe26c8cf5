"""API tests of machine judges: kinds of judge, progress, results, refused request bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from judgments.models import JudgeRun, MachineJudgment
from tests.judgments.machines.model_replies import KEY, grade, provider_at
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: grade(3 if "Document 1-1" in prompt else 0)) as running:
        yield running


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
    request = {
        "name": "local", "protocol": "openai", "base_url": server.url, "key": KEY,
        "models": [{"name": "judge-1", "price_in": 1, "price_out": 4}],
    }  # fmt: skip
    provider = api.post(place, request, format="json").json()
    assert (provider["has_key"], KEY in str(provider)) == (True, False)
    assert api.patch(f"{place}{provider['id']}/", {"concurrency": 2}, format="json").json()["has_key"] is True
    words = {"name": "ours", "prompt": "Searched: {query}. {scale}. {document}"}
    prompt = api.post(f"/api/v1/collections/{slug}/prompts/", words, format="json").json()
    judge = {
        "provider": provider["id"], "model": "judge-1", "prompt": prompt["id"], "cap_usd": 1, "audit_share": 1.0,
        "canaries": 2,
    }  # fmt: skip
    response = api.post(here, {**judge, "dry_run": True}, format="json")
    assert (response.status_code, response.json()["pairs"], len(server.requests), JudgeRun.objects.count()) == (
        200,
        6,
        0,
        0,
    )
    assert 0 < response.json()["usd"][0] < response.json()["usd"][1]
    wrong = api.post(here, {**judge, "model": "judge-9", "dry_run": True}, format="json")
    assert (wrong.status_code, "model" in wrong.json()["error"]["fields"]) == (400, True)
    with django_capture_on_commit_callbacks(execute=True):
        begun = api.post(here, judge, format="json")
    assert begun.status_code == 202
    assert api.get(f"/api/v1/jobs/{begun.json()['job']}/").json()["state"] == "done"
    (row,) = api.get(here).json()
    assert (row["id"], row["job"]) == (begun.json()["id"], begun.json()["job"])
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
    assert (
        api.get(f"{mine}effect/").json()["why"]
        == "no run has results for a query that both people and the judge graded"
    )
    assert api.post(f"{mine}pause/").status_code == 409
    routed = api.get(f"{here}routing/").json()
    assert {one["reason"] for one in routed} == {"audit"}
    # People have judged all of it already: there is nothing that a round could ask.
    assert api.post(f"{here}routing/", {}, format="json").status_code == 409
    assert api.delete(f"{place}{provider['id']}/").status_code == 204
    gone = api.post(f"{mine}go-on/", {"cap_usd": 2}, format="json")
    assert (gone.status_code, "was removed" in gone.json()["error"]["message"]) == (409, True)
    assert MachineJudgment.objects.count() == 6


EXPECTED = {"q1": "Document 1-1", "q2": ["Document 2-1", "Document 2-2"]}


@pytest.fixture
def begun(
    make_round: Callable[..., Any], rater: Any, lead: Any, api_of: Any, django_capture_on_commit_callbacks: Any
) -> Callable[..., dict[str, Any]]:
    """Set a judge to a round of six pairs, see its job through, and read it."""
    round_ = make_round(queries=2, documents=3, raters=[rater], ratings_per_pair=1)
    api, here = api_of(lead), f"/api/v1/rounds/{round_.uuid}/judges/"

    def begin(**body: Any) -> dict[str, Any]:
        response = api.post(here, {**body, "dry_run": True}, format="json")
        assert (response.status_code, response.json().get("pairs")) == (200, 6), response.json()
        with django_capture_on_commit_callbacks(execute=True):
            answer = api.post(here, body, format="json")
        assert answer.status_code == 202, answer.json()
        assert api.get(f"/api/v1/jobs/{answer.json()['job']}/").json()["state"] == "done"
        last = JudgeRun.objects.order_by("-pk")[0].judge
        data: dict[str, Any] = api.get(f"{here}{last.uuid}/").json()
        assert data["state"] == "done"
        answers = api.get(f"{here}{last.uuid}/answers/").json()["results"]
        return data | {"answers": {one["doc_id"]: one for one in answers}}

    return begin


def test_a_judge_without_a_model(begun: Callable[..., dict[str, Any]]) -> None:
    text = "query_id,expected\nq1,Document 1-1\nq2,Document 2-1\n"
    result = begun(kind="token_overlap", expected=text, parameters={"min_tokens": 3, "threshold": 1.0})
    assert (result["kind"], result["outcomes"], result["spent_usd"]) == ("token_overlap", {"graded": 6}, 0)
    assert [one["grade"] for one in result["answers"].values()] == [1, 0, 0, 1, 0, 0]


def test_expected_answers_by_a_model(begun: Callable[..., dict[str, Any]], collection: Any, lead: Any) -> None:
    def says(prompt: str, number: int) -> Answer:
        expected = prompt.split("The expected answer:\n")[1].split("\n")[0]
        return Answer("YES" if prompt.count(expected) > 1 else "NO")

    with serving(says) as server:
        provider = provider_at(server.url, collection, lead)
        result = begun(
            kind="expected_answer", provider=str(provider.uuid), model="judge-1", expected=EXPECTED, yes=3, cap_calls=99
        )
        assert len(server.requests) == 9
    assert [one["grade"] for one in result["answers"].values()] == [3, 0, 0, 3, 3, 0]


def test_usefulness_to_a_system(begun: Callable[..., dict[str, Any]], collection: Any, lead: Any) -> None:
    with serving(lambda prompt, number: Answer("Document 2-1" if "Document 2-1" in prompt else "no")) as server:
        provider = provider_at(server.url, collection, lead)
        body = {"provider": str(provider.uuid), "model": "judge-1", "cap_usd": 1, "text_metric": "token_f1"}
        result = begun(kind="downstream", expected=EXPECTED, **body)
    assert (result["says"], result["usefulness"]["pairs"], result["usefulness"]["mean"]) == ("usefulness", 6, 1 / 6)
    one = result["answers"]["d2-1"]
    assert (one["outcome"], one["grade"], one["usefulness"]) == ("graded", None, 1.0)


def test_several_judges_together(begun: Callable[..., dict[str, Any]]) -> None:
    some = [begun(kind="token_overlap", expected=EXPECTED, parameters={"min_tokens": at})["id"] for at in (1, 3)]
    result = begun(kind="ensemble", judges=some, parameters={"rule": "unanimity"})
    assert result["outcomes"] == {"graded": 3, "undecided": 3}
    assert {one["outcome"] for one in result["answers"].values() if one["grade"] is None} == {"undecided"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "oracle"}, None),
        ({}, "provider"),
        ({"kind": "token_overlap"}, "expected"),
        ({"kind": "token_overlap", "expected": [1]}, "expected"),
        ({"kind": "token_overlap", "expected": {"q1": ["\0"]}}, "expected"),
        ({"kind": "token_overlap", "expected": {"q1": {"a": "b"}}}, "expected"),
        ({"kind": "token_overlap", "expected": EXPECTED, "parameters": {"min_token": 1}}, "min_token"),
        ({"kind": "token_overlap", "expected": EXPECTED, "text_metric": "token_f1"}, "text_metric"),
        ({"kind": "ensemble", "judges": []}, "judges"),
        ({"kind": "ensemble", "judges": ["6d7f0a44-0000-4000-8000-000000000000"]}, "judges"),
    ],
)
def test_a_body_that_no_judge_can_be_made_of(
    make_round: Callable[..., Any], rater: Any, lead: Any, api_of: Any, body: dict[str, Any], field: str | None
) -> None:
    round_ = make_round(queries=1, documents=1, raters=[rater])
    answer = api_of(lead).post(f"/api/v1/rounds/{round_.uuid}/judges/", {**body, "cap_calls": 5}, format="json")
    assert answer.status_code == 400, answer.json()
    assert field is None or field in answer.json()["error"]["fields"]
    assert not JudgeRun.objects.exists()


def test_canaries_can_be_requested_later(
    provider: Any,
    make_round: Callable[..., Any],
    rater: Any,
    lead: Any,
    api_of: Any,
    server: ModelServer,
    django_capture_on_commit_callbacks: Any,
) -> None:
    round_ = make_round(queries=2, documents=3, raters=[rater], ratings_per_pair=1)
    api, here = api_of(lead), f"/api/v1/rounds/{round_.uuid}/judges/"
    with django_capture_on_commit_callbacks(execute=True):
        api.post(here, {"provider": str(provider.uuid), "model": "judge-1", "cap_calls": 50}, format="json")
    (row,) = api.get(here).json()
    assert (row["flips"], len(server.requests)) == ([], 6)
    with django_capture_on_commit_callbacks(execute=True):
        assert api.post(f"{here}{row['id']}/go-on/", {"canaries": 2}, format="json").status_code == 202
    assert [one["planted"] for one in api.get(f"{here}{row['id']}/").json()["flips"]] == [2, 2]
    assert len(server.requests) == 10
    assert api.post(f"{here}{row['id']}/go-on/", {"canaries": 201}, format="json").status_code == 400


@pytest.mark.parametrize(
    ("place", "body", "key"),
    [
        ("judges/", {"kind": "graded", "cap_calls": 5}, "batch"),
        ("battles/", {"models": [], "cap_calls": 5}, "batch"),
        ("judges/routing/", {"most": 5}, "dry_run"),
    ],
)
def test_an_unknown_key_starts_no_judge(
    place: str, body: dict[str, Any], key: str, make_round: Callable[..., Any], rater: Any, lead: Any, api_of: Any
) -> None:
    round_ = make_round(queries=2, documents=3, raters=[rater], ratings_per_pair=1)
    refused = api_of(lead).post(f"/api/v1/rounds/{round_.uuid}/{place}", {**body, key: True}, format="json")
    assert (refused.status_code, key in refused.json()["error"]["fields"]) == (400, True)
    assert not JudgeRun.objects.exists()
