"""Tests of critics: own subclasses, and a model of a provider over real HTTP."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import NotValid
from assay.rag import CriticError, LLMCritic, ProviderCritic, evaluate
from assay.rag.critic import number_in
from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

SAMPLES = [{"sample_id": f"s{n:02}", "query": f"Which seal number {n}?", "reference_answer": "red",
            "labels": {"even": str(n % 2 == 0)}} for n in range(12)]  # fmt: skip
OUTPUTS = [{"sample_id": f"s{n:02}", "response": f"Seal number {n} is red.",
            "retrieved": [{"doc_id": "d1", "text": f"Seal {n} is red."}]} for n in range(12)]  # fmt: skip
RAG = ("rag", "samples.jsonl", "outputs.jsonl", "--model", "a-model", "--ledger", "calls.jsonl")
FAITHFUL = ("-m", "LLMFaithfulnessScore")
PRICES = ("--price-in", "2", "--price-out", "8")


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def number_of(prompt: str) -> int:
    match = re.search(r"seal number (\d+)\?", prompt)
    assert match, prompt
    return int(match[1])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, assay: Call) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    write("samples.jsonl", SAMPLES)
    write("outputs.jsonl", OUTPUTS)
    with serving(lambda prompt, number: Answer(str(number_of(prompt) / 20))) as model_server:
        yield model_server


class ByWords(LLMCritic):
    """Scores 5 for a dimension that it likes, and fails at one sample."""

    def __init__(self) -> None:
        self.seen: list[Mapping[str, Any]] = []

    def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
        assert metadata is not None
        self.seen.append(metadata)
        if metadata["sample_id"] == "s03":
            raise CriticError("no idea", "critic_unparseable")
        return 5 if metadata.get("dimension") == "clarity" else 2


def one(evaluation: Any, label: str) -> Any:
    return evaluation.systems[0].scores[label].result


def test_dimensions_are_weighted_and_failures_counted() -> None:
    critic = ByWords()
    metric = "LLMAnswerQuality(dimensions=['relevance:3', clarity])"
    result = one(evaluate(SAMPLES, OUTPUTS, metric, critic=critic, slices=["even"], resamples=10), _label(metric))
    # (3 * (2 - 1) / 4 + 1) / 4
    assert result.value == pytest.approx(0.4375)
    assert result.details["num_samples"] == 11
    assert result.details["skipped_critic_unparseable"] == 1
    assert result.per_sample[3] is None
    # Slices ask nothing again.
    assert len(critic.seen) == 24
    assert {(of["metric"], of["scale"]) for of in critic.seen} == {("llm_answer_quality", "1-5")}


def _label(metric: str) -> str:
    from assay.rag import parse_metric

    return parse_metric(metric).label


@pytest.mark.parametrize(
    ("value", "reason"),
    [("0.5", "critic_unparseable"), (7, "critic_off_scale"), (float("nan"), "critic_off_scale"),
     (True, "critic_unparseable"), (None, "critic_unparseable")],
)  # fmt: skip
def test_invalid_scores_are_skipped_and_counted(value: Any, reason: str) -> None:
    class Odd(LLMCritic):
        def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
            return value if metadata and metadata["sample_id"] == "s00" else 0.5

    result = one(evaluate(SAMPLES, OUTPUTS, "LLMFaithfulnessScore", critic=Odd()), "LLMFaithfulnessScore")
    assert result.value == 0.5
    assert result.details["skipped"] == {reason: 1}


def test_a_critic_that_breaks_is_named() -> None:
    class Broken(LLMCritic):
        def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
            raise KeyError("grade")

    class Short(LLMCritic):
        def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
            return 1.0

        def score_all(self, prompts: Any, metadata: Any) -> list[float | CriticError]:
            return [1.0]

    for critic, message in ((Broken(), "Broken raised KeyError"), (Short(), "Short returned 1 scores for 12")):
        with pytest.raises(NotValid, match=message):
            evaluate(SAMPLES, OUTPUTS, "LLMFaithfulnessScore", critic=critic)


def test_an_empty_answer_needs_no_call() -> None:
    critic = ByWords()
    outputs = [{**OUTPUTS[0], "response": " "}, {**OUTPUTS[1], "retrieved": []}, *OUTPUTS[2:]]
    evaluation = evaluate(SAMPLES, outputs, ["LLMFaithfulnessScore", "LLMAnswerQuality"], critic=critic)
    assert one(evaluation, "LLMFaithfulnessScore").details["skipped"] == {
        "empty_answer": 1, "no_evidence": 1, "critic_off_scale": 9, "critic_unparseable": 1,
    }  # fmt: skip
    assert one(evaluation, "LLMFaithfulnessScore").details["defined"] is False
    assert one(evaluation, "LLMAnswerQuality").per_sample[0] == 0.0
    assert not [of for of in critic.seen if of["sample_id"] == "s00"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.4", 0.4), (" **4** ", 4), ("4/5", 4), ("4.", 4), ("Score: 4 - well supported", 4), ('{"score": 4}', 4),
     ("4\nAll is supported by line 2.", 4), ("4, since 2 of 3 claims hold", 4), ("-0.5", -0.5), (".5", 0.5),
     ("score: -1", -1), ("Well said.\n\nFinal score: 3/5", 3)],
)  # fmt: skip
def test_a_score_is_read(text: str, value: float) -> None:
    assert number_in(text, 5) == value


@pytest.mark.parametrize(
    "text", ["", "good", "2 of 3 claims hold", "0,75", "85%", "1.5e3", "8/10", "score: 3 and then score: 4", "4th"]
)
def test_ambiguous_scores_are_skipped(text: str) -> None:
    with pytest.raises(CriticError) as raised:
        number_in(text, 5)
    assert raised.value.reason == "critic_unparseable"


def test_calls_run_concurrently_and_results_keep_their_order(server: ModelServer) -> None:
    server.answer = lambda prompt, number: Answer(str(number_of(prompt) / 20), wait=0.2 / number)
    critic = ProviderCritic("a-model", base_url=server.url, concurrency=12)
    result = one(evaluate(SAMPLES, OUTPUTS, "LLMFaithfulnessScore", critic=critic), "LLMFaithfulnessScore")
    assert result.per_sample == tuple(n / 20 for n in range(12))
    assert server.most_at_once > 4
    body = server.requests[0][2]
    assert body["temperature"] == 0
    assert body["messages"][0]["role"] == "system"
    assert critic.score(prompt="Which seal number 3?", metadata={"scale": "0-1"}) == 0.15


def test_each_failure_has_its_reason(server: ModelServer) -> None:
    reasons = {
        0: Answer("I cannot say."),
        1: Answer("7"),
        2: Answer("no", stop="refused"),
        3: Answer("0.1", stop="length"),
        4: Answer("broken", status=500),
    }
    server.answer = lambda prompt, number: reasons.get(number_of(prompt), Answer("0.5"))
    from assay.llm.providers.limits import Limits

    critic = ProviderCritic("a-model", base_url=server.url, limits=Limits(attempts=1, concurrency=1))
    result = one(evaluate(SAMPLES, OUTPUTS, "LLMFaithfulnessScore", critic=critic), "LLMFaithfulnessScore")
    assert result.value == 0.5
    assert result.details["skipped"] == {"critic_unparseable": 2, "critic_off_scale": 1, "critic_error": 2}


def test_the_command_asks_records_and_pays_once(assay: Call, server: ModelServer) -> None:
    command = (*RAG, *FAITHFUL, "--base-url", server.url, *PRICES, "--format", "json")
    status, out, err = assay(*command, "--slice", "even")
    assert status == 0, err
    scores = json.loads(out)["systems"][0]["metrics"]["LLMFaithfulnessScore"]
    assert scores["value"] == pytest.approx(sum(n / 20 for n in range(12)) / 12)
    ledger = lines("calls.jsonl")
    spent = sum(call["cost_usd"] for call in ledger)
    assert len(ledger) == len(server.requests) == 12
    assert f"asked a-model 12 questions: {sum(call['tokens_in'] for call in ledger):,} tokens read" in err
    assert f"{spent:.4f} USD" in err
    assert "sk-very-secret" not in Path("calls.jsonl").read_text()
    again = assay(*command, "--slice", "even", "--resume")
    assert json.loads(again[1])["systems"] == json.loads(out)["systems"]
    assert len(server.requests) == 12
    assert "answers from the ledger: 12\n" in again[2]
    # Another metric asks what is new.
    assert assay(*RAG, "-m", "LLMAnswerQuality(dimensions=[clarity], scale='0-1')", "--base-url", server.url)[0] == 0
    assert len(server.requests) == 24


def test_an_estimate_asks_nothing(assay: Call, server: ModelServer) -> None:
    status, out, err = assay(*RAG, *FAITHFUL, "--base-url", server.url, *PRICES, "--dry-run")
    assert (status, server.requests, Path("calls.jsonl").exists()) == (0, [], False), err
    estimate = dict(line.split(": ") for line in out.splitlines())
    assert estimate["questions to ask"] == "12"
    assert estimate["cost"].endswith("USD")


def test_the_cap_holds_over_runs_and_the_rest_is_no_score(assay: Call, server: ModelServer) -> None:
    command = (*RAG, *FAITHFUL, "--base-url", server.url, *PRICES, "--format", "json", "--concurrency", "1")
    status, out, err = assay(*command, "--max-calls", "5")
    assert (status, len(server.requests)) == (1, 5)
    details = json.loads(out)["systems"][0]["metrics"]["LLMFaithfulnessScore"]["details"]
    assert (details["num_samples"], details["skipped"]) == (5, {"critic_not_asked": 7})
    assert "stopped early" in err
    assert assay(*command, "--max-calls", "5", "--resume")[0] == 1
    assert len(server.requests) == 5
    assert assay(*command, "--resume")[0] == 0
    assert len(server.requests) == 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--resume",), "calls.jsonl does not exist"),
        (("--budget-usd", "1"), "--price-in"),
        (("--most-tokens", "0"), "--most-tokens"),
        (("--base-url", "nowhere"), "--base-url"),
        (("--model", ""), "--model"),
    ],
)
def test_errors_are_reported_before_any_call(
    words: tuple[str, ...], message: str, assay: Call, server: ModelServer
) -> None:
    status, out, err = assay(*RAG, *FAITHFUL, "--base-url", server.url, *words)
    assert (status, out, server.requests) == (2, "", [])
    assert message in err


def test_a_refused_key_stops_the_run(assay: Call, server: ModelServer) -> None:
    server.answer = lambda prompt, number: Answer("no such key", status=401)
    status, out, err = assay(*RAG, *FAITHFUL, "--base-url", server.url, "--concurrency", "1")
    assert (status, out) == (2, "")
    assert "refused" in err
    assert len(server.requests) == 1


def test_options_of_an_unused_model_are_noted(assay: Call, server: ModelServer) -> None:
    status, _, err = assay(*RAG, "-m", "TokenF1", "--base-url", server.url)
    assert (status, server.requests) == (0, [])
    assert "--model has no effect" in err


@pytest.mark.slow
def test_a_killed_run_pays_no_call_twice(assay: Call, server: ModelServer) -> None:
    many = [{**SAMPLES[0], "sample_id": f"s{n}", "query": f"Which seal number {n}?"} for n in range(200)]
    write("samples.jsonl", many)
    write("outputs.jsonl", [{**OUTPUTS[0], "sample_id": of["sample_id"]} for of in many])
    server.answer = lambda prompt, number: Answer("0.5", wait=0.05)
    words = [*RAG, *FAITHFUL, "--base-url", server.url, *PRICES, "--concurrency", "4"]
    run = [sys.executable, "-c", "from assay.cli import run_process; run_process()", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    process = subprocess.Popen(run, env=environment, stderr=subprocess.PIPE)
    while len(server.requests) < 40:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    server.rest()
    paid = {call["key"] for call in lines("calls.jsonl")} if Path("calls.jsonl").exists() else set()
    before = len(server.requests)
    assert paid
    status, _, err = assay(*words, "--resume")
    assert status == 0, err
    calls = lines("calls.jsonl")
    assert len(calls) == len({call["key"] for call in calls}) == 200
    assert len(server.requests) == before + 200 - len(paid)
    # What was in flight when the process was killed is all that was asked twice.
    assert before - len(paid) <= 4


def test_gate_asks_the_critic_of_a_rule(assay: Call, server: ModelServer) -> None:
    words = ("gate", "--samples", "samples.jsonl", "--candidate", "outputs.jsonl", "--rule")
    model = ("--model", "a-model", "--base-url", server.url, "--ledger", "calls.jsonl", "--format", "json")
    # The scores are 0, 1/20, ..., 11/20.
    status, out, _ = assay(*words, "LLMFaithfulnessScore >= 0.27", *model)
    assert status == 0
    assert json.loads(out)["rules"][0]["value"] == pytest.approx(0.275)
    calls = len(server.requests)
    assert assay(*words, "LLMFaithfulnessScore >= 0.28", *model)[0] == 1
    assert len(server.requests) == calls
    status, _, err = assay(*words, "LLMFaithfulnessScore >= 0.2")
    assert status == 2
    assert "--model" in err


def test_gate_decides_nothing_on_a_part_of_the_answers(assay: Call, server: ModelServer) -> None:
    words = ("gate", "--samples", "samples.jsonl", "--candidate", "outputs.jsonl", "--rule", "llm_faithfulness >= 0")
    model = ("--model", "a-model", "--base-url", server.url, "--ledger", "calls.jsonl")
    assert assay(*words, *model, "--max-calls", "5")[0] == 2
    assert assay(*words, *model)[0] == 0
