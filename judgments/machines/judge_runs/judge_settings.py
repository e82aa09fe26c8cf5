"""Settings of a machine judge by a lead, validated against the round, and the warning about related systems.

The judgments app has no runs, so the app that has the systems of a collection registers a list of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.core.errors import NotValid
from assay.llm.judge import Outcome
from assay.llm.judges.model_families import Kin, kin_of, warning
from judgments.hooks import SYSTEM_LISTS
from judgments.machines.judge_runs import expected_answers
from judgments.machines.kinds import BATTLES, ENSEMBLE, GRADED, Kind
from judgments.machines.prompts.prompts import Named, of_kind
from judgments.models import BattleRun, Collection, Judge, Provider, Round, Snapshot

WARMEST = 2.0


@dataclass(frozen=True)
class JudgeSettings:
    """A lead's settings of a machine judge."""

    provider: Provider | None = None
    model: str = ""
    prompt: Named | None = None
    examples: int = 0
    snapshot: Snapshot | None = None
    seed: int = 1
    probabilities: bool = False
    kind: str = GRADED
    expected: Mapping[str, Sequence[str]] = field(default_factory=dict)
    yes: int | None = None
    text_metric: str = ""
    temperature: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    judges: Sequence[Judge] = ()

    def provider_and_model(self) -> tuple[Provider, str]:
        """Return the provider and the model."""
        if self.provider is None:
            raise NotValid("This judge needs a model.", {"provider": "Choose a provider.", "model": "Choose a model."})
        if self.provider.offered(self.model) is None:
            problem = f"{self.provider} has no model {self.model!r}. Choose one from the list on the provider's page."
            raise NotValid(problem, "model")
        if not 0 <= self.temperature <= WARMEST:
            raise NotValid(
                "The temperature is out of range.", {"temperature": f"Choose a value from 0 to {WARMEST:g}."}
            )
        return self.provider, self.model


def check_used(choice: JudgeSettings, kind: Kind) -> None:
    """Refuse settings that the kind does not use, because the sender expects an effect."""
    idle = {
        "expected": choice.expected and not kind.needs_expected,
        "yes": choice.yes is not None and kind.says != "yes",
        "text_metric": choice.text_metric and kind.says != "usefulness",
        "parameters": choice.parameters and kind.asks == "model",
        "judges": choice.judges and kind.asks != "judges",
        "examples": choice.examples and kind.name != GRADED,
        "probabilities": choice.probabilities and kind.name != GRADED,
        "provider": choice.provider is not None and kind.asks != "model",
        "prompt": choice.prompt is not None and choice.prompt.asks != of_kind(kind.name),
    }
    if wrong := {
        name: f"The judge {kind.name} does not use this setting. Remove it." for name, given in idle.items() if given
    }:
        raise NotValid(f"The judge {kind.name} does not use {', '.join(wrong)}. Remove it.", wrong)


def fitting(round_: Round, kind: Kind, choice: JudgeSettings) -> dict[str, Any]:
    """Return the settings that the round does not contain: accepted answers, and the grade of a yes."""
    record: dict[str, Any] = {}
    if kind.needs_expected:
        record["expected"] = expected_answers.checked(choice.expected)
        here = round_.pairs.filter(query__query_id__in=list(record["expected"]))
        if not here.exists():
            problem = "No query of this round has an expected answer. Add expected answers by query_id."
            raise NotValid(problem, "expected")
    if kind.says == "yes":
        values = round_.scale.values()
        relevant = next((value for value in values if value >= round_.scale.relevant_from), values[-1])
        yes = relevant if choice.yes is None else choice.yes
        if yes not in values[1:]:
            problem = (
                f"Choose a grade above the lowest one of the scale: {', '.join(str(value) for value in values[1:])}."
            )
            raise NotValid(problem, "yes")
        record |= {"yes": yes, "no": values[0]}
    return record


def beside(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings as a judge's parameters store them, with accepted answers as a hash."""
    named = {name: record[name] for name in ("yes", "no") if name in record}
    return named | ({"expected_sha256": expected_answers.sha256(record["expected"])} if "expected" in record else {})


def on_scale(outcome: Outcome, record: Mapping[str, Any], values: Sequence[int]) -> Outcome:
    """Return the outcome on the round's scale: a yes or no becomes its grade, and a grade outside the scale becomes
    None."""
    if outcome.grade is not None and outcome.relevant is not None and "yes" in record:
        outcome = replace(outcome, grade=record["yes"] if outcome.relevant else record["no"])
    return outcome.on_scale(values)


def kin_in(collection: Collection, *models: str) -> list[Kin]:
    """Return the collection's systems whose model is of the same family as one of the given models."""
    names = [model for model in dict.fromkeys(models) if model]
    if not names:
        return []
    systems = [one for name in SYSTEM_LISTS for one in SYSTEM_LISTS[name](collection)]
    return list(dict.fromkeys(kin for model in names for kin in kin_of(model, systems)))


def kin_warning(collection: Collection, *models: str) -> str:
    """Return the warning about related systems for a choice of models; empty if no system is related."""
    return warning(kin_in(collection, *models))


def models_of(judge: Judge) -> list[str]:
    """Return the models that a judge calls: its own, those of its pairwise comparisons, or those of its member
    judges."""
    if judge.kind == ENSEMBLE:
        members = Judge.objects.filter(collection=judge.collection_id, uuid__in=judge.inputs.get("judges", ()))
        return [model for member in members.order_by("name") for model in models_of(member)]
    if judge.kind == BATTLES:
        runs = BattleRun.objects.filter(uuid=judge.parameters.get("run")).values_list("ensemble", flat=True)
        # For imported comparisons the judge's parameters name the models, some with a provider prefix.
        return [one["model"] for ensemble in runs for one in ensemble] or list(judge.parameters.get("models", ()))
    return [judge.model] if judge.model else []


def models_chosen(choice: JudgeSettings) -> list[str]:
    """Return the models that a judge with these settings would call."""
    return [choice.model, *(model for judge in choice.judges for model in models_of(judge))]
