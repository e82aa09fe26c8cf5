"""Test of a killed judge run without a model: stored batches survive and the rest follows."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.judgments.machines.killed_worker import ROOT, last_line, shell, worker_environment

pytestmark = pytest.mark.slow
PAIRS, AT_ONCE, KILLED_AFTER = 60, 5, 20
# The first process says how far it is, as its job does; it is killed, and does not come to the end before. The second
# is what a new worker does.
BEGIN = f"""
import sys
from judgments.jobs import jobs
from judgments.machines.judge_runs import judge_runs, offline_judging
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from tests.judgments.machines.killed_worker import first_round
made, lead = first_round({PAIRS})
offline_judging.BATCH = {AT_ONCE}
told = jobs.Work.progress
def slowly(work, done, total=None):
    told(work, done, total)
    print(done, flush=True)
    if done >= {2 * KILLED_AFTER}:
        sys.stdin.read()
jobs.Work.progress = slowly
choice = JudgeSettings(kind="token_overlap", expected={{"q1": ["tent"]}}, parameters={{"min_tokens": 1}})
run = judge_runs.start(made, choice, actor=lead, cap_usd=None, cap_calls=None)
jobs.work_on_job.call(str(run.job.uuid))
"""
AGAIN = """
from datetime import timedelta
from django.utils import timezone
from judgments.jobs import jobs
from judgments.models import Job, JudgeRun, MachineJudgment
kept = set(MachineJudgment.objects.values_list("uuid", flat=True))
Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
jobs.work_on_job.call(str(Job.objects.get(kind="prejudge").uuid))
now = set(MachineJudgment.objects.values_list("uuid", flat=True))
print("TOLD", len(kept), len(now), kept <= now, JudgeRun.objects.get().state)
"""


def test_a_killed_process_loses_no_stored_batch(own_var: Path) -> None:
    environment = worker_environment(own_var)
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(shell(BEGIN), cwd=ROOT, env=environment, **pipes) as begun:
        assert begun.stdout is not None
        for line in begun.stdout:
            if line.strip().isdigit() and int(line) >= KILLED_AFTER:
                begun.kill()
                break
    word, stored, now, same, state = last_line(AGAIN, environment).split()
    assert (word, int(now), same, state) == ("TOLD", PAIRS, "True", "done")
    assert KILLED_AFTER <= int(stored) < PAIRS
