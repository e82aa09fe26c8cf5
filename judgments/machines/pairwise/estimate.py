"""Estimate of the calls, tokens and dollars that pairwise comparisons would need, before any call is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.llm.judge import Context
from assay.llm.judges.bulk_judging import Asking, Plan
from assay.llm.judges.injection_probe import TRAPS
from assay.llm.judges.pairwise import Pairwise
from judgments.machines.judge_runs.call_log import ratio_of
from judgments.machines.judge_runs.estimate import CostEstimate
from judgments.machines.pairwise import pair_selection
from judgments.machines.pairwise.pair_selection import Choice, Draw, contexts_of
from judgments.machines.providers import accounts
from judgments.models import BattleRun, Judge, Provider, Round

# The number of comparisons to sample from the draw; the estimate is extrapolated from them.
LOOKED_AT = 200


@dataclass(frozen=True, kw_only=True)
class Estimate(CostEstimate):
    """The estimated cost of pairwise comparisons."""

    queries: int
    documents: int
    battles: int
    models: int
    without_text: int
    canaries: int


def estimate(round_: Round, choice: Choice, drawn: Draw) -> Estimate:
    """Estimate the cost from a sample of the comparisons, without calling a model."""
    asker = pair_selection.judge_of_record(pair_selection.prompt_record(round_, choice.seed, choice.template))
    # Probes are the same documents with one more sentence.
    return _estimate(asker, choice.ensemble, drawn, min(choice.canaries, len(drawn.battles)) * len(TRAPS))


def of_further(run: BattleRun, drawn: Draw) -> Estimate:
    """Estimate the cost of additional comparisons of a run, without probes."""
    ensemble = [(pair_selection.provider_of(run.round, member), member["model"]) for member in run.ensemble]
    return _estimate(pair_selection.judge_of_record(run.inputs), ensemble, drawn, 0)


def _estimate(asker: Pairwise, ensemble: Sequence[tuple[Provider, str]], drawn: Draw, planted: int) -> Estimate:
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
    """Return the plan of one model for these comparisons, using the token ratio of its last calls."""
    judge = Judge(provider=provider, model=model)
    return Asking(asker, accounts.endpoint(provider, model), contexts, {}, ratio_of(judge)).plan
