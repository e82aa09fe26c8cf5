"""Test of a killed comparison run: only calls in flight are repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judgments.machines.killed_worker import killed_and_resumed
from tests.judgments.machines.pairwise.example import better

pytestmark = pytest.mark.slow
DOCUMENTS, AT_ONCE = 40, 8
# The first process makes the round and works; it is killed. The second is what a new worker does with the lost job.
BEGIN = f"""
import os
from judgments.jobs import jobs
from judgments.machines.pairwise import runs
from tests.judgments.machines.killed_worker import first_round
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import choice_of
made, lead = first_round({DOCUMENTS})
provider = provider_at(os.environ["MODEL"], made.collection, lead, concurrency={AT_ONCE})
choice = choice_of(provider, cycles=3, both=0.2)
run = runs.start(made, choice, actor=lead, cap_usd=None, cap_calls=10_000)
jobs.work_on_job.call(str(run.job.uuid))
"""
AGAIN = """
from datetime import timedelta
from django.utils import timezone
from judgments.jobs import jobs
from judgments.models import Battle, BattleRun, Job
job = Job.objects.get(kind="battles")
kept = Battle.objects.count()
Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
jobs.work_on_job.call(str(job.uuid))
run = BattleRun.objects.get()
print("TOLD", kept, run.state, run.battles, Battle.objects.count(), run.calls)
"""


def test_only_pending_calls_are_repeated_after_a_kill(own_var: Path) -> None:
    resumed = killed_and_resumed(
        own_var, BEGIN, AGAIN, lambda prompt, number: better(prompt, number).text, after=DOCUMENTS
    )
    word, stored, state, battles, rows, calls = resumed.printed.split()
    assert (word, state) == ("TOLD", "done")
    assert int(stored) < int(battles), "it was killed too late to tell anything"
    assert int(rows) == int(calls) == int(battles) == len(resumed.prompts)
    resumed.assert_only_pending_calls_were_repeated(int(stored), AT_ONCE)
