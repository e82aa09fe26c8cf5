"""State of machine runs, of judges and of pairwise comparisons: progress, caps and how each run ended.

`judging` and `battling` start and resume runs. Code that depends only on their state, such as the check that a
provider cannot be removed during calls, needs just this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.utils import timezone

from judgments import jobs
from judgments.core.amounts import amount
from judgments.core.errors import AssayError, NotValid
from judgments.models import BattleRun, JudgeRun, MachineRun, Provider, User

MOST_CANARIES = 200
MOST_USD, MOST_CALLS = 1_000_000, 10_000_000
State = MachineRun.State
# How questions to a provider end, and what a run is then.
ENDS = {
    "done": State.DONE,
    "stopped": State.PAUSED,
    "budget": State.BUDGET,
    "refused": State.REFUSED,
    "down": State.DOWN,
}
# After these somebody has to do something: the job says so.
FAILED = (State.REFUSED, State.DOWN)


def is_over(run: MachineRun) -> bool:
    """Whether nobody works on it, also where its job ended without a word."""
    return run.over or run.job is None or run.job.over


def judges_ask(provider: Provider) -> bool:
    """Whether a judge that is at work right now asks this provider."""
    return any(not is_over(run) for run in JudgeRun.objects.filter(judge__provider=provider).select_related("job"))


def battles_ask(provider: Provider) -> bool:
    """Whether battles that are being fought right now ask this provider."""
    rows = BattleRun.objects.filter(round__collection=provider.collection_id, state__in=[State.WAITING, State.RUNNING])
    here = [run for run in rows.select_related("job").defer("drawn") if not is_over(run)]
    return any(one["provider"] == str(provider.uuid) for run in here for one in run.ensemble)


# Apps above say here whether a run of theirs asks a provider right now.
OTHERS_ASK: list[Callable[[Provider], bool]] = []


def state_of(run: MachineRun) -> tuple[str, str]:
    """How it stands, and why in words."""
    if not run.over and is_over(run):
        return State.STOPPED, (run.job.error if run.job is not None else "") or "Its job ended before it did."
    return run.state, run.said


def ask_to_pause(run: MachineRun) -> bool:
    """Have it stop once the answers in flight are there; False where there is nothing to stop."""
    # One that waits for its provider is tried again by the clock, unless somebody says no.
    if is_over(run) and run.state != State.DOWN:
        return False
    type(run).objects.filter(pk=run.pk).update(pause_asked=True)
    return True


def queue(run: MachineRun, kind: str, title: str, *, actor: User | None, woken: int = 0) -> None:
    """Put an attempt in line, as a job of this kind; `woken` counts those in a row that nobody asked for."""
    parameters = {"run": str(run.uuid), **({"woken": woken} if woken else {})}
    run.job = jobs.start(kind, title=title, parameters=parameters, collection=run.collection, actor=actor)
    run.state, run.said, run.pause_asked, run.ended_at, run.not_before = State.WAITING, "", False, None, None
    run.save(update_fields=["job", "state", "said", "pause_asked", "ended_at", "not_before"])


@contextmanager
def at_work(run: MachineRun) -> Iterator[None]:
    """An attempt at a run: what keeps it from its end is on record with the run, too."""
    type(run).objects.filter(pk=run.pk).update(state=State.RUNNING)
    try:
        yield
    except jobs.Lost:
        raise  # another worker has the run by now
    except jobs.Cancelled:
        ended(run, State.STOPPED, "Its job was cancelled. What was answered is kept.")
        raise
    except AssayError as fault:
        ended(run, State.STOPPED, str(fault))
        raise


def close(run: MachineRun, end: str, said: str, *, leave_alone: float, page: str) -> None:
    """Put on record how its questions ended.

    Raises
    ------
    AssayError
        Somebody has to do something, on the page that is named.
    """
    state = ENDS[end]
    ended(run, state, said, leave_alone=leave_alone)
    if state in FAILED:
        raise AssayError(f"{said}. What was answered is kept; go on from {page}.")


def ended(run: MachineRun, state: str, said: str, *, leave_alone: float = 0.0) -> None:
    """Put on record how an attempt ended, and for how many seconds a provider asked to be left alone."""
    now = timezone.now()
    fields = {"state": state, "said": said[:2_000], "ended_at": now, "not_before": not_before(now, leave_alone)}
    type(run).objects.filter(pk=run.pk).update(**fields)


def not_before(now: datetime, leave_alone: float) -> datetime | None:
    """Until when a provider wants to be left alone; of more than a year a year, and None where it said nothing."""
    return now + min(timedelta(seconds=min(leave_alone, 1e9)), timedelta(days=365)) if leave_alone > 0 else None


def check_caps(cap_usd: float | None, cap_calls: int | None, *, of: str) -> None:
    """Refuse caps that do not hold, of a run that is to begin.

    Raises
    ------
    NotValid
        By field: there is none, or one is out of bounds.
    """
    if cap_usd is None and cap_calls is None:
        said = "Give a limit in dollars, in calls, or both."
        raise NotValid(f"{of} a cap.", {"cap_usd": said})
    if cap_usd is not None and not 0 < cap_usd <= MOST_USD:
        raise NotValid("The cap is out of bounds.", {"cap_usd": "Dollars, above 0."})
    if cap_calls is not None and not 0 < cap_calls <= MOST_CALLS:
        raise NotValid("The cap is out of bounds.", {"cap_calls": "Calls, above 0."})


def check_price(provider: Provider, model: str) -> None:
    """Refuse a cap in dollars where nobody knows what an answer costs.

    Raises
    ------
    NotValid
        The provider lists the model without a price.
    """
    known = provider.offered(model)
    if known is not None and known["price_in"] is None:
        said = f"{provider} has no price for {model}: give one on its page, or a cap in calls alone."
        raise NotValid(said, {"cap_usd": said})


def check_canaries(number: int) -> None:
    """Refuse a number of canaries that no run has.

    Raises
    ------
    NotValid
        It is out of bounds.
    """
    if not 0 <= number <= MOST_CANARIES:
        raise NotValid("Too many canaries.", {"canaries": f"From 0 to {MOST_CANARIES}."})


def change(
    run: MachineRun, cap_usd: float | None = None, cap_calls: int | None = None, canaries: int | None = None
) -> None:
    """Give a run other caps and canaries; None leaves each as it is.

    Raises
    ------
    NotValid
        By field: a cap that was reached already, or too many canaries.
    """
    for name, cap, used in (("cap_usd", cap_usd, run.spent_usd), ("cap_calls", cap_calls, run.calls)):
        if cap is not None and cap <= used:
            said = (
                f"{used:,.2f} were used already."
                if name == "cap_usd"
                else f"{amount(used, 'call was', 'calls were')} made already."
            )
            raise NotValid("The cap is below what was used.", {name: said})
    if canaries is not None:
        check_canaries(canaries)
    given = {"cap_usd": cap_usd, "cap_calls": cap_calls, "canaries": canaries}
    for name, value in given.items():
        if value is not None:
            setattr(run, name, value)
    run.save(update_fields=list(given))
