"""Model families, and warnings when a judge belongs to the family of a system that it judges.

A judge favors texts written or ranked by its own family (Panickssery, Bowman and Feng 2024, "LLM evaluators recognize
and favor their own generations"; Balog, Metzler and Qin 2025, "Rankers, judges, and assistants"). Its grades alone do
not show how much; a shared family can be reported before any money is spent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.core.errors import NotValid

# Model families by the words in their model names.
FAMILIES = {
    "GPT": ("gpt", "chatgpt", "openai", "davinci", "ada-002", "text-embedding-3", "o1", "o3", "o4-mini"),
    "Claude": ("claude", "anthropic", "opus", "sonnet", "haiku"),
    "Gemini": ("gemini", "gemma", "palm"),
    "Llama": ("llama", "vicuna"),
    "Qwen": ("qwen",),
    "Mistral": ("mistral", "mixtral", "ministral", "magistral"),
    "DeepSeek": ("deepseek",),
    "Cohere": ("cohere", "command-r"),
    "Phi": ("phi",),
    "Grok": ("grok",),
}
# Declaration for a system without a language model, whose name is not checked.
NO_MODEL = "none"
LONGEST = 60


@dataclass(frozen=True)
class System:
    """What is known about the origin of a system's answers."""

    name: str
    declared: str = ""
    about: str = ""


@dataclass(frozen=True)
class Kin:
    """A system of the judge's model family."""

    name: str
    family: str
    declared: bool


def families_in(text: str) -> list[str]:
    """Return the families whose names occur in a text as separate words.

    Examples
    --------
    >>> families_in("gpt-4o-mini"), families_in("deepseek-r1-distill-llama-70b"), families_in("bm25, sophisticated")
    (['GPT'], ['Llama', 'DeepSeek'], [])
    """
    folded = text.casefold()
    return [name for name, words in FAMILIES.items() if any(_stands(word, folded) for word in words)]


def declared_family(text: str) -> str:
    """Normalize a declaration: a known family, `NO_MODEL`, or another maker's name.

    Examples
    --------
    >>> declared_family(" gpt-4o "), declared_family("None"), declared_family("Nemotron"), declared_family("")
    ('GPT', 'none', 'Nemotron', '')
    """
    name = " ".join(text.split())
    if len(name) > LONGEST or not name.isprintable():
        message = (
            f"Enter one model family of at most {LONGEST} characters, such as GPT or Llama, or none if no "
            "model is used."
        )
        raise NotValid("This is not a model family.", {"generator_family": message})
    if name.casefold() == NO_MODEL:
        return NO_MODEL
    families = families_in(name)
    if len(families) > 1:
        message = (
            f"The text names {' and '.join(families)}. Enter only the family of the model that determines the answer."
        )
        raise NotValid("A run has only one model family.", {"generator_family": message})
    return families[0] if families else name


def kin_of(model: str, systems: Iterable[System]) -> list[Kin]:
    """Return the systems of the judge's model family, by declaration or by name.

    Examples
    --------
    >>> systems = [System("a", "GPT"), System("gpt-rerank", "none"), System("gpt-4o rerank"), System("bm25")]
    >>> [(one.name, one.declared) for one in kin_of("gpt-4.1-mini", systems)]
    [('a', True), ('gpt-4o rerank', False)]
    """
    own = families_in(model)
    kin = []
    for one in systems:
        family = _declared(model, own, one.declared) if one.declared else _named(own, f"{one.name} {one.about}")
        if family:
            kin.append(Kin(one.name, family, bool(one.declared)))
    return kin


def warning(kin: Sequence[Kin]) -> str:
    """Return a warning about systems of the judge's model family; empty if there are none."""
    if not kin:
        return ""
    shown = ", ".join(f"{one.name} ({one.family}, {'declared' if one.declared else 'by its name'})" for one in kin[:5])
    more = f" and {len(kin) - 5:,} more" if len(kin) > 5 else ""
    verb, whom = ("is", "it") if len(kin) == 1 else ("are", "them")
    return (
        f"{shown}{more} {verb} from the same model family as a judge of {whom}. Judges favor their own family: "
        "compare the order of the runs with that of a judge from another family and with human grades."
    )


def _declared(model: str, own: Sequence[str], declared: str) -> str:
    if declared in FAMILIES:
        return declared if declared in own else ""
    # A maker that is not in the table: its name in the model's name.
    return declared if declared != NO_MODEL and _stands(declared.casefold(), model.casefold()) else ""


def _named(own: Sequence[str], text: str) -> str:
    families = families_in(text)
    return next((family for family in own if family in families), "")


def _stands(word: str, text: str) -> bool:
    end = r"(?!\d)" if word[-1:].isdigit() else ""
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z]){end}", text) is not None
