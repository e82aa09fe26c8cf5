"""Test of a killed critic: no answer in the ledger is paid for twice, and each sample gets one score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.judgments.machines.killed_worker import killed_and_resumed

pytestmark = pytest.mark.slow
# Both systems give the same answer to every third sample: such answers share one question.
SAMPLES, SHARED, AT_ONCE = 60, 20, 8
QUESTIONS = 2 * SAMPLES - SHARED
# The first process imports the samples and asks the critic; it is killed. The second does what a new worker does with
# the lost job and with the scorecards that follow. The cap leaves no room for a call that would be counted twice.
NUMBERS = f"SAMPLES, AT_ONCE, CAP = {SAMPLES}, {AT_ONCE}, {QUESTIONS}"
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
ids = [f"s{at}" for at in range(SAMPLES)]
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
provider = provider_at(os.environ["MODEL"], shop, lead, concurrency=AT_ONCE)
choice = critics.CriticSettings(provider, "judge-1", ["LLMFaithfulnessScore"])
run = critics.start(found, choice, actor=lead, cap_usd=None, cap_calls=CAP)
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
    resumed = killed_and_resumed(
        own_var,
        NUMBERS + BEGIN,
        AGAIN,
        lambda prompt, number: "0.5" if "says new" in prompt else "1",
        after=QUESTIONS // 3,
    )
    data = json.loads(resumed.printed)
    assert 0 < data["stored"] < QUESTIONS, "the process was killed too early or too late"
    assert (data["state"], data["unchanged"]) == ("done", True)
    assert data["calls"] == data["keys"] == data["run_calls"] == len(resumed.prompts) == QUESTIONS
    assert data["run_usd"] == pytest.approx(data["usd"])
    assert data["samples"] == {"old": SAMPLES, "new": SAMPLES}
    assert data["values"] == {"old": 1.0, "new": pytest.approx((SHARED + 0.5 * (SAMPLES - SHARED)) / SAMPLES)}
    resumed.assert_only_pending_calls_were_repeated(data["stored"], AT_ONCE)
