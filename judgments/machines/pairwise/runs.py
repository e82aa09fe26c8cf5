"""Start, pause, resume and extend pairwise comparisons between a round's documents, within caps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from assay.core.errors import Conflict
from assay.core.text_rules import amount
from assay.llm.judge import Context
from assay.llm.judges.bulk_judging import Asking, Plan
from assay.llm.judges.injection_probe import TRAPS
from assay.llm.judges.pairwise import Pairwise
from judgments.guidelines import examples
from judgments.machines import machine_runs
from judgments.machines.judge_runs import retry
from judgments.machines.judge_runs.call_log import ratio_of
from judgments.machines.judge_runs.estimate import CostEstimate
from judgments.machines.pairwise import pair_selection
from judgments.machines.pairwise.pair_selection import ComparisonSettings, Draw, contexts_of
from judgments.machines.providers import accounts
from judgments.models import Battle, BattleRun, Judge, Provider, Round, User, audit

# The number of comparisons to sample from the draw; the estimate is extrapolated from them.
LOOKED_AT = 200


@dataclass(frozen=True, kw_only=True)
class ComparisonCost(CostEstimate):
    """The estimated cost of pairwise comparisons."""

    queries: int
    documents: int
    battles: int
    models: int
    without_text: int
    canaries: int


def estimate(round_: Round, choice: ComparisonSettings, drawn: Draw) -> ComparisonCost:
    """Estimate the cost from a sample of the comparisons, without calling a model."""
    asker = pair_selection.judge_of_record(pair_selection.prompt_record(round_, choice.seed, choice.template))
    # Probes are the same documents with one more sentence.
    return _estimate(asker, choice.ensemble, drawn, min(choice.canaries, len(drawn.battles)) * len(TRAPS))


def of_further(run: BattleRun, drawn: Draw) -> ComparisonCost:
    """Estimate the cost of additional comparisons of a run, without probes."""
    return _estimate(pair_selection.judge_of_record(run.inputs), pair_selection.members_of(run), drawn, 0)


def _estimate(asker: Pairwise, ensemble: Sequence[tuple[Provider, str]], drawn: Draw, planted: int) -> ComparisonCost:
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

    return ComparisonCost(
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


KIND = "battles"


def estimate_run(round_: Round, choice: ComparisonSettings) -> ComparisonCost:
    """Estimate the cost of the comparisons without calling a model or storing anything."""
    choice.check()
    return estimate(round_, choice, pair_selection.draw(round_, choice))


@transaction.atomic
def start(
    round_: Round, choice: ComparisonSettings, *, actor: User, cap_usd: float | None, cap_calls: int | None
) -> BattleRun:
    """Start pairwise comparisons between the documents of the round's queries, as a job."""
    choice.check()
    examples.check_readable(actor, round_.guidelines)
    machine_runs.check_caps(cap_usd, cap_calls, of="Pairwise comparisons need")
    machine_runs.check_prices(cap_usd, *choice.ensemble)
    drawn = pair_selection.draw(round_, choice)
    if not drawn.battles:
        raise Conflict("No query of the round has two documents with a text, so nothing can be compared.")
    # Lock the round, because runs are numbered consecutively.
    Round.objects.select_for_update(of=("self",)).get(pk=round_.pk)
    last = round_.battle_runs.aggregate(last=Max("number"))["last"] or 0
    run = BattleRun.objects.create(
        round=round_,
        number=last + 1,
        ensemble=[pair_selection.member_of(provider, model) for provider, model in choice.ensemble],
        inputs=pair_selection.prompt_record(round_, choice.seed, choice.template),
        prompt=choice.prompt.version if choice.prompt is not None else None,
        cycles=choice.cycles,
        both=choice.both,
        most=choice.most,
        seed=choice.seed,
        drawn=drawn.battles,
        battles=len(drawn.battles),
        cap_usd=cap_usd,
        cap_calls=cap_calls,
        canaries=choice.canaries,
        audit_share=choice.audit_share,
        estimate=estimate(round_, choice, drawn).as_json(),
        created_by=actor,
    )
    number = amount(len(choice.ensemble), "model")
    sentence = f"{actor} started {amount(run.battles, 'comparison')} by {number} in round {round_}"
    caps: dict[str, Any] = {"cap_usd": cap_usd, "cap_calls": cap_calls}
    audit.record("battling.start", sentence, actor=actor, target=run, **caps)
    queue(run, actor)
    return run


