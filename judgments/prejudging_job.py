"""Job for a judge that calls no model service: batches that can be watched, paused and resumed.

Each batch is stored before the next one begins, and stored answers are never judged again: after a kill the job goes
on with the first pair that has no answer.
"""

from __future__ import annotations

from typing import Any

from judgments import jobs, machine_runs, prejudging
from judgments.core.errors import NotFound
from judgments.models import JudgeRun

State = JudgeRun.State


class _Paused(Exception):
    """A lead asked for it."""


def work_on(work: jobs.Work) -> dict[str, Any]:
    """The job: answer what has no answer, batch by batch, and say how it ended."""
    rows = JudgeRun.objects.select_related("judge", "round__scale", "round__collection")
    run = rows.filter(uuid=work.job.parameters["run"]).first()
    if run is None:
        raise NotFound("This run of a judge is no more.")

    def watch(done: int, total: int) -> None:
        work.progress(done, total)
        if done < total and JudgeRun.objects.filter(pk=run.pk, pause_asked=True).exists():
            raise _Paused

    try:
        with machine_runs.at_work(run):
            answered = prejudging.answer(run.judge, run.round, watch=watch)
    except _Paused:
        machine_runs.ended(run, State.PAUSED, "")
        return {"end": "stopped"}
    machine_runs.ended(run, State.DONE, "")
    return {"end": "done", "answered": answered}
