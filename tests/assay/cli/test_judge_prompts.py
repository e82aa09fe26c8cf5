"""Tests of prompt options of ``assay judge``: templates, scales and examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

ASK = ("judge", "pairs.jsonl", "--model", "a-model", "--out", "machine.jsonl")


def labels() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("machine.jsonl").read_text().splitlines()]


def write_pairs(*expected: Any) -> None:
    rows = [
        {"query_id": "q1", "query": "tent", "doc_id": f"d{n}", "text": f"Tent number {n}.", "expected": one}
        for n, one in enumerate(expected)
    ]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    with serving() as model_server:
        yield model_server


def test_a_system_is_judged_by_its_own_prompt(assay: Call, server: ModelServer) -> None:
    write_pairs("two people")
    server.answer = lambda prompt, number: Answer("two people")
    Path("mine.txt").write_text("\ufeffRead {document} and tell me: {query}\r\n", encoding="utf-8")
    downstream = (*ASK, "--judge", "downstream", "--base-url", server.url)
    status, _, err = assay(*downstream, "--template", "mine.txt")
    assert status == 0, err
    first, second = server.requests[0][2]["messages"]
    assert first["role"] == "system"
    assert second["content"].startswith("Read <<<document ")
    assert second["content"].endswith("and tell me: tent")
    (label,) = labels()
    assert (label["usefulness"], label["parameters"]["template"]) == (1.0, "downstream-own")
    # The words decide the answer: the judge's own ones are other questions, and another judge's labels.
    assert assay(*downstream, "--resume", "--template", "mine.txt", "--dry-run")[1].startswith("to judge: 0\n")
    assert assay(*downstream, "--resume")[0] == 2
    # With a system of its own that is empty, the model is told nothing else.
    Path("mine.json").write_text(json.dumps({"system": "", "prompt": "{document}\n{query}"}))
    assert assay(*downstream, "--template", "mine.json")[0] == 0
    assert [one["role"] for one in server.requests[-1][2]["messages"]] == ["user"]


@pytest.mark.parametrize(
    ("judge", "words", "message"),
    [
        (
            "downstream",
            "Read {document} for {user}: {query}",
            "an unknown placeholder {user}; known: query, document",
        ),
        ("downstream", "Answer {query}", "lacks the placeholder {document}"),
        ("graded", "{query} {document}", "lacks the placeholder {scale}"),
        ("expected_answer", "{query} {document}", "lacks the placeholder {expected}"),
        ("binary", "  \n", "the prompt is empty"),
        ("graded", '{"system": "x"}', "the JSON object needs the text prompt"),
        ("graded", "{query} {scale} {document}" + "x" * 40_001, "at most 40,000 characters"),
    ],
)
def test_words_that_do_not_do_are_refused(assay: Call, judge: str, words: str, message: str) -> None:
    Path("mine.txt").write_text(words)
    status, out, err = assay(*ASK, "--judge", judge, "--template", "mine.txt", "--dry-run")
    assert (status, out) == (2, "")
    assert "mine.txt: " in err
    assert message in err


def test_of_several_accepted_answers_the_best_counts(assay: Call, server: ModelServer) -> None:
    write_pairs(["two people", "a couple"], "three", [" ", ""])
    server.answer = lambda prompt, number: Answer("A couple")
    status, _, err = assay(*ASK, "--judge", "downstream", "--text-metric", "exact_match", "--base-url", server.url)
    assert status == 0, err
    assert {one["doc_id"]: one["usefulness"] for one in labels()} == {"d0": 1.0, "d1": 0.0}
    assert "1 pair not judged, without expected; the first is pairs.jsonl:3" in err
    server.answer = lambda prompt, number: Answer("YES, it does." if "a couple" in prompt else "NO.")
    status, _, err = assay(*ASK, "--judge", "expected_answer", "--base-url", server.url)
    assert status == 0, err
    assert "3 questions asked" in err
    assert {one["doc_id"]: one["grade"] for one in labels()} == {"d0": 1, "d1": 0}


@pytest.mark.parametrize("judge", ["graded", "binary", "expected_answer", "downstream"])
def test_temperature_and_seed_reach_the_model(assay: Call, server: ModelServer, judge: str) -> None:
    write_pairs("two people")
    assay(*ASK, "--judge", judge, "--base-url", server.url, "--temperature", "0.5", "--seed", "7")
    body = server.requests[0][2]
    assert (body["temperature"], body["seed"]) == (0.5, 7)
    assert [labels()[0]["parameters"][name] for name in ("temperature", "seed")] == [0.5, 7]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--model", "o3", "--temperature", "0.5"), "--temperature is 0.5, and"),
        (
            ("--provider", "anthropic", "--seed", "7"),
            "--seed is 7, and Anthropic does not accept it for a-model",
        ),
    ],
)
def test_options_that_a_provider_does_not_take_are_refused(
    assay: Call, server: ModelServer, more: tuple[str, ...], message: str
) -> None:
    write_pairs("two people")
    status, _, err = assay(*ASK, "--judge", "graded", "--base-url", server.url, *more)
    assert status == 2
    assert message in err.splitlines()[-1]
    assert server.requests == []