@transaction.atomic
def pause(run: BattleRun, *, actor: User) -> None:
    """Pause a run after its pending calls are done."""
    if not machine_runs.ask_to_pause(run):
        raise Conflict("These comparisons are not running.")
    _record("pause", f"{actor} paused {run} in round {run.round}", run, actor)


@transaction.atomic
def resume(
    run: BattleRun,
    *,
    actor: User,
    cap_usd: float | None = None,
    cap_calls: int | None = None,
    canaries: int | None = None,
) -> BattleRun:
    """Resume a run: send the unanswered comparisons. Answered comparisons are not sent again."""
    run = _locked(run)
    machine_runs.check_prices(cap_usd, *pair_selection.members_of(run))
    machine_runs.change(run, cap_usd, cap_calls, canaries)
    _record("go_on", f"{actor} resumed {run} in round {run.round}", run, actor)
    queue(run, actor)
    return run


def estimate_further(run: BattleRun, number: int) -> ComparisonCost:
    """Estimate the cost of the comparisons that `further` would add."""
    _check_idle(run)
    return of_further(run, pair_selection.draw_further(run, number))


@transaction.atomic
def further(run: BattleRun, number: int, *, actor: User) -> int:
    """Add the most informative comparisons and run them within the caps."""
    run = _locked(run)
    added = pair_selection.draw_further(run, number).battles
    run.drawn += added
    run.battles = len(run.drawn)
    run.save(update_fields=["drawn", "battles"])
    sentence = f"{actor} added {amount(len(added), 'comparison')} to {run} in round {run.round}"
    _record("further", sentence, run, actor)
    queue(run, actor)
    return len(added)


def unanswered(run: BattleRun) -> int:
    """Return the number of missing answers, one per model and comparison; 0 for an imported file."""
    if not run.ensemble:
        return 0
    rows = run.fought.exclude(outcome="transport_error").order_by()
    return max(
        0, run.battles * len(run.ensemble) - rows.values("requested_model", "a", "b", "swapped").distinct().count()
    )


def _locked(run: BattleRun) -> BattleRun:
    """Return the run, locked, if it is over and its providers are unchanged."""
    rows = BattleRun.objects.select_for_update(of=("self",)).select_related("round__collection", "job")
    locked = rows.get(pk=run.pk)
    _check_idle(locked)
    return locked


def _check_idle(run: BattleRun) -> None:
    if not machine_runs.is_over(run):
        raise Conflict("These comparisons are running. Pause them first.")
    if not run.ensemble:
        raise Conflict("These comparisons came from a file, so they have no model to call. Create another run.")
    pair_selection.members_of(run)


def queue(run: BattleRun, actor: User | None, *, woken: int = 0) -> None:
    """Queue an attempt; `woken` is the number of automatic retries in a row."""
    machine_runs.queue(run, KIND, f"{str(run).capitalize()} in {run.round}", actor=actor, woken=woken)


def _record(verb: str, sentence: str, run: BattleRun, actor: User) -> None:
    audit.record(f"battling.{verb}", sentence, actor=actor, target=run)


RETRIED = retry.Kind(
    BattleRun,
    ("round__collection", "job", "created_by"),
    # Answers copied from other runs are not calls.
    lambda run: Battle.objects.filter(run=run, reused=False),
    pair_selection.members_of,
    queue,
    lambda run: f"{str(run).capitalize()} will be retried in round {run.round} because a provider did not answer",
)
