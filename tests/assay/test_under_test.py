"""Is it said before a model is asked that a system under test is its kin: of one, of battles, of an ensemble?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.assay.conftest import Call

# Nobody listens there: what is said is said before anybody is asked.
ASKED = ("--base-url", "http://127.0.0.1:9", "--dry-run")
GRADED = ("judge", "pairs.jsonl", "--judge", "graded", *ASKED)
PAIRWISE = ("judge", "pairs.jsonl", "--judge", "pairwise", "--model", "our-own", *ASKED)
ZELO = ("zelo", "judge", "pairs.jsonl", "--model", "our-own", *ASKED)
SYSTEMS = ("--under-test", "gpt-4o rerank", "--under-test", "ours=Claude", "--under-test", "gpt-5=none")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


@pytest.mark.parametrize("command", [GRADED, PAIRWISE, ZELO])
def test_before_anything_is_asked(assay: Call, command: tuple[str, ...]) -> None:
    status, out, err = assay(*command, "--model", "gpt-4.1", *SYSTEMS)
    assert (status, "questions to ask: " in out) == (0, True)
    assert "warning: gpt-4o rerank (GPT, by its name) is of the family of a model that judges it." in err
    assert "warning" not in assay(*command, "--model", "llama3:8b", *SYSTEMS)[2]


def test_of_several_models_any_one_is_enough(assay: Call) -> None:
    for command in (PAIRWISE, ZELO):
        err = assay(*command, "--model", "claude-haiku-4", "--model", "gpt-4.1", *SYSTEMS)[2]
        assert "ours (Claude, declared), gpt-4o rerank (GPT, by its name) are of the family" in err


def test_of_an_ensemble_any_judge_is_enough(assay: Call) -> None:
    rows = [json.loads(line) for line in Path("other.jsonl").read_text().splitlines()]
    Path("other.jsonl").write_text("".join(json.dumps({**row, "model": "claude-haiku-4"}) + "\n" for row in rows))
    for command in (
        ("ensemble", "labels.jsonl", "other.jsonl"),
        ("judge", "pairs.jsonl", "--judge", "ensemble", "--of", "labels.jsonl", "other.jsonl"),
    ):
        status, _, err = assay(*command, *SYSTEMS)
        assert (status, "warning: ours (Claude, declared) is of the family" in err) == (0, True)


def test_what_is_no_family_is_refused_and_a_judge_without_a_model_takes_none(assay: Call) -> None:
    status, _, err = assay(*GRADED, "--model", "gpt-4.1", "--under-test", "ours=GPT or Llama")
    assert (status, "--under-test ours=GPT or Llama: It names GPT and Llama" in err) == (2, True)
    status, _, err = assay("judge", "pairs.jsonl", "--judge", "token_overlap", "--under-test", "ours")
    assert (status, "--under-test is for judges that ask a model" in err) == (2, True)
