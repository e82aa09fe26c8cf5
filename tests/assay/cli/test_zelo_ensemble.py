"""Tests of ensembles of models: address, key and prices of each one."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.options.ensemble import endpoint, endpoints, names
from assay.cli.options.provider import NAMES
from assay.core.errors import NotValid
from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

SECRETS = ("authorization", "x-api-key", "x-goog-api-key")


def options(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(**{**dict.fromkeys(NAMES), "model": None, **given})


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", f"key-of-{name.lower()}")
    monkeypatch.setenv("OTHER_KEY", "key-of-another")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("gpt-x", ("openai", "gpt-x", "https://api.openai.com/v1", None, "key-of-openai")),
        ("llama3:8b", ("openai", "llama3:8b", "https://api.openai.com/v1", None, "key-of-openai")),
        ("openai:llama3:8b@http://localhost:11434/v1,0,0", (
            "openai", "llama3:8b", "http://localhost:11434/v1", 0.0, "")),
        ("openai:m@https://api.openai.com/v1", ("openai", "m", "https://api.openai.com/v1", None, "key-of-openai")),
        ("anthropic:claude-x,3,15", ("anthropic", "claude-x", "https://api.anthropic.com", 3.0, "key-of-anthropic")),
        ("gemini:pro@20250101,1,2,OTHER_KEY", (
            "gemini", "pro@20250101", "https://generativelanguage.googleapis.com", 1.0, "key-of-another")),
        ("openai:m@https://h/v1,,,OTHER_KEY", ("openai", "m", "https://h/v1", None, "key-of-another")),
    ],
)  # fmt: skip
def test_valid_model_references(keys: None, given: str, expected: tuple[Any, ...]) -> None:
    model = endpoint(options(), given)
    assert (model.protocol.name, model.model, model.price_in, model.key) == (
        expected[0],
        expected[1],
        expected[3],
        expected[4],
    )
    assert model.base_url.startswith(expected[2])


def test_the_options_for_all_hold_for_models_of_that_provider_alone(keys: None) -> None:
    given = options(
        provider="openai", base_url="http://here/v1", key_variable="OTHER_KEY", price_in=1.0, price_out=2.0,
        model=["one", "openai:two", "anthropic:three", "openai:four@http://there/v1,5,6"],
    )  # fmt: skip
    one, two, three, four = endpoints(given)
    assert one.base_url == two.base_url == "http://here/v1"
    assert (one.key, two.key, three.key) == ("key-of-another", "key-of-another", "key-of-anthropic")
    assert three.base_url.startswith("https://api.anthropic.com")
    assert (one.price_out, three.price_out, four.price_out) == (2.0, None, 6.0)
    # The key was named for the other address, and the usual one is the provider's.
    assert (four.base_url, four.key) == ("http://there/v1", "")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["openai:"], "expected PROVIDER:MODEL"),
        (["m,1"], "expected PROVIDER:MODEL"),
        (["m,1,x"], "the price 'x'"),
        (["m,1,"], "only one of the two prices"),
        (["m,-1,2"], "price-in is -1"),
        (["m,1,2,NO_SUCH_KEY"], "NO_SUCH_KEY has no key"),
        (["m", "openai:m"], "--model m appears twice"),
        ([], "name one with --model"),
    ],
)
def test_invalid_model_references_are_refused(keys: None, given: list[str], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        endpoints(options(model=given))


def test_a_key_instead_of_a_variable_name_is_not_printed(keys: None) -> None:
    with pytest.raises(NotValid) as refused:
        endpoints(options(model=["m,1,2,sk-very-secret"]))
    assert "secret" not in str(refused.value)


def test_models_with_the_same_name_get_distinct_names(keys: None) -> None:
    def listed(*given: str) -> list[str]:
        return names(endpoints(options(model=list(given))))

    assert listed("a", "anthropic:b") == ["a", "b"]
    assert listed("a", "anthropic:a") == ["openai:a", "anthropic:a"]
    assert listed("a@http://u:secret@h/v1", "a@http://i/v1") == ["openai:a@http://h/v1", "openai:a@http://i/v1"]


@pytest.fixture
def server(keys: None) -> Iterator[ModelServer]:
    def answer(prompt: str, number: int) -> Answer:
        return Answer(json.dumps({"reason": "the first", "score": -0.5}), read=1_000, written=100)

    with serving(answer) as model_server:
        yield model_server


def test_three_providers_fight_the_same_battles_at_their_own_price(assay: Call, server: ModelServer) -> None:
    documents = [{"id": f"d{at}", "content": f"Tent {at}."} for at in range(4)]
    Path("set.jsonl").write_text(json.dumps({"query": {"id": "q1", "query": "tents"}, "documents": documents}) + "\n")
    ask = ["zelo", "judge", "set.jsonl", "--cycles", "1", "--out", "fought.jsonl"]
    for model in ("openai:llama3:8b", "anthropic:llama3:8b", "gemini:flash"):
        price = {"openai": "1,10,OPENAI_API_KEY", "anthropic": "2,20,OTHER_KEY", "gemini": "0,0"}[
            model.partition(":")[0]
        ]
        ask += ["--model", f"{model}@{server.url},{price}"]
    status, out, _ = assay(*ask, "--dry-run")
    assert (status, out.splitlines()[0], server.requests) == (0, "models: 3", [])
    assert out.splitlines()[-1] == "  gemini:flash: 4 questions, 0.0000 to 0.0000 USD"
    status, _, err = assay(*ask, "--budget-usd", "1")
    assert status == 0, err
    rows = [json.loads(line) for line in Path("fought.jsonl").read_text().splitlines()]
    assert Counter(row["model"] for row in rows) == {"openai:llama3:8b": 4, "anthropic:llama3:8b": 4, "gemini:flash": 4}
    assert len({(row["a"], row["b"]) for row in rows}) == 4
    # 1,000 tokens read and 100 written: 0.002 and 0.004 dollars a question.
    assert "spent: 0.0240 USD now" in err
    counts = Counter(
        next((value for name, value in headers.items() if name.lower() in SECRETS and value), "none")
        for _, headers, _ in server.requests
    )
    assert counts == {"Bearer key-of-openai": 4, "key-of-another": 4, "none": 4}
    assert not any("key-of" in Path(name).read_text() for name in ("fought.jsonl", "fought.ledger.jsonl"))
    # Another model joins: what is known is not asked again.
    before = len(server.requests)
    assert assay(*ask, "--model", f"openai:fourth@{server.url},1,1")[0] == 0
    assert len(server.requests) == before + 4
    status, _, err = assay(*ask, "--model", f"fifth@{server.url}", "--budget-usd", "1")
    assert (status, "fifth has none" in err) == (2, True)
