"""Tests of ``assay judge`` with provider options: requests, cost estimates and unsupported parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

ASK = ("judge", "pairs.jsonl", "--judge", "graded", "--model", "ours", "--out", "machine.jsonl")
PRICES = ("--price-in", "1", "--price-out", "4")
UNCOUNTED = json.dumps({"choices": [{"message": {"content": '{"grade": 2}'}, "finish_reason": "stop"}]}).encode()


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, assay: Call) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    rows = [{"query_id": "q1", "query": "tent", "doc_id": f"d{n}", "text": f"Tent {n}."} for n in range(3)]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving() as model_server:
        yield model_server


def test_settings_of_a_model_shape_the_request_and_identify_the_judge(assay: Call, server: ModelServer) -> None:
    here = ("--base-url", server.url, *PRICES)
    how = ("--thinks", "--leave-out", "schema, seed", "--most-tokens", "4000")
    status, _, err = assay(*ASK, *here, *how)
    assert status == 0, err
    payload = server.requests[0][2]
    assert not {"response_format", "seed", "temperature", "max_tokens"} & set(payload)
    assert payload["max_completion_tokens"] == 4_000
    assert "the model does not accept them: schema, seed, temperature" in err
    assert lines("machine.jsonl")[0]["parameters"]["asked_as"] == {"leave_out": ["schema", "seed"], "thinks": True}
    assert lines("machine.ledger.jsonl")[0]["left_out"] == ["temperature", "seed", "schema"]
    # As before nothing is asked twice, and another setting asks anew.
    assert assay(*ASK, *here, *how, "--resume")[0] == 0
    assert len(server.requests) == 3
    assert assay(*ASK[:-1], "other.jsonl", "--ledger", "machine.ledger.jsonl", *here)[0] == 0
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--leave-out", "schema,prompt"), "--leave-out has prompt"),
        (("--thinks", "--temperature", "0.5"), "--temperature is 0.5"),
        (("--leave-out", "seed", "--seed", "4"), "--seed is 4"),
    ],
)
def test_settings_that_a_model_does_not_take_are_refused(
    options: tuple[str, ...], message: str, assay: Call, server: ModelServer
) -> None:
    status, _, err = assay(*ASK, "--base-url", server.url, *options)
    assert (status, message in err, server.requests) == (2, True, [])


def test_the_limit_holds_without_token_counts_over_several_runs(assay: Call, server: ModelServer) -> None:
    server.answer = lambda prompt, number: Answer(body=UNCOUNTED)
    command = (*ASK, "--base-url", server.url, *PRICES, "--concurrency", "1")
    assay(*command, "--max-calls", "1")
    ledger = lines("machine.ledger.jsonl")
    most = ledger[0]["cost_usd"]
    assert (ledger[0]["cost_estimated"], ledger[0]["tokens_in"], most > 0) == (True, None, True)
    status, _, err = assay(*command, "--resume", "--budget-usd", f"{2.5 * most}")
    assert (status, len(server.requests)) == (1, 2)
    assert f"without token counts are counted at their maximum cost: {most:.4f} USD" in err
    assert "the limit is reached" in err


def test_an_empty_account_stops_the_run_at_once(assay: Call, server: ModelServer) -> None:
    body = json.dumps({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}).encode()
    server.answer = lambda prompt, number: Answer(status=429, body=body)
    status, _, err = assay(*ASK, "--base-url", server.url, "--concurrency", "1")
    assert (status, len(server.requests)) == (2, 1)
    assert "You exceeded your quota" in err
