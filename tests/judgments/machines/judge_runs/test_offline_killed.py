"""Test of a killed judge run without a model: stored batches survive and the rest follows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[4]
PAIRS, AT_ONCE, KILLED_AFTER = 60, 5, 20
# The first process says how far it is, as its job does; it is killed, and does not come to the end before. The second
# is what a new worker does.
BEGIN = f"""
import sys
from django.core.management import call_command
from judgments.guidelines import guidelines
from judgments.jobs import jobs
from judgments.machines.judge_runs import judge_runs
from judgments.machines.judge_runs import offline_judging
from judgments.rounds import rounds
from judgments.members.collections import create_collection
from judgments.machines.judge_runs.judge_settings import Choice
from judgments.models import Document, Query, User
call_command("migrate", verbosity=0)
lead = User.objects.create_user("lead")
shop = create_collection(slug="shop", name="Shop", actor=lead)
version = guidelines.add_version(shop, markdown="Grade what helps.", actor=lead)
query = Query.objects.create(collection=shop, query_id="q1", text="tent")
documents = [Document.objects.create(collection=shop, doc_id=f"d{{at}}", text=f"tent {{at}}.") for at in range({PAIRS})]
found = [rounds.Candidate(query, one, {{}}) for one in documents]
made = rounds.create_round(
    shop, name="R", candidates=found, provenance={{}}, guidelines=version, actor=lead, raters=[]
)
offline_judging.BATCH = {AT_ONCE}
told = jobs.Work.progress
def slowly(work, done, total=None):
    told(work, done, total)
    print(done, flush=True)
    if done >= {2 * KILLED_AFTER}:
        sys.stdin.read()
jobs.Work.progress = slowly
choice = Choice(kind="token_overlap", expected={{"q1": ["tent"]}}, parameters={{"min_tokens": 1}})
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
    nothing = {"DATABASE_URL": "", "STORAGE_URL": "", "REDIS_URL": ""}
    environment = {**os.environ, **nothing, "ASSAY_VAR": str(own_var), "DEBUG": "1"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(_shell(BEGIN), cwd=ROOT, env=environment, **pipes) as begun:
        assert begun.stdout is not None
        for line in begun.stdout:
            if line.strip().isdigit() and int(line) >= KILLED_AFTER:
                begun.kill()
                break
    done = subprocess.run(_shell(AGAIN), cwd=ROOT, env=environment, text=True, capture_output=True, check=True)
    word, stored, now, same, state = done.stdout.strip().splitlines()[-1].split()
    assert (word, int(now), same, state) == ("TOLD", PAIRS, "True", "done")
    assert KILLED_AFTER <= int(stored) < PAIRS


def _shell(text: str) -> list[str]:
    return [sys.executable, "manage.py", "shell", "-v0", "-c", text]
