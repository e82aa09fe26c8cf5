"""Test of a killed critic: no answer in the ledger is paid for twice, and each sample gets one score."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.judgments.machines.judge_runs.test_killed import ROOT, killed
from tests.model_server import Answer, serving

pytestmark = pytest.mark.slow
# Both systems give the same answer to every third sample: such answers share one question.
SAMPLES, SHARED, AT_ONCE = 60, 20, 8
QUESTIONS = 2 * SAMPLES - SHARED
# The first process imports the samples and asks the critic; it is killed. The second does what a new worker does with
# the lost job and with the scorecards that follow.
BEGIN = """
import io, json, os
from django.core.management import call_command
from evaluation.models import RagSampleSet
from evaluation.rag import critics
from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.members.collections import create_collection
from judgments.models import User
from tests.judgments.machines.model_replies import provider_at
call_command("migrate", verbosity=0)
lead = User.objects.create_user("lead")
shop = create_collection(slug="shop", name="Shop", actor=lead)
def store(kind, rows, name, **options):
    content = "".join(json.dumps(row) + "\\n" for row in rows).encode()
    upload = ingestion.receive(shop, kind=kind, file=io.BytesIO(content), filename=name, actor=lead)
    return ingestion.store(upload, actor=lead, options=options)
ids = [f"s{at}" for at in range(int(os.environ["SAMPLES"]))]
samples = [{"sample_id": one, "query": f"What is in kit {one}?"} for one in ids]
found = RagSampleSet.objects.get(uuid=store("samples", samples, "kits.jsonl")["id"])
for system in ("old", "new"):
    outputs = [
        {
            "sample_id": one,
            "retrieved": [{"doc_id": one, "text": f"Kit {one} contains seals."}],
            "response": f"Seals of {one}." if at % 3 == 0 else f"Seals of {one}, says {system}.",
        }
        for at, one in enumerate(ids)
    ]
    store("outputs", outputs, f"{system}.jsonl", samples=str(found.uuid))
provider = provider_at(os.environ["MODEL"], shop, lead, concurrency=int(os.environ["AT_ONCE"]))
choice = critics.Choice(provider, "judge-1", ["LLMFaithfulnessScore"])
run = critics.start(found, choice, actor=lead, cap_usd=None, cap_calls=int(os.environ["CAP"]))
jobs.work_on_job.call(str(run.job.uuid))
"""
AGAIN = """
import json
from datetime import timedelta
from django.db.models import Sum
from django.utils import timezone
from evaluation.models import RagCriticCall, RagCriticRun
from evaluation.rag import scorecards
from judgments.jobs import jobs
from judgments.models import Job
job = Job.objects.get(kind="rag-critic")
before = list(RagCriticCall.objects.values_list("pk", "cost_usd"))
Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
jobs.work_on_job.call(str(job.uuid))
run = RagCriticRun.objects.get()
jobs.work_on_job.call(str(scorecards.job_of(run.sample_set).uuid))
after = dict(RagCriticCall.objects.values_list("pk", "cost_usd"))
scores = {card.system.name: card.metrics["LLMFaithfulnessScore"] for card in scorecards.cards_of(run.sample_set)}
print(json.dumps({
    "stored": len(before),
    "unchanged": all(after[pk] == cost for pk, cost in before),
    "state": run.state,
    "run_calls": run.calls,
    "calls": len(after),
    "keys": RagCriticCall.objects.values("key").distinct().count(),
    "run_usd": run.spent_usd,
    "usd": RagCriticCall.objects.aggregate(usd=Sum("cost_usd"))["usd"],
    "samples": {name: score["details"]["num_samples"] for name, score in scores.items()},
    "values": {name: score["value"] for name, score in scores.items()},
}))
"""


def test_a_killed_critic_pays_no_call_twice_and_scores_each_sample_once(own_var: Path) -> None:
    gone = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        # However late the process is killed, it does not finish first.
        if number > 2 * QUESTIONS // 3:
            gone.wait(600)
        return Answer("0.5" if "says new" in prompt else "1", wait=0.05)

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
            "SAMPLES": str(SAMPLES),
            "AT_ONCE": str(AT_ONCE),
            # The cap leaves no room for a call that would be counted twice.
            "CAP": str(QUESTIONS),
        }
        killed(server, QUESTIONS // 3, _shell(BEGIN), environment)
        gone.set()
        server.rest()
        before = len(server.requests)
        done = subprocess.run(_shell(AGAIN), cwd=ROOT, env=environment, text=True, capture_output=True, check=True)
        times = Counter(server.prompts)
    data = json.loads(done.stdout.strip().splitlines()[-1])
    assert 0 < data["stored"] < QUESTIONS, "the process was killed too early or too late"
    assert (data["state"], data["unchanged"]) == ("done", True)
    assert data["calls"] == data["keys"] == data["run_calls"] == len(times) == QUESTIONS
    assert data["run_usd"] == pytest.approx(data["usd"])
    assert data["samples"] == {"old": SAMPLES, "new": SAMPLES}
    assert data["values"] == {"old": 1.0, "new": pytest.approx((SHARED + 0.5 * (SAMPLES - SHARED)) / SAMPLES)}
    # The server received again only what was in flight when the process was killed.
    again = sum(count - 1 for count in times.values())
    assert again == before - data["stored"]
    assert again <= AT_ONCE


def _shell(text: str) -> list[str]:
    return [sys.executable, "manage.py", "shell", "-v0", "-c", text]
