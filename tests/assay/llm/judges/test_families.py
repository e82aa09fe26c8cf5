"""Tests of model families: a judge related to an evaluated system is reported, others are not."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid
from assay.llm.judges.model_families import FAMILIES, System, declared_family, families_in, kin_of, warning


@pytest.mark.parametrize(
    ("model", "system"),
    [
        ("gpt-4o-mini", System("rerank-gpt4")),
        ("openai/o3-mini", System("a", about="reranked by ChatGPT")),
        ("claude-sonnet-4", System("Haiku rewrite")),
        ("gemini-2.5-flash", System("gemma2-9b")),
        ("meta-llama/Llama-3.1-70B-Instruct", System("vicuna-rankllm")),
        ("qwen3-32b-instruct", System("dense", about="gte-Qwen2-7B embeddings")),
        ("mixtral-8x7b", System("mistral_embed")),
        ("command-r-plus", System("cohere-rerank")),
        ("gpt-4o-mini", System("system-7", "GPT")),
        ("gpt-4o-mini", System("llama-rerank", "GPT")),  # what is declared goes before the name
        ("nemotron-70b", System("system-7", "Nemotron")),
        ("gpt-4o, claude-opus-4", System("system-7", "Claude")),  # an ensemble is kin to the family of each member
    ],
)
def test_systems_of_the_judges_family_are_detected(model: str, system: System) -> None:
    (kin,) = kin_of(model, [system, System("bm25")])
    assert (kin.name, kin.declared) == (system.name, bool(system.declared))
    assert system.name in warning([kin])


@pytest.mark.parametrize(
    ("model", "system"),
    [
        ("gpt-4o-mini", System("bm25")),
        ("gpt-4o-mini", System("claude-rerank")),
        ("gpt-4o-mini", System("gpt-named-by-chance", "none")),
        ("gpt-4o-mini", System("gpt-named-by-chance", "Llama")),
        ("claude-sonnet-4", System("opusculum")),  # a word inside a word is no name
        ("phi-4", System("delphi", about="philosophy shelf")),
        ("o1", System("fold-o10", about="bm25 with o12 stems")),
        ("judge-1", System("neural", "GPT")),  # nobody knows this model's family
        ("", System("gpt", "GPT")),
        ("grok-4", System("system-7", "Nemotron")),
    ],
)
def test_others_are_not(model: str, system: System) -> None:
    assert kin_of(model, [system]) == []
    assert warning([]) == ""


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_is_known_by_its_name(family: str) -> None:
    assert families_in(family) == [family] or family in families_in(" ".join(FAMILIES[family]))
    assert declared_family(family.upper()) == family


@pytest.mark.parametrize("text", ["x" * 61, "GPT and Llama", "a\0b", "bell\a"])
def test_invalid_family_names_are_refused(text: str) -> None:
    with pytest.raises(NotValid) as refused:
        declared_family(text)
    assert refused.value.fields["generator_family"]


def test_a_long_list_is_cut_and_counted() -> None:
    message = warning(kin_of("gpt-4", [System(f"gpt-{number}") for number in range(10, 18)]))
    assert "and 3 more are from the same model family" in message
