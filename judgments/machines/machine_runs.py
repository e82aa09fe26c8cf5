"""State of machine runs, for judges and pairwise comparisons: progress, caps, and the end of each run.

The modules of judge runs and pairwise comparisons start and resume runs. Code that needs only their state, such as the
check before a provider is removed, uses this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.utils import timezone

from assay.core.errors import AssayError, NotValid
from assay.core.text_rules import amount
from assay.llm.providers.question_run import Ended
from judgments.jobs import jobs
from judgments.models import BattleRun, JudgeRun, MachineRun, Provider, User

MOST_CANARIES = 200
MOST_USD, MOST_CALLS = 1_000_000, 10_000_000
State = MachineRun.State
# The end of a series of calls, and the resulting state of the run.
ENDS = {
    "done": State.DONE,
    "stopped": State.PAUSED,
    "budget": State.BUDGET,
    "refused": State.REFUSED,
    "down": State.DOWN,
}
# States that need an action; the job then fails with a message.
FAILED = (State.REFUSED, State.DOWN)


def is_over(run: MachineRun) -> bool:
    """Return whether the run has ended, including a run whose job ended without updating it."""
    return run.over or run.job is None or run.job.over


def judges_ask(provider: Provider) -> bool:
    """Return whether a running judge calls this provider."""
    return any(not is_over(run) for run in JudgeRun.objects.filter(judge__provider=provider).select_related("job"))


def battles_ask(provider: Provider) -> bool:
    """Return whether running pairwise comparisons call this provider."""
    rows = BattleRun.objects.filter(round__collection=provider.collection_id, state__in=[State.WAITING, State.RUNNING])
    here = [run for run in rows.select_related("job").defer("drawn") if not is_over(run)]
    return any(one["provider"] == str(provider.uuid) for run in here for one in run.ensemble)


def state_of(run: MachineRun) -> tuple[str, str]:
    """Return the state of the run and the reason for it in words."""
    if not run.over and is_over(run):
        return State.STOPPED, (
            run.job.error if run.job is not None else ""
        ) or "The job ended before the run was complete."
    return run.state, run.end_message


def ask_to_pause(run: MachineRun) -> bool:
    """Stop the run after the calls in progress have returned; return False if it is not running."""
    # A run whose provider is down would be retried automatically unless it is paused.
    if is_over(run) and run.state != State.DOWN:
        return False
    type(run).objects.filter(pk=run.pk).update(pause_requested=True)
    return True


def queue(run: MachineRun, kind: str, title: str, *, actor: User | None, woken: int = 0) -> None:
    """Queue an attempt as a job of this kind; `woken` is the number of automatic retries in a row."""
    parameters = {"run": str(run.uuid), **({"woken": woken} if woken else {})}
    run.job = jobs.start(kind, title=title, parameters=parameters, collection=run.collection, actor=actor)
    run.state, run.end_message, run.pause_requested, run.ended_at, run.not_before = State.WAITING, "", False, None, None
    run.save(update_fields=["job", "state", "end_message", "pause_requested", "ended_at", "not_before"])


@contextmanager
def attempt(run: MachineRun) -> Iterator[None]:
    """Mark the run as running, and store an error that ends the attempt."""
    type(run).objects.filter(pk=run.pk).update(state=State.RUNNING)
    try:
        yield
    except jobs.Lost:
        raise  # another worker now runs it
    except jobs.Cancelled:
        record_end(run, State.STOPPED, "The job was canceled. Answers received so far are stored.")
        raise
    except AssayError as fault:
        record_end(run, State.STOPPED, str(fault))
        raise


def close(run: MachineRun, ended: Ended, *, page: str) -> None:
    """Record how the calls ended."""
    state = ENDS[ended.end]
    record_end(run, state, ended.message, leave_alone=ended.leave_alone)
    if state in FAILED:
        raise AssayError(f"{ended.message}. Answers received so far are stored. Resume the run on {page}.")


def record_end(run: MachineRun, state: str, message: str, *, leave_alone: float = 0.0) -> None:
    """Record how an attempt ended, and the wait in seconds that a provider requested."""
    now = timezone.now()
    fields = {
        "state": state,
        "end_message": message[:2_000],
        "ended_at": now,
        "not_before": not_before(now, leave_alone),
    }
    type(run).objects.filter(pk=run.pk).update(**fields)


def not_before(now: datetime, leave_alone: float) -> datetime | None:
    """Return the time until which the provider must not be called, at most one year ahead; None if it did not say."""
    return now + min(timedelta(seconds=min(leave_alone, 1e9)), timedelta(days=365)) if leave_alone > 0 else None


def check_caps(cap_usd: float | None, cap_calls: int | None, *, of: str) -> None:
    """Validate the caps of a new run."""
    if cap_usd is None and cap_calls is None:
        hint = "Enter a cap in dollars, in calls, or both."
        raise NotValid(f"{of} a cap.", {"cap_usd": hint})
    if cap_usd is not None and not 0 < cap_usd <= MOST_USD:
        raise NotValid("The cap is out of range.", {"cap_usd": f"Enter an amount above $0 and up to ${MOST_USD:,}."})
    if cap_calls is not None and not 0 < cap_calls <= MOST_CALLS:
        raise NotValid("The cap is out of range.", {"cap_calls": f"Enter a number of calls from 1 to {MOST_CALLS:,}."})


def check_prices(cap_usd: float | None, *models: tuple[Provider, str]) -> None:
    """Refuse a cap in dollars for models without a price."""
    for provider, model in models if cap_usd is not None else ():
        known = provider.offered(model)
        if known is not None and known["price_in"] is None:
            message = (
                f"{provider} has no price for {model}. Add a price on the provider's page, or set only a cap in calls."
            )
            raise NotValid(message, "cap_usd")


def check_canaries(number: int) -> None:
    """Validate the number of probes."""
    if not 0 <= number <= MOST_CANARIES:
        raise NotValid(
            "The number of prompt-injection probes is out of range.",
            {"canaries": f"Enter a number from 0 to {MOST_CANARIES}."},
        )


def change(
    run: MachineRun, cap_usd: float | None = None, cap_calls: int | None = None, canaries: int | None = None
) -> None:
    """Change the caps and the number of probes of a run; None leaves a value unchanged."""
    for name, cap, used in (("cap_usd", cap_usd, run.spent_usd), ("cap_calls", cap_calls, run.calls)):
        if cap is not None and cap <= used:
            hint = (
                f"The run has already spent ${used:,.2f}."
                if name == "cap_usd"
                else f"The run has already made {amount(used, 'call')}."
            )
            raise NotValid("The cap is below what the run has already used.", {name: hint})
    if canaries is not None:
        check_canaries(canaries)
    given = {"cap_usd": cap_usd, "cap_calls": cap_calls, "canaries": canaries}
    for name, value in given.items():
        if value is not None:
            setattr(run, name, value)
    run.save(update_fields=list(given))
