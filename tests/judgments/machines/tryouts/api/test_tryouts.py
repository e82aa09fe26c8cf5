"""API tests of tryouts: a provider or prompt is tried at a reported cost and its answers are not stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from judgments.models import AuditRow, Judge, MachineJudgment, ModelCall, PromptVersion
from tests.judgments.machines.model_replies import KEY, grade, provider_at
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
TABLES = (Judge, MachineJudgment, ModelCall, PromptVersion)
WORDS = "Searched: {query}. {scale}. {document}"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    def says(prompt: str, number: int) -> Answer:
        answer = Answer("yes") if "word yes" in prompt else grade(9 if "Document 2-" in prompt else 3)
        answer.read, answer.written = 1_000, 50
        return answer

    with serving(says) as running:
        yield running


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=2, documents=1, raters=[rater], ratings_per_pair=1)


@pytest.fixture
def trial(round_: Any, provider: Any, lead: Any, api_of: Any) -> Callable[..., Any]:
    """Post a trial of a prompt; whatever comes back, nothing is kept of it but that it was tried."""
    api, place = api_of(lead), f"/api/v1/collections/{round_.collection.slug}/prompts/try/"
    whom = {"round": str(round_.uuid), "provider": str(provider.uuid), "model": "judge-1", "pairs": 2}

    def post(**body: Any) -> Any:
        before = [kind.objects.count() for kind in TABLES]
        answer = api.post(place, {**whom, **body}, format="json")
        assert [kind.objects.count() for kind in TABLES] == before
        return answer

    return post


def test_a_prompt_on_pairs_of_a_round(trial: Callable[..., Any], server: ModelServer) -> None:
    body = trial(prompt=WORDS, system="You are strict.").json()
    # 1,000 tokens at 1 dollar a million and 50 at 4, twice.
    assert (body["calls"], body["cost_usd"]) == (2, pytest.approx(0.0024))
    assert [(one["doc_id"], one["outcome"], one["grade"]) for one in body["pairs"]] == [
        ("d1-1", "graded", 3),
        ("d2-1", "out_of_scale", None),
    ]
    first = body["pairs"][0]
    assert (first["query_id"], first["model"], first["rationale"]) == ("q1", "judge-1", "reasons-of-a-machine")
    assert first["asked"].startswith("Searched: ")
    assert "Document 1-1" in first["asked"]
    assert all(headers.get("Authorization") == f"Bearer {KEY}" for _, headers, _ in server.requests)


def test_a_stored_version_and_one_that_comes_along(
    trial: Callable[..., Any], round_: Any, lead: Any, api_of: Any, server: ModelServer
) -> None:
    place = f"/api/v1/collections/{round_.collection.slug}/prompts/"
    stored = api_of(lead).post(place, {"name": "ours", "prompt": WORDS}, format="json").json()
    assert trial(version=stored["id"], pairs=1).json()["pairs"][0]["asked"].startswith("Searched: ")
    assert trial(version="graded", pairs=1).json()["pairs"][0]["grade"] == 3
    assert trial(version="graded", model="judge-2", pairs=1).json()["cost_usd"] is None  # it has no price


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "prompt"),
        ({"prompt": WORDS, "version": "graded"}, "prompt"),
        ({"version": "graded", "system": "Be strict."}, "system"),
        ({"version": "nobodys"}, "version"),
        ({"prompt": "Searched: {query}. {scale}."}, "prompt"),
        ({"prompt": WORDS, "pairs": 11}, "pairs"),
        ({"prompt": WORDS, "model": "judge-9"}, "model"),
        ({"prompt": WORDS, "round": "5ab10d5e-0000-4000-8000-000000000000"}, "round"),
        ({"prompt": WORDS, "provider": "5ab10d5e-0000-4000-8000-000000000000"}, "provider"),
        ({"prompt": WORDS, "temperature": 1}, "temperature"),
    ],
)
def test_invalid_tryouts_make_no_calls(
    trial: Callable[..., Any], server: ModelServer, body: dict[str, Any], field: str
) -> None:
    answer = trial(**body)
    assert (answer.status_code, list(answer.json()["error"]["fields"]), server.requests) == (400, [field], [])


def test_a_provider_test_makes_one_call(provider: Any, lead: Any, api_of: Any, server: ModelServer) -> None:
    api, place = api_of(lead), f"/api/v1/collections/{provider.collection.slug}/providers/{provider.uuid}/try/"
    before = [kind.objects.count() for kind in TABLES]
    body = api.post(place, {}, format="json").json()
    assert (body["text"], body["model"], body["tokens_in"]) == ("yes", "judge-1", 1_000)
    assert body["cost_usd"] == pytest.approx(0.0012)
    assert KEY not in str(body)
    assert (len(server.requests), [kind.objects.count() for kind in TABLES]) == (1, before)
    tried = AuditRow.objects.get(verb="trying.ask")
    assert (tried.actor, tried.detail["calls"], tried.detail["model"]) == (lead, 1, "judge-1")
    wrong = api.post(place, {"model": "judge-9"}, format="json")
    assert (wrong.status_code, list(wrong.json()["error"]["fields"])) == (400, ["model"])


def test_a_wrong_key_is_reported_and_hidden(round_: Any, lead: Any, api_of: Any) -> None:
    with serving(lambda prompt, number: Answer(status=401, body=b'{"error": {"message": "no such key"}}')) as server:
        row = provider_at(server.url, round_.collection, lead)
        place = f"/api/v1/collections/{round_.collection.slug}/providers/{row.uuid}/try/"
        answer = api_of(lead).post(place, {"model": "judge-1"}, format="json")
    assert (answer.status_code, len(server.requests)) == (400, 1)
    assert "did not answer" in answer.json()["error"]["message"]
    assert KEY not in answer.content.decode()
