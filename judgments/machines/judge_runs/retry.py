"""Automatic retry of judges and pairwise comparisons whose provider was down.

Retries happen only if the provider was down; a run that was refused, reached a cap or was paused waits for a person.
The caps stay the same. The wait starts at ten minutes and doubles up to a day, or is longer if the provider requests
it. An attempt that gets an answer resets the wait; after a week without an answer a lead has to decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from assay.core.errors import AssayError
from assay.core.text_rules import amount
from judgments.machines import machine_runs
from judgments.machines.judge_runs import judge_runs, model_judges
from judgments.machines.machine_runs import State
from judgments.models import JudgeRun, MachineRun, ModelCall, audit

FIRST, LONGEST = timedelta(minutes=10), timedelta(hours=24)
# If a provider requests a longer wait, a lead has to decide.
PATIENT = timedelta(days=7)
# Seven attempts on the first day, then one a day for a week.
MOST = 14
# The number of final calls of an attempt that may all have failed: five in a row, plus the concurrent ones.
LATEST = 512


@dataclass(frozen=True)
class Kind:
    """A kind of machine run: judges or pairwise comparisons."""

    runs: type[Any]
    related: tuple[str, ...]
    calls: Callable[[Any], QuerySet[Any]]
    check: Callable[[Any], object]
    queue: Callable[..., None]
    named: Callable[[Any], str]


# Pairwise comparisons and apps above register their kinds.
KINDS = [
    Kind(
        JudgeRun,
        ("judge__provider", "round__collection", "job", "created_by"),
        lambda run: ModelCall.objects.filter(run=run),
        lambda run: model_judges.check_provider(run.judge),
        judge_runs.queue,
        lambda run: f"{run.judge} will be retried in round {run.round} because its provider did not answer",
    ),
]


@dataclass(frozen=True)
class Wait:
    """The wait of a run for its provider."""

    at: datetime | None
    tried: int
    why: str


def wait_of(run: MachineRun) -> Wait | None:
    """Return the wait of a run; None if it does not wait for its provider."""
    if run.state != State.DOWN or run.ended_at is None or run.job is None:
        return None
    tried = _in_vain(run)
    if run.pause_requested:
        return Wait(None, tried, "No automatic retry: a lead paused the run.")
    vain = f" after {amount(tried, 'failed retry', 'failed retries')}" if tried else ""
    if tried >= MOST:
        return Wait(None, tried, f"No further automatic retry{vain}.")
    at = run.ended_at + min(FIRST * 2**tried, LONGEST)
    if run.not_before is None or run.not_before <= at:
        return Wait(at, tried, f"Assay retries the run automatically{vain}, within the same caps.")
    if run.not_before - run.ended_at > PATIENT:
        reason = f"the provider requests a wait of more than {amount(PATIENT.days, 'day')}"
        return Wait(None, tried, f"No automatic retry: {reason}.")
    reason = "after the wait that the provider requested"
    return Wait(run.not_before, tried, f"Assay retries the run automatically {reason}{vain}, within the same caps.")


def retry_due(now: datetime | None = None) -> int:
    """Queue the runs whose wait is over; the periodic checks call this."""
    now = now or timezone.now()
    return sum(_retry(kind, pk, now) for kind in KINDS for pk in _down(kind, now))


def _down(kind: Kind, now: datetime) -> list[int]:
    rows = kind.runs.objects.filter(state=State.DOWN, pause_requested=False, ended_at__lte=now - FIRST)
    return list(rows.values_list("pk", flat=True))


@transaction.atomic
def _retry(kind: Kind, pk: int, now: datetime) -> bool:
    """Queue the run, unless a lead or another check was first."""
    run = kind.runs.objects.select_for_update(of=("self",)).select_related(*kind.related).get(pk=pk)
    wait = wait_of(run)
    if wait is None or wait.at is None or wait.at > now or not machine_runs.is_over(run):
        return False
    try:
        kind.check(run)
    except AssayError as error:
        machine_runs.record_end(run, State.STOPPED, f"The run cannot be retried: {error}")
        return False
    kind.queue(run, run.created_by, woken=wait.tried + 1)
    audit.record("judging_waking.wake_due", kind.named(run), actor=None, target=run)
    return True


def _in_vain(run: MachineRun) -> int:
    """Return the number of automatic retries in a row without an answer."""
    if run.job is None or not (woken := run.job.parameters.get("woken", 0)):
        return 0
    calls = next(kind.calls for kind in KINDS if isinstance(run, kind.runs))(run)
    latest = calls.order_by("-pk").values_list("outcome", "at")[:LATEST]
    begun = run.job.started_at
    answered = any(outcome != "transport_error" and (begun is None or at >= begun) for outcome, at in latest)
    return 0 if answered else int(woken)
