"""Tests of model families of runs: set at upload or later, by page and API, with warnings."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.urls import reverse

from judgments.imports import ingestion
from judgments.machines.judge_runs import judge_settings
from judgments.models import AuditRow
from pooling.models import Run

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/collections/shop/runs/"
ROWS = [{"query_id": "q1", "doc_id": "d1", "score": 2}]


@pytest.fixture
def api(collection: Any, engineer: Any, api_of: Any) -> Any:
    return api_of(engineer)


def test_a_run_declares_its_family_when_it_is_submitted(api: Any, collection: Any) -> None:
    body = api.post(f"{RUNS}?name=ours&generator_family=gpt-4o", ROWS, format="json").json()
    here = f"{RUNS}{body['id']}/"
    assert api.get(here).json()["generator_family"] == "GPT"
    assert [one.name for one in judge_settings.kin_in(collection, "gpt-4.1")] == ["ours"]
    assert judge_settings.kin_in(collection, "claude-haiku-4") == []
    assert judge_settings.kin_in(collection, "") == []


def test_it_is_declared_afterwards_and_on_record(api: Any, collection: Any) -> None:
    run = api.post(f"{RUNS}?name=gpt-rerank", ROWS, format="json").json()["id"]
    assert "by its name" in judge_settings.kin_warning(collection, "gpt-4.1")
    assert api.patch(f"{RUNS}{run}/", {"generator_family": "none"}, format="json").json()["generator_family"] == "none"
    assert judge_settings.kin_warning(collection, "gpt-4.1") == ""
    api.patch(f"{RUNS}{run}/", {"generator_family": "none"}, format="json")
    assert AuditRow.objects.filter(verb="run_families.declare").count() == 1
    refused = api.patch(f"{RUNS}{run}/", {"generator_family": "GPT or Llama"}, format="json")
    assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, {"generator_family"})
    assert api.patch(f"{RUNS}{run}/", {"familly": "GPT"}, format="json").status_code == 400
    response = api.post(f"{RUNS}?name=more&generator_family=GPT+or+Llama", [{**ROWS[0], "score": 3}], format="json")
    assert (response.status_code, Run.objects.filter(name="more").exists()) == (400, False)


def test_pages_ask_for_it(collection: Any, engineer: Any, client_of: Any) -> None:
    file = io.BytesIO(b"q1 Q0 d1 1 2.5 x\n")
    upload = ingestion.receive(collection, kind="runs", file=file, filename="ours.run", actor=engineer)
    client, here = client_of(engineer), reverse("upload", args=[upload.uuid])
    assert "Language model family" in client.get(here).content.decode()
    answer = client.post(here, {"name": "ours", "generator_family": "GPT or Llama"})
    assert (answer.status_code, Run.objects.filter(name="ours").exists()) == (422, False)
    client.post(here, {"name": "ours", "generator_family": "Claude"})
    run = Run.objects.get(name="ours")
    assert run.generator_family == "Claude"
    page = reverse("run", args=[collection.slug, run.uuid])
    assert 'value="Claude"' in client.get(page).content.decode()
    client.post(page, {"act": "family", "generator_family": "qwen3"})
    run.refresh_from_db()
    assert (run.name, run.generator_family) == ("ours", "Qwen")
    wrong = client.post(page, {"act": "family", "generator_family": "GPT or Llama"})
    assert (wrong.status_code, "names GPT and Llama" in wrong.content.decode()) == (422, True)
