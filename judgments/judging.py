"""How is a machine set to judge a round, within caps where it asks a model, watched, paused and gone on with?"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from judgments import audit, audit_slice, ensembles, jobs, judge_kinds, model_judges, prejudging
from judgments.core.errors import Conflict, NotValid
from judgments.judge_choice import Choice, check_used
from judgments.judges.model_judge import ModelJudge
from judgments.judging_estimate import Estimate, estimate, free
from judgments.models import Judge, JudgeRun, Provider, Round, User

# The jobs: of judges that ask a model, and of those that do not.
KIND, LOCAL = "judge", "prejudge"
MOST_CANARIES = 200
MOST_USD, MOST_CALLS = 1_000_000, 10_000_000
State = JudgeRun.State


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
    Conflict
        The judge is at work in this round, or there is nothing for it to do.
    """
    kind = judge_kinds.find(choice.kind)
    if kind.asks == "model":
        _check_caps(choice, cap_usd, cap_calls)
        canaries = canaries if kind.says != "usefulness" else 0
    else:
        cap_usd, cap_calls, canaries = 0.0, None, 0
    audit_slice.check(audit_share)
    if not 0 <= canaries <= MOST_CANARIES:
        raise NotValid("Too many canaries.", {"canaries": f"From 0 to {MOST_CANARIES}."})
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
    sentence = f"{actor} let {judge} judge {told.pairs:,} pairs of round {round_}"
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
    # One that waits for its provider is tried again by the clock, unless somebody says no.
    if is_over(run) and run.state != State.DOWN:
        raise Conflict(f"{run.judge} is not at work in this round.")
    JudgeRun.objects.filter(pk=run.pk).update(pause_asked=True)
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
    if not is_over(run):
        raise Conflict(f"{run.judge} is at work. Pause it first.")
    if model_judges.asks_a_model(run.judge):
        provider = model_judges.check_provider(run.judge)
        _check_price(provider, run.judge.model, run.cap_usd if cap_usd is None else cap_usd)
    elif any(given is not None for given in (cap_usd, cap_calls, canaries)):
        said = f"{run.judge} asks no model: it has no caps and no canaries."
        raise NotValid(said, {"cap_calls": said})
    else:
        prejudging.check_here(run.judge)
    for name, cap, used in (("cap_usd", cap_usd, run.spent_usd), ("cap_calls", cap_calls, run.calls)):
        if cap is not None and cap <= used:
            said = f"{used:,.2f} were used already." if name == "cap_usd" else f"{used:,} calls were made already."
            raise NotValid("The cap is below what was used.", {name: said})
    if canaries is not None and not 0 <= canaries <= MOST_CANARIES:
        raise NotValid("Too many canaries.", {"canaries": f"From 0 to {MOST_CANARIES}."})
    run.cap_usd = run.cap_usd if cap_usd is None else cap_usd
    run.cap_calls = run.cap_calls if cap_calls is None else cap_calls
    run.canaries = run.canaries if canaries is None else canaries
    run.save(update_fields=["cap_usd", "cap_calls", "canaries"])
    sentence = f"{actor} went on with {run.judge} in round {run.round}"
    audit.record("judging.go_on", sentence, actor=actor, collection=run.round.collection, target=run)
    queue(run, actor)
    return run


def is_over(run: JudgeRun) -> bool:
    """Whether nobody works on it, also where its job ended without a word."""
    return run.over or run.job is None or run.job.over


def state_of(run: JudgeRun) -> tuple[str, str]:
    """How it stands, and why in words."""
    if not run.over and is_over(run):
        return State.STOPPED, (run.job.error if run.job is not None else "") or "Its job ended before it did."
    return run.state, run.said


def queue(run: JudgeRun, actor: User | None, *, woken: int = 0) -> None:
    """Put an attempt in line; `woken` counts those in a row that nobody asked for."""
    title = f"{run.judge} judges {run.round}"
    parameters = {"run": str(run.uuid), **({"woken": woken} if woken else {})}
    kind = KIND if model_judges.asks_a_model(run.judge) else LOCAL
    run.job = jobs.start(kind, title=title, parameters=parameters, collection=run.round.collection, actor=actor)
    run.state, run.said, run.pause_asked, run.ended_at, run.not_before = State.WAITING, "", False, None, None
    run.save(update_fields=["job", "state", "said", "pause_asked", "ended_at", "not_before"])


def ended(run: JudgeRun, state: str, said: str, *, leave_alone: float = 0.0) -> None:
    """Put on record how an attempt ended, and for how many seconds the provider asked to be left alone."""
    now = timezone.now()
    fields = {"state": state, "said": said[:2_000], "ended_at": now, "not_before": not_before(now, leave_alone)}
    JudgeRun.objects.filter(pk=run.pk).update(**fields)


def not_before(now: datetime, leave_alone: float) -> datetime | None:
    """Until when a provider wants to be left alone; of more than a year a year, and None where it said nothing."""
    return now + min(timedelta(seconds=min(leave_alone, 1e9)), timedelta(days=365)) if leave_alone > 0 else None


def _check_caps(choice: Choice, cap_usd: float | None, cap_calls: int | None) -> None:
    if cap_usd is None and cap_calls is None:
        said = "Give a limit in dollars, in calls, or both."
        raise NotValid("A judge needs a cap.", {"cap_usd": said})
    if cap_usd is not None and not 0 < cap_usd <= MOST_USD:
        raise NotValid("The cap is out of bounds.", {"cap_usd": "Dollars, above 0."})
    if cap_calls is not None and not 0 < cap_calls <= MOST_CALLS:
        raise NotValid("The cap is out of bounds.", {"cap_calls": "Calls, above 0."})
    _check_price(*choice.asked(), cap_usd)


def _check_price(provider: Provider, model: str, cap_usd: float | None) -> None:
    """A cap in dollars cannot be kept where nobody knows what an answer costs."""
    known = provider.offered(model)
    if cap_usd is not None and known is not None and known["price_in"] is None:
        said = f"{provider} has no price for {model}: give one on its page, or a cap in calls alone."
        raise NotValid(said, {"cap_usd": said})
