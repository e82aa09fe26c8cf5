"""Automatic retry of judges and pairwise comparisons whose provider was down.

Retries happen only when the provider was down: a run that was refused, reached a cap or was paused waits for a
person. The caps stay the same. The wait starts at ten minutes and doubles up to a day, and is as long as the provider
asked for if that is longer. An attempt that gets an answer resets the wait; after a week without an answer a lead has
to decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from judgments import audit, battle_draws, battling, judging, machine_runs, model_judges
from judgments.core.amounts import amount
from judgments.core.errors import AssayError
from judgments.machine_runs import State
from judgments.models import Battle, BattleRun, JudgeRun, MachineRun, ModelCall

FIRST, LONGEST = timedelta(minutes=10), timedelta(hours=24)
# A provider that wants to be left alone for longer than this is left to a lead.
PATIENT = timedelta(days=7)
# Seven attempts of the first day, then one a day for a week.
MOST = 14
# An answer of an attempt stands among its last calls: five fail in a row, and as many as are asked at a time.
LATEST = 512


@dataclass(frozen=True)
class Kind:
    """What sets runs of judges and of battles apart.

    Parameters
    ----------
    runs : type of MachineRun
        Their table.
    related : tuple of str
        What is read with one.
    calls : callable
        The calls of a run.
    check : callable
        Raises where nobody can be asked any more.
    queue : callable
        Puts a run in line again.
    named : callable
        Who is tried again, in words.
    """

    runs: type[Any]
    related: tuple[str, ...]
    calls: Callable[[Any], QuerySet[Any]]
    check: Callable[[Any], object]
    queue: Callable[..., None]
    named: Callable[[Any], str]


def _check_members(run: BattleRun) -> None:
    for member in run.ensemble:
        battle_draws.provider_of(run.round, member)


# Apps above add theirs.
KINDS = [
    Kind(
        JudgeRun,
        ("judge__provider", "round__collection", "job", "created_by"),
        lambda run: ModelCall.objects.filter(run=run),
        lambda run: model_judges.check_provider(run.judge),
        judging.queue,
        lambda run: f"{run.judge} is tried again in round {run.round}, since its provider did not answer",
    ),
    Kind(
        BattleRun,
        ("round__collection", "job", "created_by"),
        # What was taken over from other battles was not asked.
        lambda run: Battle.objects.filter(run=run, reused=False),
        _check_members,
        battling.queue,
        lambda run: f"{str(run).capitalize()} are tried again in round {run.round}, since a provider did not answer",
    ),
]


@dataclass(frozen=True)
class Waiting:
    """How a run waits for its provider.

    Parameters
    ----------
    at : datetime or None
        When it is tried next; None where that is left to a lead.
    tried : int
        How often it was tried again by itself in a row, in vain.
    why : str
        In words, for a page.
    """

    at: datetime | None
    tried: int
    why: str


def waiting(run: MachineRun) -> Waiting | None:
    """When the run is tried again; None for one that does not wait for its provider."""
    if run.state != State.DOWN or run.ended_at is None or run.job is None:
        return None
    tried = _in_vain(run)
    if run.pause_asked:
        return Waiting(None, tried, "It is not tried again by itself: a lead paused it.")
    vain = f"; it was tried again {amount(tried, 'time')} in vain" if tried else ""
    if tried >= MOST:
        return Waiting(None, tried, f"It is not tried again by itself any more{vain}.")
    at = run.ended_at + min(FIRST * 2**tried, LONGEST)
    if run.not_before is None or run.not_before <= at:
        return Waiting(at, tried, f"It is tried again by itself{vain}, within the same caps.")
    if run.not_before - run.ended_at > PATIENT:
        said = f"the provider wants to be left alone for more than {amount(PATIENT.days, 'day')}"
        return Waiting(None, tried, f"It is not tried again by itself: {said}.")
    said = "once the provider’s own wait is over"
    return Waiting(run.not_before, tried, f"It is tried again by itself {said}{vain}, within the same caps.")


def wake_due(now: datetime | None = None) -> int:
    """Put in line again the runs whose wait is over; looked at with every tick.

    Parameters
    ----------
    now : datetime, optional
        The time to go by; the clock's when left out.

    Returns
    -------
    int
        How many were put in line.
    """
    now = now or timezone.now()
    return sum(_woken(kind, pk, now) for kind in KINDS for pk in _down(kind, now))


def _down(kind: Kind, now: datetime) -> list[int]:
    rows = kind.runs.objects.filter(state=State.DOWN, pause_asked=False, ended_at__lte=now - FIRST)
    return list(rows.values_list("pk", flat=True))


@transaction.atomic
def _woken(kind: Kind, pk: int, now: datetime) -> bool:
    """Queue it, unless a lead or another tick was first."""
    run = kind.runs.objects.select_for_update(of=("self",)).select_related(*kind.related).get(pk=pk)
    found = waiting(run)
    if found is None or found.at is None or found.at > now or not machine_runs.is_over(run):
        return False
    try:
        kind.check(run)
    except AssayError as error:
        machine_runs.ended(run, State.STOPPED, f"It cannot be tried again: {error}")
        return False
    kind.queue(run, run.created_by, woken=found.tried + 1)
    collection = run.collection
    audit.record("judging_waking.wake_due", kind.named(run), actor=None, collection=collection, target=run)
    return True


def _in_vain(run: MachineRun) -> int:
    """How often in a row it was tried again by itself and got no answer."""
    if run.job is None or not (woken := run.job.parameters.get("woken", 0)):
        return 0
    calls = next(kind.calls for kind in KINDS if isinstance(run, kind.runs))(run)
    latest = calls.order_by("-pk").values_list("outcome", "at")[:LATEST]
    begun = run.job.started_at
    answered = any(outcome != "transport_error" and (begun is None or at >= begun) for outcome, at in latest)
    return 0 if answered else int(woken)
