"""Tests of the semantic judge in a round: page, API, real model, missing extra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.models import Job, Judge, JudgeRun, MachineJudgment
from tests.assay.llm.judges.test_semantic import MODEL, installed
from tests.judgments.machines.model_replies import started

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore")]
needs_model = pytest.mark.skipif(not installed(), reason="needs a real model: make test-semantic")
EXPECTED = {"q1": ["A refund is possible for a month"]}
PARAMETERS = {"model": MODEL, "threshold": 0.4}


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, settings: Any) -> Any:
    """A paraphrase of the expected answer, and a text about something else."""
    settings.LOCAL_MODELS = [MODEL]
    made = make_round(queries=1, documents=2, raters=[rater])
    texts = ["You get your money back within thirty days.", "Our tents are made of nylon."]
    for pair, text in zip(made.pairs.select_related("document").order_by("position"), texts, strict=True):
        pair.document.title, pair.document.text = "", text
        pair.document.save()
    return made


def machine_answers(judge: Judge) -> list[int | None]:
    rows = MachineJudgment.objects.filter(judge=judge).order_by("pair__position")
    assert all("cosine" in row.rationale for row in rows)
    return [row.grade for row in rows]


@needs_model
def test_a_paraphrase_is_a_yes(round_: Any, lead: Any, django_capture_on_commit_callbacks: Any) -> None:
    choice = JudgeSettings(kind="semantic", expected=EXPECTED, parameters=PARAMETERS)
    run = started(round_, choice, lead, django_capture_on_commit_callbacks, cap_calls=None)
    assert (run.state, run.judge.model) == (JudgeRun.State.DONE, MODEL)
    assert machine_answers(run.judge) == [1, 0]


@needs_model
def test_it_is_set_to_a_round_from_the_page(
    round_: Any, lead: Any, client_of: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client, here = client_of(lead), f"/rounds/{round_.uuid}/judges/"
    form_page = client.get(f"{here}new/?kind=semantic").content.decode()
    assert f'<option value="{MODEL}"' in form_page
    form = {"kind": "semantic", "expected": "query_id,expected\nq1,A refund is possible for a month\n", **PARAMETERS}
    response = client.post(f"{here}new/", {**form, "audit_share": 50, "act": "estimate"})
    assert (response.status_code, response.context["estimate"].pairs, JudgeRun.objects.count()) == (200, 2, 0)
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(f"{here}new/", {**form, "audit_share": 50, "act": "start"}).status_code == 302
    judge = Judge.objects.get(kind="semantic")
    assert machine_answers(judge) == [1, 0]
    page, answers = (client.get(f"{here}{judge.uuid}/{more}").content.decode() for more in ("", "answers/"))
    # Two that differ in the threshold alone are told apart on their pages.
    assert all(f'{name} <span class="mono wraps">{value}</span>' in page for name, value in PARAMETERS.items())
    assert "none: this judge calls no model" in page
    assert "cosine" in answers
    # A model that its operator did not name is not loaded.
    other = client.post(f"{here}new/", {**form, "model": "all-mpnet-base-v2", "audit_share": 50, "act": "start"})
    assert (other.status_code, Judge.objects.count()) == (422, 1)


@needs_model
def test_it_is_set_to_a_round_by_api(
    round_: Any, lead: Any, api_of: Any, django_capture_on_commit_callbacks: Any
) -> None:
    api, here = api_of(lead), f"/api/v1/rounds/{round_.uuid}/judges/"
    payload = {"kind": "semantic", "expected": EXPECTED, "parameters": PARAMETERS}
    estimate = api.post(here, {**payload, "dry_run": True}, format="json").json()
    assert (estimate["pairs"], estimate["calls"], estimate["usd"], estimate["kin"]) == (2, [0, 0], [0.0, 0.0], [])
    with django_capture_on_commit_callbacks(execute=True):
        answer = api.post(here, payload, format="json")
    assert (answer.status_code, Job.objects.get(uuid=answer.json()["job"]).state) == (202, "done")
    judge = Judge.objects.get(kind="semantic")
    rows = api.get(f"{here}{judge.uuid}/answers/").json()["results"]
    assert [(row["doc_id"], row["grade"], "cosine" in row["rationale"]) for row in rows] == [
        ("d1-1", 1, True),
        ("d1-2", 0, True),
    ]
    # Another threshold is another judge.
    with django_capture_on_commit_callbacks(execute=True):
        api.post(here, {**payload, "parameters": {**PARAMETERS, "threshold": 0.99}}, format="json")
    assert machine_answers(Judge.objects.exclude(pk=judge.pk).get()) == [0, 0]
    refused = api.post(here, {**payload, "parameters": {"model": "all-mpnet-base-v2"}}, format="json")
    assert (refused.status_code, "LOCAL_MODELS" in refused.json()["error"]["message"]) == (400, True)


@pytest.mark.skipif(installed(), reason="the extra semantic is installed here")
def test_without_the_extra_the_api_says_what_to_install(round_: Any, lead: Any, api_of: Any) -> None:
    payload = {"kind": "semantic", "expected": EXPECTED, "parameters": PARAMETERS}
    for dry_run in (True, False):
        answer = api_of(lead).post(
            f"/api/v1/rounds/{round_.uuid}/judges/", {**payload, "dry_run": dry_run}, format="json"
        )
        assert (answer.status_code, "pip install" in answer.json()["error"]["fields"]["kind"]) == (400, True)
    assert not Judge.objects.exists()
