"""How is a model set to judge a round, within caps, watched, paused and gone on with?"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from judgments import audit, jobs, model_judges
from judgments.core.errors import Conflict, NotValid
from judgments.judging_estimate import Estimate, estimate
from judgments.model_judges import Choice
from judgments.models import JudgeRun, Round, User

KIND = "judge"
MOST_CANARIES = 200
State = JudgeRun.State


def look(round_: Round, choice: Choice, *, canaries: int = 0) -> Estimate:
    """What the judge would take in the round; nothing is asked and nothing is stored.

    Raises
    ------
    NotValid
        As `model_judges.made_for`.
    """
    judge, graded = model_judges.made_for(round_, choice)
    kept = round_.collection.judges.filter(name=judge.name, parameters=judge.parameters).first()
    return estimate(round_, kept or judge, graded, canaries=canaries)


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
    """Let a model judge the pairs of a round, as a job.

    Parameters
    ----------
    round_ : Round
        In any state; a machine's grade takes no slot and counts for nothing by itself.
    choice : Choice
        Which model, in which words.
    actor : User
        The lead who asks for it.
    cap_usd, cap_calls : float, int or None
        Where it stops, whatever is left; one of them at least. What a question can cost at most is held back before it
        is asked.
    audit_share : float
        The share of all pairs that people judge whatever the machine says, drawn by the round's seed.
    canaries : int
        On how many pairs it is tried whether a document can talk the judge into a grade.

    Raises
    ------
    NotValid
        By field: caps, shares, or as `model_judges.made_for`.
    Conflict
        The judge is at work in this round, or there is nothing for it to do.
    """
    _check_caps(choice, cap_usd, cap_calls)
    if not 0 < audit_share <= 1:
        said = "Above 0, at most 1: without pairs that people judge nobody can tell what its grades are worth."
        raise NotValid("The audit slice is no share.", {"audit_share": said})
    if not 0 <= canaries <= MOST_CANARIES:
        raise NotValid("Too many canaries.", {"canaries": f"From 0 to {MOST_CANARIES}."})
    judge, graded = model_judges.made_for(round_, choice)
    judge = model_judges.kept(judge)
    told = estimate(round_, judge, graded, canaries=canaries)
    if judge.runs.filter(round=round_).exists():
        raise Conflict(f"{judge} has been at work in this round before. Go on with it on its page.")
    if not told.pairs:
        raise Conflict("There is no pair with a text that this judge has not answered.")
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
    _queue(run, actor)
    return run


@transaction.atomic
def pause(run: JudgeRun, *, actor: User) -> None:
    """Ask it to stop once the answers in flight are there.

    Raises
    ------
    Conflict
        It is not at work.
    """
    if is_over(run):
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
        A cap below what was spent already, or none at all.
    """
    run = (
        JudgeRun.objects.select_for_update(of=("self",))
        .select_related("judge__provider", "round", "job")
        .get(pk=run.pk)
    )
    if not is_over(run):
        raise Conflict(f"{run.judge} is at work. Pause it first.")
    model_judges.check_provider(run.judge)
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
    _queue(run, actor)
    return run


def is_over(run: JudgeRun) -> bool:
    """Whether nobody works on it, also where its job ended without a word."""
    return run.over or run.job is None or run.job.over


def state_of(run: JudgeRun) -> tuple[str, str]:
    """How it stands, and why in words."""
    if not run.over and is_over(run):
        return State.STOPPED, (run.job.error if run.job is not None else "") or "Its job ended before it did."
    return run.state, run.said


def _queue(run: JudgeRun, actor: User) -> None:
    title = f"{run.judge} judges {run.round}"
    parameters = {"run": str(run.uuid)}
    run.job = jobs.start(KIND, title=title, parameters=parameters, collection=run.round.collection, actor=actor)
    run.state, run.said, run.pause_asked, run.ended_at = State.WAITING, "", False, None
    run.save(update_fields=["job", "state", "said", "pause_asked", "ended_at"])


def ended(run: JudgeRun, state: str, said: str) -> None:
    """Put on record how an attempt ended."""
    JudgeRun.objects.filter(pk=run.pk).update(state=state, said=said[:2_000], ended_at=timezone.now())


def _check_caps(choice: Choice, cap_usd: float | None, cap_calls: int | None) -> None:
    if cap_usd is None and cap_calls is None:
        said = "Give a limit in dollars, in calls, or both."
        raise NotValid("A judge needs a cap.", {"cap_usd": said})
    if cap_usd is not None and not 0 < cap_usd <= 1_000_000:
        raise NotValid("The cap is out of bounds.", {"cap_usd": "Dollars, above 0."})
    if cap_calls is not None and not 0 < cap_calls <= 10_000_000:
        raise NotValid("The cap is out of bounds.", {"cap_calls": "Calls, above 0."})
    known = choice.provider.offered(choice.model)
    if cap_usd is not None and known is not None and known["price_in"] is None:
        said = f"{choice.provider} has no price for {choice.model}: give one on its page, or a cap in calls alone."
        raise NotValid(said, {"cap_usd": said})
