"""Test of a killed judge run: no stored answer is paid for twice, only calls in flight are repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judgments.machines.killed_worker import killed_and_resumed

pytestmark = pytest.mark.slow
PAIRS, AT_ONCE = 120, 8
# The first process makes the round and works; it is killed. The second is what a new worker does with the lost job.
BEGIN = f"""
import os
from judgments.jobs import jobs
from judgments.machines.judge_runs import judge_runs
from tests.judgments.machines.killed_worker import first_round
from tests.judgments.machines.model_replies import choice_of, provider_at
made, lead = first_round({PAIRS})
choice = choice_of(provider_at(os.environ["MODEL"], made.collection, lead, concurrency={AT_ONCE}))
run = judge_runs.start(made, choice, actor=lead, cap_usd=None, cap_calls=10_000)
jobs.work_on_job.call(str(run.job.uuid))
"""
AGAIN = """
from datetime import timedelta
from django.utils import timezone
from judgments.jobs import jobs
from judgments.models import Job, JudgeRun, MachineJudgment, ModelCall
job = Job.objects.get(kind="judge")
kept = ModelCall.objects.count()
Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
jobs.work_on_job.call(str(job.uuid))
run = JudgeRun.objects.get()
print("TOLD", kept, run.state, MachineJudgment.objects.count(), ModelCall.objects.count(), run.calls)
"""


def test_only_pending_calls_are_repeated_after_a_kill(own_var: Path) -> None:
    resumed = killed_and_resumed(own_var, BEGIN, AGAIN, lambda prompt, number: '{"grade": 2}', after=PAIRS // 3)
    word, stored, state, judged, calls, counted = resumed.printed.split()
    assert (word, state) == ("TOLD", "done")
    assert int(stored) < PAIRS, "it was killed too late to tell anything"
    assert (int(judged), int(calls), int(counted), len(resumed.prompts)) == (PAIRS, PAIRS, PAIRS, PAIRS)
    resumed.assert_only_pending_calls_were_repeated(int(stored), AT_ONCE)
