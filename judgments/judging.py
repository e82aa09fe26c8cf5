"""Start, estimate, pause and resume a machine judge in a round, within caps if it calls a model."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from judgments import audit, audit_slice, ensembles, examples, judge_kinds, machine_runs, model_judges, prejudging
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.judge_choice import Choice, check_used
from judgments.judges.model_judge import ModelJudge
from judgments.judging_estimate import Estimate, estimate, free
from judgments.models import Judge, JudgeRun, Provider, Round, User

# The jobs: of judges that ask a model, and of those that do not.
KIND, LOCAL = "judge", "prejudge"


def look(round_: Round, choice: Choice, *, canaries: int = 0) -> Estimate:
    """What the judge would take in the round; nothing is asked and nothing is stored.

    Raises
    ------
    NotValid
        As `model_judges.made_for`, `prejudging.made_for` and `ensembles.made_for`.
    """
    judge, asker = _made_for(round_, choice)
    kept = round_.collection.judges.filter(name=judge.name, parameters=judge.parameters).first()
    return _told(round_, kept or judge, asker, canaries)


def _made_for(round_: Round, choice: Choice) -> tuple[Judge, ModelJudge | None]:
    """The judge, not stored yet, and what asks for it where it asks a model."""
    kind = judge_kinds.find(choice.kind)
    check_used(choice, kind)
    if kind.asks == "model":
        return model_judges.made_for(round_, choice)
    return (ensembles if kind.asks == "judges" else prejudging).made_for(round_, choice), None


def _told(round_: Round, judge: Judge, asker: ModelJudge | None, canaries: int) -> Estimate:
    if asker is None:
        return free(prejudging.left_for(round_, judge))
    return estimate(round_, judge, asker, canaries=canaries if judge_kinds.says_grades(judge.kind) else 0)


@transaction.atomic
def start(
    round_: Round,
    choice: Choice,
    *,
    actor: User,
    cap_usd: float | None,
    cap_calls: int | None,
    audit_share: float = 0.1,
    canaries: int = 0,
) -> JudgeRun:
    """Let a machine judge the pairs of a round, as a job.

    Parameters
    ----------
    round_ : Round
        In any state; a machine's grade takes no slot and counts for nothing by itself.
    choice : Choice
        Which kind of judge, which model, in which words.
    actor : User
        The lead who asks for it.
    cap_usd, cap_calls : float, int or None
        Where it stops, whatever is left; one of them at least. What a question can cost at most is held back before it
        is asked. A judge that asks no model spends nothing and has none.
    audit_share : float
        The share of all pairs that people judge whatever the machine says, drawn by the round's seed.
    canaries : int
        On how many pairs it is tried whether a document can talk the judge into a grade; of judges that ask no model,
        or give no grade, none.

    Raises
    ------
    NotValid
        By field: caps, shares, or as `look`.
    NotAllowed
        The actor may not read the round's guidelines yet, which a model's answers could repeat.
    Conflict
        The judge is at work in this round, or there is nothing for it to do.
    """
    kind = judge_kinds.find(choice.kind)
    if kind.asks == "model":
        examples.check_readable(actor, round_.guidelines)
        machine_runs.check_caps(cap_usd, cap_calls, of="A judge needs")
        _check_price(*choice.asked(), cap_usd)
        canaries = canaries if kind.says != "usefulness" else 0
    else:
        cap_usd, cap_calls, canaries = 0.0, None, 0
    audit_slice.check(audit_share)
    machine_runs.check_canaries(canaries)
    judge, asker = _made_for(round_, choice)
    judge = model_judges.kept(judge)
    told = _told(round_, judge, asker, canaries)
    if judge.runs.filter(round=round_).exists():
        raise Conflict(f"{judge} has been at work in this round before. Go on with it on its page.")
    if not told.pairs:
        raise Conflict("There is no pair with what this judge needs that it has not answered.")
    run = JudgeRun.objects.create(
        round=round_,
        judge=judge,
        cap_usd=cap_usd,
        cap_calls=cap_calls,
        estimate=told.as_json(),
        audit_share=audit_share,
        seed=round_.seed,
        canaries=canaries,
        created_by=actor,
    )
    sentence = f"{actor} let {judge} judge {amount(told.pairs, 'pair')} of round {round_}"
    caps: dict[str, Any] = {"judge": str(judge.uuid), "cap_usd": cap_usd, "cap_calls": cap_calls}
    audit.record("judging.start", sentence, actor=actor, collection=round_.collection, target=run, **caps)
    queue(run, actor)
    return run


@transaction.atomic
def pause(run: JudgeRun, *, actor: User) -> None:
    """Ask it to stop once the answers in flight are there.

    Raises
    ------
    Conflict
        It is not at work.
    """
    if not machine_runs.ask_to_pause(run):
        raise Conflict(f"{run.judge} is not at work in this round.")
    sentence = f"{actor} paused {run.judge} in round {run.round}"
    audit.record("judging.pause", sentence, actor=actor, collection=run.round.collection, target=run)


@transaction.atomic
def go_on(
    run: JudgeRun,
    *,
    actor: User,
    cap_usd: float | None = None,
    cap_calls: int | None = None,
    canaries: int | None = None,
) -> JudgeRun:
    """Ask what has no answer yet; what was answered is never asked again.

    Parameters
    ----------
    run : JudgeRun
        One that is not at work.
    actor : User
        Who asks for it.
    cap_usd, cap_calls : float, int or None
        Other caps over all that was ever spent in this run; None leaves each as it is.
    canaries : int or None
        On how many pairs in all; None leaves it.

    Raises
    ------
    Conflict
        It is at work, or its provider is gone or elsewhere.
    NotValid
        A cap below what was spent already, in dollars where the model has no price, or for a judge that spends nothing;
        a local model that is not allowed here.
    """
    run = (
        JudgeRun.objects.select_for_update(of=("self",))
        .select_related("judge__provider", "round", "job")
        .get(pk=run.pk)
    )
    if not machine_runs.is_over(run):
        raise Conflict(f"{run.judge} is at work. Pause it first.")
    if model_judges.asks_a_model(run.judge):
        provider = model_judges.check_provider(run.judge)
        _check_price(provider, run.judge.model, run.cap_usd if cap_usd is None else cap_usd)
    elif any(given is not None for given in (cap_usd, cap_calls, canaries)):
        said = f"{run.judge} asks no model: it has no caps and no canaries."
        raise NotValid(said, {"cap_calls": said})
    else:
        prejudging.check_here(run.judge)
    machine_runs.change(run, cap_usd, cap_calls, canaries)
    sentence = f"{actor} went on with {run.judge} in round {run.round}"
    audit.record("judging.go_on", sentence, actor=actor, collection=run.round.collection, target=run)
    queue(run, actor)
    return run


def queue(run: JudgeRun, actor: User | None, *, woken: int = 0) -> None:
    """Put an attempt in line; `woken` counts those in a row that nobody asked for."""
    kind = KIND if model_judges.asks_a_model(run.judge) else LOCAL
    machine_runs.queue(run, kind, f"{run.judge} judges {run.round}", actor=actor, woken=woken)


def _check_price(provider: Provider, model: str, cap_usd: float | None) -> None:
    """A cap in dollars cannot be kept where nobody knows what an answer costs."""
    if cap_usd is not None:
        machine_runs.check_price(provider, model)
