"""Tests of ``--under-test``: warnings about systems of the same model family as a judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assay.conftest import Call

# Nobody listens there: what is said is said before anybody is asked.
NO_CALLS = ("--base-url", "http://127.0.0.1:9", "--dry-run")
GRADED = ("judge", "pairs.jsonl", "--judge", "graded", *NO_CALLS)
PAIRWISE = ("judge", "pairs.jsonl", "--judge", "pairwise", "--model", "our-own", *NO_CALLS)
ZELO = ("zelo", "judge", "pairs.jsonl", "--model", "our-own", *NO_CALLS)
SYSTEMS = ("--under-test", "gpt-4o rerank", "--under-test", "ours=Claude", "--under-test", "gpt-5=none")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


@pytest.mark.parametrize("command", [GRADED, PAIRWISE, ZELO])
def test_the_warning_comes_before_any_call(assay: Call, command: tuple[str, ...]) -> None:
    status, out, err = assay(*command, "--model", "gpt-4.1", *SYSTEMS)
    assert (status, "questions to ask: " in out) == (0, True)
    assert "warning: gpt-4o rerank (GPT, by its name) is from the same model family as a judge of it." in err
    assert "warning" not in assay(*command, "--model", "llama3:8b", *SYSTEMS)[2]


def test_of_several_models_any_one_is_enough(assay: Call) -> None:
    for command in (PAIRWISE, ZELO):
        err = assay(*command, "--model", "claude-haiku-4", "--model", "gpt-4.1", *SYSTEMS)[2]
        assert "ours (Claude, declared), gpt-4o rerank (GPT, by its name) are from the same model family" in err


def test_of_an_ensemble_any_judge_is_enough(assay: Call) -> None:
    rows = [json.loads(line) for line in Path("other.jsonl").read_text().splitlines()]
    Path("other.jsonl").write_text("".join(json.dumps({**row, "model": "claude-haiku-4"}) + "\n" for row in rows))
    for command in (
        ("ensemble", "labels.jsonl", "other.jsonl"),
        ("judge", "pairs.jsonl", "--judge", "ensemble", "--of", "labels.jsonl", "other.jsonl"),
    ):
        status, _, err = assay(*command, *SYSTEMS)
        assert (status, "warning: ours (Claude, declared) is from the same model family" in err) == (0, True)


def test_invalid_families_are_refused(assay: Call) -> None:
    status, _, err = assay(*GRADED, "--model", "gpt-4.1", "--under-test", "ours=GPT or Llama")
    assert (status, "names GPT and Llama" in err) == (2, True)
    status, _, err = assay("judge", "pairs.jsonl", "--judge", "token_overlap", "--under-test", "ours")
    assert (status, "--under-test applies to judges with a model" in err) == (2, True)
