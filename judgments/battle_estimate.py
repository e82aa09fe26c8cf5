"""Estimate of the calls, tokens and dollars that pairwise comparisons would take, before any of them runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgments import battle_draws, providers_kept
from judgments.answers_kept import ratio_of
from judgments.battle_draws import Choice, Draw, contexts_of
from judgments.judges.asking import Asking, Plan
from judgments.judges.canaries import TRAPS
from judgments.judges.contract import Context
from judgments.judges.pairwise import Pairwise
from judgments.judging_estimate import CostEstimate
from judgments.models import BattleRun, Judge, Provider, Round

# So many battles are looked at, spread over the draw; more are told in proportion.
LOOKED_AT = 200


@dataclass(frozen=True, kw_only=True)
class Estimate(CostEstimate):
    """What pairwise comparisons would cost.

    Parameters
    ----------
    queries, documents, battles, models : int
        Drawn; each model answers each battle.
    without_text : int
        Documents without a text, which meet nobody.
    canaries : int
        Battles with planted text that are asked about besides, over all models.
    """

    queries: int
    documents: int
    battles: int
    models: int
    without_text: int
    canaries: int


def estimate(round_: Round, choice: Choice, drawn: Draw) -> Estimate:
    """Look at some of the battles and tell in proportion what all of them would take; nothing is asked."""
    asker = battle_draws.asker_of(battle_draws.told_of(round_, choice.seed, choice.template))
    # Canaries are the same documents with a sentence more.
    return _told(asker, choice.ensemble, drawn, min(choice.canaries, len(drawn.battles)) * len(TRAPS))


def of_further(run: BattleRun, drawn: Draw) -> Estimate:
    """The same of battles that would be added to a run; no text is planted in them.

    Raises
    ------
    Conflict
        A provider was removed, or points elsewhere since.
    """
    ensemble = [(battle_draws.provider_of(run.round, member), member["model"]) for member in run.ensemble]
    return _told(battle_draws.asker_of(run.told), ensemble, drawn, 0)


def _told(asker: Pairwise, ensemble: Sequence[tuple[Provider, str]], drawn: Draw, planted: int) -> Estimate:
    number = len(drawn.battles)
    step = max(1, number // LOOKED_AT)
    some = [context for _, context in contexts_of(drawn.battles[::step][:LOOKED_AT])]
    plans = [_plan(asker, provider, model, some) for provider, model in ensemble]
    times = [(number + planted) / plan.questions if plan.questions else 0.0 for plan in plans]
    money = [plan.usd for plan in plans]
    calls = (number + planted) * len(plans)

    def total(name: str, which: int) -> int:
        return round(sum(getattr(plan, name)[which] * by for plan, by in zip(plans, times, strict=True)))

    def dollars(which: int) -> float:
        return sum(usd[which] * by for usd, by in zip(money, times, strict=True) if usd is not None)

    return Estimate(
        queries=drawn.queries,
        documents=drawn.documents,
        battles=number,
        models=len(plans),
        without_text=drawn.without_text,
        canaries=planted * len(plans),
        calls=(calls, 2 * calls),
        tokens_in=(total("tokens_in", 0), total("tokens_in", 1)),
        tokens_out=(total("tokens_out", 0), total("tokens_out", 1)),
        usd=None if None in money else (dollars(0), dollars(1)),
        looked_at=len(some),
    )


def _plan(asker: Pairwise, provider: Provider, model: str, contexts: Sequence[Context]) -> Plan:
    """What one model would take for these battles, going by how its provider counted tokens before."""
    asked = Judge(provider=provider, model=model)
    return Asking(asker, providers_kept.endpoint(provider, model), contexts, {}, ratio_of(asked)).plan
