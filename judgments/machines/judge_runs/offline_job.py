"""Job for a judge that calls no model service, in batches that can be paused and resumed.

Each batch is stored before the next one begins, so after a crash the job continues with the first unanswered pair.
"""

from __future__ import annotations

from typing import Any

from assay.core.errors import NotFound
from judgments.jobs import jobs
from judgments.machines import machine_runs
from judgments.machines.judge_runs import offline_judging
from judgments.models import JudgeRun

State = JudgeRun.State


class _Paused(Exception):
    """A lead has paused the run."""


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: answer the unanswered pairs batch by batch, and record how the run ended."""
    rows = JudgeRun.objects.select_related("judge", "round__scale", "round__collection")
    run = rows.filter(uuid=work.job.parameters["run"]).first()
    if run is None:
        raise NotFound("This run of a judge no longer exists.")

    def watch(done: int, total: int) -> None:
        work.progress(done, total)
        if done < total and JudgeRun.objects.filter(pk=run.pk, pause_requested=True).exists():
            raise _Paused

    try:
        with machine_runs.attempt(run):
            answered = offline_judging.answer(run.judge, run.round, watch=watch)
    except _Paused:
        machine_runs.record_end(run, State.PAUSED, "")
        return {"end": "stopped"}
    machine_runs.record_end(run, State.DONE, "")
    return {"end": "done", "answered": answered}
