"""Tests of model settings: requests follow them, and a judge keeps those it started with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from assay.core.errors import NotValid
from judgments.machines.judge_runs import judge_runs
from judgments.machines.providers import accounts
from judgments.machines.providers.forms import ProviderForm, models_in
from judgments.machines.tryouts import tryouts
from judgments.models import JudgeRun, ModelCall
from tests.judgments.machines.model_replies import choice_of, gone_on, grade, provider_at, started
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
State = JudgeRun.State
OURS = {"name": "ours", "thinks": True, "leave_out": ["schema", "seed"], "most_tokens": 4_000}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: grade(2)) as model_server:
        yield model_server


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=1, documents=2, raters=[rater])


def test_calls_use_the_settings_and_other_settings_make_another_judge(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any
) -> None:
    provider = provider_at(server.url, collection, lead, models_offered=[OURS])
    run = started(round_, choice_of(provider, model="ours"), lead, commit)
    assert run.state == State.DONE
    request_body = server.requests[0][2]
    assert not {"response_format", "seed", "temperature", "max_tokens"} & set(request_body)
    assert request_body["max_completion_tokens"] == 4_000
    assert run.judge.parameters["asked_as"] == {name: OURS[name] for name in ("thinks", "leave_out", "most_tokens")}
    assert run.judge.parameters["most_tokens"] == 4_000
    # The ledger says so with each answer.
    call = ModelCall.objects.filter(run=run).first()
    assert call is not None
    assert call.left_out == ["temperature", "seed", "schema"]
    assert call.parameters["most_tokens"] == 4_000
    accounts.change(provider, actor=lead, given={"models_offered": [{"name": "ours"}]})
    other = started(round_, choice_of(provider, model="ours"), lead, commit)
    assert other.judge != run.judge
    assert "response_format" in server.requests[-1][2]


def test_a_judge_resumes_with_its_original_settings(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any
) -> None:
    provider = provider_at(server.url, collection, lead, models_offered=[OURS])
    run = started(round_, choice_of(provider, model="ours"), lead, commit, cap_calls=1)
    assert run.state == State.BUDGET
    accounts.change(provider, actor=lead, given={"models_offered": [{"name": "ours", "price_in": None}]})
    run = gone_on(run, lead, commit, cap_calls=10)
    assert (run.state, len(server.requests)) == (State.DONE, 2)
    assert server.requests[-1][2].keys() == server.requests[0][2].keys()


def test_an_answer_that_was_cut_off_has_four_times_what_was_set(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any
) -> None:
    server.answer = lambda prompt, number: Answer("{", stop="length") if number <= 1 else grade(1)
    provider = provider_at(server.url, collection, lead, models_offered=[OURS], concurrency=1)
    run = started(round_, choice_of(provider, model="ours"), lead, commit)
    assert run.state == State.DONE
    assert sorted(body["max_completion_tokens"] for _, _, body in server.requests) == [4_000, 4_000, 16_000]


def test_the_estimate_counts_the_answers_that_were_set(
    round_: Any, server: ModelServer, collection: Any, lead: Any
) -> None:
    rows = [{**OURS, "price_in": 1.0, "price_out": 4.0}, {"name": "plain", "price_in": 1.0, "price_out": 4.0}]
    provider = provider_at(server.url, collection, lead, models_offered=rows)
    longest = [
        judge_runs.estimate_run(round_, choice_of(provider, model=name)).tokens_out[1] for name in ("ours", "plain")
    ]
    assert longest == [2 * 4_000, 2 * 400]


def test_tryouts_use_the_settings(server: ModelServer, collection: Any, lead: Any) -> None:
    provider = provider_at(server.url, collection, lead, models_offered=[OURS])
    tryouts.provider(provider, "ours")
    assert server.requests[0][2]["max_completion_tokens"] == 4_000


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("a, 1, 4", {"price_in": 1.0, "price_out": 4.0}),
        ("a", {"price_in": None, "price_out": None}),
        ("a, reasoning", {"price_in": None, "price_out": None, "thinks": True}),
        ("a, no reasoning, no schema", {"price_in": None, "price_out": None, "thinks": False, "leave_out": ["schema"]}),
        # The words of earlier versions.
        ("a, thinks", {"price_in": None, "price_out": None, "thinks": True}),
        ("a, 0, 0, does not think", {"price_in": 0.0, "price_out": 0.0, "thinks": False}),
        (
            "a, 1, 4, 4000 tokens, no schema, no seed",
            {"price_in": 1.0, "price_out": 4.0, "most_tokens": 4_000, "leave_out": ["schema", "seed"]},
        ),
    ],
)
def test_form_lines_set_model_options_and_round_trip(
    line: str, row: dict[str, Any], server: ModelServer, collection: Any, lead: Any
) -> None:
    assert models_in(line) == [{"name": "a", **row}]
    provider = provider_at(server.url, collection, lead, models_offered=models_in(line))
    assert models_in(ProviderForm(provider=provider).initial["models"]) == [{"name": "a", **row}]


@pytest.mark.parametrize("line", ["a, 1", "a, 1, 2, 3", "a, no mercy", "a, -5 tokens", "a, ten tokens"])
def test_a_line_that_says_something_else_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(NotValid, match="Line 1"):
        models_in(line)


@pytest.mark.parametrize(
    "row", [{"thinks": "yes"}, {"leave_out": ["prompt"]}, {"most_tokens": 0}, {"most_tokens": 10**9}]
)
def test_settings_that_no_model_has_are_refused(
    row: dict[str, Any], server: ModelServer, collection: Any, lead: Any
) -> None:
    with pytest.raises(NotValid) as refused:
        provider_at(server.url, collection, lead, models_offered=[{"name": "a", **row}])
    assert "models_offered" in refused.value.fields


def test_a_tryout_reports_parameters_left_out(
    provider: Any, server: ModelServer, collection: Any, lead: Any, client: Client, api_of: Any
) -> None:
    def answer(prompt: str, number: int) -> Answer:
        has_temperature = "temperature" in server.requests[number - 1][2]
        return Answer("temperature: not supported", status=400) if has_temperature else Answer("yes")

    server.answer = answer
    client.force_login(lead)
    page = client.post(f"/c/{collection.slug}/providers/{provider.uuid}/try/", follow=True).content.decode()
    assert "does not support it: temperature." in page
    here = f"/api/v1/collections/{collection.slug}/providers/{provider.uuid}/try/"
    body = api_of(lead).post(here, {}, format="json").json()
    assert (body["left_out"], body["cost_estimated"], body["text"]) == (["temperature"], False, "yes")
