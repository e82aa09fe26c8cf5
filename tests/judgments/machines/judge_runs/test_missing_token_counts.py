"""Tests of judge runs without token counts: caps hold, and call log, page and API mark estimates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from assay.core.errors import NotValid
from judgments.machines.calibration.cost import money
from judgments.machines.judge_runs import judge_runs
from judgments.machines.providers import accounts
from judgments.models import Battle, JudgeRun, ModelCall
from tests.judgments.machines.model_replies import choice_of, gone_on, grade, provider_at, started, with_texts
from tests.judgments.machines.pairwise.example import choice_of as battles_of
from tests.judgments.machines.pairwise.example import fought
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
State = JudgeRun.State


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: uncounted({"grade": 2})) as model_server:
        yield model_server


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_texts(make_round(queries=2, documents=3, raters=[rater]))


def uncounted(answer: dict[str, Any]) -> Answer:
    """An answer of a server that tells no usage."""
    reply = {"choices": [{"message": {"content": json.dumps(answer)}, "finish_reason": "stop"}]}
    return Answer(body=json.dumps(reply).encode())


def test_the_cap_holds_across_attempts_and_estimates_are_marked(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any, api_of: Any, client: Client
) -> None:
    provider = provider_at(server.url, collection, lead, concurrency=1)
    run = started(round_, choice_of(provider), lead, commit, cap_usd=None, cap_calls=1)
    most = run.spent_usd
    assert most > 400 * 4 / 1e6
    run = gone_on(run, lead, commit, cap_usd=3.5 * most, cap_calls=100)
    assert (run.state, run.calls, len(server.requests)) == (State.BUDGET, 3, 3)
    assert run.spent_usd <= run.cap_usd
    rows = ModelCall.objects.filter(run=run)
    assert set(rows.values_list("cost_estimated", "tokens_in", "tokens_out")) == {(True, None, None)}
    spent = money(run.judge, round_)
    assert (spent.usd, spent.estimated) == (pytest.approx(run.spent_usd), pytest.approx(run.spent_usd))
    client.force_login(lead)
    page = client.get(f"/rounds/{round_.uuid}/judges/{run.judge.uuid}/").content.decode()
    assert "provider reported no cost" in page
    api = api_of(lead)
    here = f"/api/v1/rounds/{round_.uuid}/judges/{run.judge.uuid}/"
    assert api.get(here).json()["estimated_usd"] == pytest.approx(run.spent_usd)
    assert {row["cost_estimated"] for row in api.get(f"{here}ledger/").json()["results"]} == {True}


def test_the_judge_page_lists_parameters_left_out(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any, api_of: Any, client: Client
) -> None:
    def answer(prompt: str, number: int) -> Answer:
        if "temperature" in server.requests[number - 1][2]:
            return Answer("`temperature` is deprecated for this model.", status=400)
        return grade(2)

    server.answer = answer
    provider = provider_at(server.url, collection, lead, concurrency=1)
    run = started(round_, choice_of(provider), lead, commit)
    assert (run.state, run.calls, len(server.requests)) == (State.DONE, 6, 7)
    client.force_login(lead)
    page = client.get(f"/rounds/{round_.uuid}/judges/{run.judge.uuid}/").content.decode()
    assert "<dt>Parameters not sent</dt><dd>temperature: not supported by the model" in page
    assert "provider reported no cost" not in page
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/judges/{run.judge.uuid}/").json()
    assert (body["left_out"], body["estimated_usd"]) == (["temperature"], 0.0)


def test_an_empty_account_is_refused_and_not_tried_again(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any
) -> None:
    body = json.dumps({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}).encode()
    server.answer = lambda prompt, number: Answer(status=429, body=body, headers={"Retry-After": "3600"})
    run = started(round_, choice_of(provider_at(server.url, collection, lead, concurrency=1)), lead, commit)
    # Refused is for people to mend; only who is down is tried again by the clock.
    assert (run.state, run.not_before, run.calls, len(server.requests)) == (State.REFUSED, None, 0, 1)
    assert "You exceeded your quota" in run.end_message


def test_a_cap_in_dollars_is_refused_where_the_price_was_taken_away(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any
) -> None:
    provider = provider_at(server.url, collection, lead, concurrency=1)
    capped = started(round_, choice_of(provider), lead, commit, cap_usd=1.0, cap_calls=2)
    in_calls = started(round_, choice_of(provider, temperature=0.5), lead, commit, cap_usd=None, cap_calls=2)
    accounts.change(provider, actor=lead, given={"models_offered": [{"name": "judge-1"}]})
    # The cap that it has, and one that it is given.
    for run, caps in ((capped, {"cap_calls": 10}), (in_calls, {"cap_usd": 5.0})):
        with pytest.raises(NotValid, match="no price") as refused:
            judge_runs.resume(run, actor=lead, **caps)
        assert list(refused.value.fields) == ["cap_usd"]
    assert len(server.requests) == 4
    in_calls = gone_on(in_calls, lead, commit, cap_calls=10)
    assert (in_calls.state, len(server.requests)) == (State.DONE, 8)


def test_battles_without_token_counts_are_booked_once(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any
) -> None:
    server.answer = lambda prompt, number: uncounted({"reason": "", "score": 0.5})
    provider = provider_at(server.url, collection, lead, concurrency=1)
    run = fought(round_, battles_of(provider), lead, commit)
    rows = Battle.objects.filter(run=run)
    assert set(rows.values_list("cost_estimated", "tokens_in")) == {(True, None)}
    assert run.spent_usd == pytest.approx(sum(row.cost_usd or 0.0 for row in rows))
    # What another run takes from the first one costs nothing, and so nothing is estimated.
    again = fought(round_, battles_of(provider), lead, commit)
    assert (again.spent_usd, Battle.objects.filter(run=again, cost_estimated=True).exists()) == (0.0, False)
