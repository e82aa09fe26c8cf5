"""Test of a killed comparison run: only calls in flight are repeated."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.judgments.machines.judge_runs.test_killed import killed
from tests.judgments.machines.pairwise.example import better
from tests.model_server import Answer, serving

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[4]
DOCUMENTS, AT_ONCE = 40, 8
# The first process makes the round and works; it is killed. The second is what a new worker does with the lost job.
BEGIN = """
import os
from django.core.management import call_command
from judgments.machines.pairwise import runs
from judgments.guidelines import guidelines
from judgments.jobs import jobs
from judgments.rounds import rounds
from judgments.members.collections import create_collection
from judgments.models import Document, Query, User
from tests.judgments.machines.pairwise.example import choice_of
from tests.judgments.machines.model_replies import provider_at
call_command("migrate", verbosity=0)
lead = User.objects.create_user("lead")
shop = create_collection(slug="shop", name="Shop", actor=lead)
version = guidelines.add_version(shop, markdown="Grade what helps.", actor=lead)
query = Query.objects.create(collection=shop, query_id="q1", text="tent")
documents = [
    Document.objects.create(collection=shop, doc_id=f"d{at}", text=f"tent worth {at}.")
    for at in range(int(os.environ["DOCUMENTS"]))
]
found = [rounds.Candidate(query, one, {}) for one in documents]
made = rounds.create_round(
    shop, name="R", candidates=found, provenance={}, guidelines=version, actor=lead, raters=[]
)
provider = provider_at(os.environ["MODEL"], shop, lead, concurrency=int(os.environ["AT_ONCE"]))
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
    gone = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        # However late it is killed, it does not come to the end before.
        if number > 2 * DOCUMENTS:
            gone.wait(600)
        return Answer(better(prompt, number).text, wait=0.05)

    with serving(answer) as server:
        environment = {
            **os.environ,
            "ASSAY_VAR": str(own_var),
            "DATABASE_URL": "",
            "STORAGE_URL": "",
            "REDIS_URL": "",
            "DEBUG": "1",
            "PROVIDER_HOSTS": "127.0.0.1",
            "PROVIDER_NETWORKS": "127.0.0.0/8",
            "MODEL": server.url,
            "DOCUMENTS": str(DOCUMENTS),
            "AT_ONCE": str(AT_ONCE),
        }
        killed(server, DOCUMENTS, _shell(BEGIN), environment)
        gone.set()
        server.rest()
        before = len(server.requests)
        done = subprocess.run(_shell(AGAIN), cwd=ROOT, env=environment, text=True, capture_output=True, check=True)
        times = Counter(server.prompts)
    word, stored, state, battles, rows, calls = done.stdout.strip().splitlines()[-1].split()
    assert (word, state) == ("TOLD", "done")
    assert int(stored) < int(battles), "it was killed too late to tell anything"
    assert int(rows) == int(calls) == int(battles) == len(times)
    # What the server counted: every answer that was kept was asked for once, and no more than were in flight twice.
    again = sum(count - 1 for count in times.values())
    assert again == before - int(stored)
    assert again <= AT_ONCE


def _shell(text: str) -> list[str]:
    return [sys.executable, "manage.py", "shell", "-v0", "-c", text]
