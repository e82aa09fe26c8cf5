"""Warning about systems under test whose model is of the same family as one of a judge's models.

The warning appears before any cost arises. The judgments app has no runs, so the app that has the systems of a
collection registers a list of them.
"""

from __future__ import annotations

from assay.llm.judges.model_families import Kin, kin_of, warning
from judgments.hooks import SYSTEM_LISTS
from judgments.machines.judge_runs.judge_settings import Choice
from judgments.machines.kinds import BATTLES, ENSEMBLE
from judgments.models import BattleRun, Collection, Judge


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


def models_chosen(choice: Choice) -> list[str]:
    """Return the models that a judge with these settings would call."""
    return [choice.model, *(model for judge in choice.judges for model in models_of(judge))]
