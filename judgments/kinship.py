"""Warning about systems under test whose model is of the same family as one of a judge's models.

The warning comes before anything is spent. The judgments app does not know about runs: an app that knows the systems
of a collection registers a list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judgments.core.family import Family
from judgments.judge_choice import Choice
from judgments.judge_kinds import BATTLES, ENSEMBLE
from judgments.judges.families import Kin, System, kin_of, warning
from judgments.models import BattleRun, Collection, Judge

# The systems whose documents a collection's rounds judge; rooms above register theirs.
Lister = Callable[[Collection], Sequence[System]]
SYSTEMS: Family[Lister] = Family("list of systems", {})


def kin_in(collection: Collection, *models: str) -> list[Kin]:
    """The systems of the collection that one of the models is kin to.

    Parameters
    ----------
    collection : Collection
        Whose systems.
    *models : str
        What they are called; an offline judge has none and is kin to nobody.
    """
    asked = [model for model in dict.fromkeys(models) if model]
    if not asked:
        return []
    systems = [one for name in SYSTEMS for one in SYSTEMS[name](collection)]
    return list(dict.fromkeys(kin for model in asked for kin in kin_of(model, systems)))


def kin_warning(collection: Collection, *models: str) -> str:
    """The same in words, for whoever is about to set these models to judge; empty where there is none."""
    return warning(kin_in(collection, *models))


def models_of(judge: Judge) -> list[str]:
    """Whom a judge asks: its model, all that fought its battles, and the models of all judges of an ensemble."""
    if judge.kind == ENSEMBLE:
        members = Judge.objects.filter(collection=judge.collection_id, uuid__in=judge.told.get("judges", ()))
        return [model for member in members.order_by("name") for model in models_of(member)]
    if judge.kind == BATTLES:
        runs = BattleRun.objects.filter(uuid=judge.parameters.get("run")).values_list("ensemble", flat=True)
        # Of battles from a file the judge's parameters name who fought; there a provider's name stands before others.
        return [one["model"] for ensemble in runs for one in ensemble] or list(judge.parameters.get("models", ()))
    return [judge.model] if judge.model else []


def models_chosen(choice: Choice) -> list[str]:
    """Whom a judge would ask that is not there yet, or whom those asked that it puts together."""
    return [choice.model, *(model for judge in choice.judges for model in models_of(judge))]
