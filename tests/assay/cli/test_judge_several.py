"""Tests of ``--judge pairwise`` and ``--judge ensemble``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

PAIRWISE = ("judge", "pairs.jsonl", "--judge", "pairwise", "--model", "a-model")
ENSEMBLE = ("judge", "pairs.jsonl", "--judge", "ensemble")


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def write_pairs(number: int) -> None:
    rows = [{"query_id": "q1", "query": "tent", "doc_id": f"d{n}", "text": f"Tent number {n}."} for n in range(number)]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(lambda prompt, number: Answer(json.dumps({"reason": "so", "score": 0.5}))) as model_server:
        yield model_server


def test_battles_are_those_of_zelo_from_one_ledger(assay: Call, server: ModelServer) -> None:
    write_pairs(4)
    ask = (*PAIRWISE, "--base-url", server.url, "--cycles", "2", "--both", "0.5", "--seed", "3")
    status, _, err = assay(*ask, "--out", "fought.jsonl")
    assert status == 0, err
    battles, calls = lines("fought.jsonl"), len(server.requests)
    assert calls == len(battles) == len(lines("fought.ledger.jsonl"))
    assert f"{calls} answers from 1 model: {calls} graded" in err
    # What one command has paid for the other knows; going on asks nothing, and writes the same.
    zelo = ("zelo", "judge", "pairs.jsonl", *ask[4:], "--ledger", "fought.ledger.jsonl")
    assert assay(*zelo, "--out", "zelo.jsonl")[0] == 0
    assert assay(*ask, "--out", "fought.jsonl", "--resume")[0] == 0
    assert len(server.requests) == calls
    assert sorted(map(str, lines("zelo.jsonl"))) == sorted(map(str, battles)) == sorted(map(str, lines("fought.jsonl")))
    assert assay("zelo", "fit", "fought.jsonl", "--out", "scores.jsonl")[0] == 0
    # Going on without the ledger would pay for every battle again.
    Path("fought.ledger.jsonl").unlink()
    status, _, err = assay(*ask, "--out", "fought.jsonl", "--resume")
    assert (status, len(server.requests)) == (2, calls)
    assert "--resume needs the ledger fought.ledger.jsonl" in err


def test_models_fight_in_given_words_and_numbers(assay: Call, server: ModelServer) -> None:
    write_pairs(2)
    Path("mine.txt").write_text("{query}: {first} or {second}? {guidelines}")
    Path("rules.md").write_text("Light is better.")
    more = ("--model", "another", "--template", "mine.txt", "--guidelines", "rules.md", "--temperature", "0.5")
    status, _, err = assay(*PAIRWISE, "--base-url", server.url, *more, "--most-tokens", "50", "--out", "fought.jsonl")
    assert status == 0, err
    assert {row["model"] for row in lines("fought.jsonl")} == {"a-model", "another"}
    assert {(body["temperature"], body["max_tokens"]) for _, _, body in server.requests} == {(0.5, 50)}
    assert all(one.startswith("tent: <<<document") and "Light is better." in one for one in server.prompts)


def test_a_dry_run_makes_no_model_calls(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write_pairs(3)
    status, out, _ = assay(*PAIRWISE, "--dry-run")
    assert (status, out.splitlines()[0].split(":")[0]) == (0, "models")


def test_an_ensemble_is_that_of_its_command_for_these_pairs(assay: Call) -> None:
    both = ("labels.jsonl", "other.jsonl")
    Path("pairs.jsonl").write_text(
        "".join(json.dumps({"query_id": "q1", "doc_id": doc_id}) + "\n" for doc_id in ("d4", "d1", "d3", "d9"))
    )
    command = {row["doc_id"]: row for row in map(json.loads, assay("ensemble", *both)[1].splitlines())}
    status, out, err = assay(*ENSEMBLE, "--of", *both, "--apart", "apart.csv")
    assert status == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["doc_id"] for row in rows] == ["d4", "d1", "d3"]
    assert rows == [command[row["doc_id"]] for row in rows]
    assert err.splitlines() == [
        "3 labels from 2 judges, 0 pairs undecided; mean pairwise exact agreement: 33.3%",
        "  1 pair of pairs.jsonl not judged, without a label from these judges",
    ]
    assert len(Path("apart.csv").read_text().splitlines()) == 4
    # Completed, and not judged twice.
    Path("part.jsonl").write_text(out.splitlines(keepends=True)[0])
    resumed = (*ENSEMBLE, "--of", *both, "--out", "part.jsonl", "--resume")
    assert assay(*resumed, "--dry-run")[1].splitlines()[:3] == [
        "to judge: 2",
        "already judged: 1",
        "without labels: 1",
    ]
    assert assay(*resumed)[0] == 0
    assert Path("part.jsonl").read_text() == out
    assert assay(*resumed, "--rule", "vote")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*ENSEMBLE,), "--of FILE FILE"),
        ((*ENSEMBLE, "--of", "labels.jsonl"), "only 1 judge"),
        ((*ENSEMBLE, "--of", "labels.jsonl", "other.jsonl", "--least", "0"), "--least is 0"),
        ((*ENSEMBLE, "--of", "labels.jsonl", "other.jsonl", "--model", "m"), "--model does not apply to the judge"),
        ((*ENSEMBLE, "--of", "labels.jsonl", "other.jsonl", "--guidelines", "x"), "--guidelines does not apply"),
        (("judge", "odd.jsonl", "--judge", "ensemble", "--of", "labels.jsonl", "other.jsonl"), "none of its pairs"),
        ((*PAIRWISE, "--canaries", "2"), "--canaries does not apply to the judge pairwise"),
        ((*PAIRWISE, "--threshold", "0.5"), "--threshold does not apply to the judge pairwise"),
        ((*PAIRWISE, "--of", "labels.jsonl"), "--of applies only to the judge ensemble, not to pairwise"),
        ((*PAIRWISE, "--most", "1"), "--most is 1;"),
        ((*PAIRWISE, "--resume"), "--resume needs --out FILE"),
        (("judge", "pairs.jsonl", "--judge", "pairwise"), "no model was given"),
        ((*PAIRWISE[:3], "token_overlap", "--cycles", "3"), "--cycles applies only to the judge pairwise"),
    ],
)
def test_mistakes_end_with_2_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    Path("odd.jsonl").write_text('{"query_id": "q7", "doc_id": "d1"}\n')
    status, out, err = assay(*words)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
