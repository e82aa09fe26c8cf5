"""Start, estimate, pause and resume a machine judge in a round, within caps if it calls a model."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.llm.judges.model_judge import ModelJudge
from judgments.guidelines import examples
from judgments.machines import kinds, machine_runs
from judgments.machines.calibration import audit_sample
from judgments.machines.judge_runs import ensembles, model_judges, offline_judging
from judgments.machines.judge_runs.estimate import JudgeCost, estimate, free
from judgments.machines.judge_runs.judge_settings import JudgeSettings, check_used
from judgments.models import Judge, JudgeRun, Round, User, audit

# The job kinds of judges that call a model, and of those that do not.
KIND, LOCAL = "judge", "prejudge"


def estimate_run(round_: Round, choice: JudgeSettings, *, canaries: int = 0) -> JudgeCost:
    """Estimate the cost of the judge in the round without calling a model or storing anything."""
    judge, asker = _made_for(round_, choice)
    existing = round_.collection.judges.filter(name=judge.name, parameters=judge.parameters).first()
    return _estimate(round_, existing or judge, asker, canaries)


def _made_for(round_: Round, choice: JudgeSettings) -> tuple[Judge, ModelJudge | None]:
    """Return the unsaved judge and, if it calls a model, the object that builds its prompts."""
    kind = kinds.find(choice.kind)
    check_used(choice, kind)
    if kind.asks == "model":
        return model_judges.build(round_, choice)
    return (ensembles if kind.asks == "judges" else offline_judging).build(round_, choice), None


def _estimate(round_: Round, judge: Judge, asker: ModelJudge | None, canaries: int) -> JudgeCost:
    if asker is None:
        return free(offline_judging.left_for(round_, judge))
    return estimate(round_, judge, asker, canaries=canaries if kinds.says_grades(judge.kind) else 0)


@transaction.atomic
def start(
    round_: Round,
    choice: JudgeSettings,
    *,
    actor: User,
    cap_usd: float | None,
    cap_calls: int | None,
    audit_share: float = 0.1,
    canaries: int = 0,
) -> JudgeRun:
    """Start a machine judge on the pairs of a round, as a job."""
    kind = kinds.find(choice.kind)
    if kind.asks == "model":
        examples.check_readable(actor, round_.guidelines)
        machine_runs.check_caps(cap_usd, cap_calls, of="A judge needs")
        machine_runs.check_prices(cap_usd, choice.provider_and_model())
        canaries = canaries if kind.says != "usefulness" else 0
    else:
        cap_usd, cap_calls, canaries = 0.0, None, 0
    audit_sample.check(audit_share)
    machine_runs.check_canaries(canaries)
    judge, asker = _made_for(round_, choice)
    judge = model_judges.get_or_store(judge)
    estimate = _estimate(round_, judge, asker, canaries)
    if judge.runs.filter(round=round_).exists():
        raise Conflict(f"{judge} already has a run in this round. Resume it on its page.")
    if not estimate.pairs:
        raise Conflict("The judge has answered all pairs that have the data it needs.")
    run = JudgeRun.objects.create(
        round=round_,
        judge=judge,
        cap_usd=cap_usd,
        cap_calls=cap_calls,
        estimate=estimate.as_json(),
        audit_share=audit_share,
        seed=round_.seed,
        canaries=canaries,
        created_by=actor,
    )
    sentence = f"{actor} started {judge} on {amount(estimate.pairs, 'pair')} of round {round_}"
    caps: dict[str, Any] = {"judge": str(judge.uuid), "cap_usd": cap_usd, "cap_calls": cap_calls}
    audit.record("judging.start", sentence, actor=actor, target=run, **caps)
    queue(run, actor)
    return run


@transaction.atomic
def pause(run: JudgeRun, *, actor: User) -> None:
    """Pause a run after its pending calls are done."""
    if not machine_runs.ask_to_pause(run):
        raise Conflict(f"{run.judge} is not running in this round.")
    sentence = f"{actor} paused {run.judge} in round {run.round}"
    audit.record("judging.pause", sentence, actor=actor, target=run)


@transaction.atomic
def resume(
    run: JudgeRun,
    *,
    actor: User,
    cap_usd: float | None = None,
    cap_calls: int | None = None,
    canaries: int | None = None,
) -> JudgeRun:
    """Resume a run: send the unanswered pairs. Answered pairs are not sent again."""
    run = (
        JudgeRun.objects.select_for_update(of=("self",))
        .select_related("judge__provider", "round", "job")
        .get(pk=run.pk)
    )
    if not machine_runs.is_over(run):
        raise Conflict(f"{run.judge} is running. Pause it first.")
    if model_judges.asks_a_model(run.judge):
        provider = model_judges.check_provider(run.judge)
        machine_runs.check_prices(run.cap_usd if cap_usd is None else cap_usd, (provider, run.judge.model))
    elif any(given is not None for given in (cap_usd, cap_calls, canaries)):
        raise NotValid(f"{run.judge} calls no model, so it has no caps and no probes.", "cap_calls")
    else:
        offline_judging.check_here(run.judge)
    machine_runs.change(run, cap_usd, cap_calls, canaries)
    sentence = f"{actor} resumed {run.judge} in round {run.round}"
    audit.record("judging.go_on", sentence, actor=actor, target=run)
    queue(run, actor)
    return run


def queue(run: JudgeRun, actor: User | None, *, woken: int = 0) -> None:
    """Queue an attempt; `woken` is the number of automatic retries in a row."""
    kind = KIND if model_judges.asks_a_model(run.judge) else LOCAL
    machine_runs.queue(run, kind, f"Judge {run.round} with {run.judge}", actor=actor, woken=woken)
