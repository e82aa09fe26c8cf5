"""A round in the database of DATABASE_URL that a slow model is set to judge, and how long its job takes. Prints JSON.

python judged_round.py make PAIRS URL CHARACTERS AT_ONCE
python judged_round.py work

The database must be empty. The second one is a worker's process: its time and its memory are the job's, and those of
starting Django.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
os.environ |= {"PROVIDER_HOSTS": "127.0.0.1", "PROVIDER_NETWORKS": "127.0.0.0/8"}
WORDS = ("light", "tent", "for", "two", "with", "a", "second", "door", "and", "seams", "against", "heavy", "rain")
A_QUERY = 50


def text_of(place: int, characters: int) -> str:
    """A document that differs from all others, as long as a product's page."""
    body = " ".join(WORDS[(place * 7 + at * (place % 5 + 1)) % len(WORDS)] for at in range(characters // 5))
    return f"Document {place}. {body}"[:characters]


def make(pairs: int, url: str, characters: int, at_once: int) -> dict[str, Any]:
    """Make the round, the provider and the run; its job waits."""
    from django.core.management import call_command

    from judgments.guidelines import guidelines
    from judgments.machines.judge_runs import judge_runs
    from judgments.machines.judge_runs.judge_settings import JudgeSettings
    from judgments.machines.prompts import prompts
    from judgments.machines.providers import accounts
    from judgments.members import collections, grants
    from judgments.models import Document, Query, User
    from judgments.rounds import rounds

    call_command("migrate", verbosity=0)
    lead = User.objects.create_user("lead")
    shop = collections.create_collection(actor=lead, slug="judged", name="Judged")
    version = guidelines.add_version(shop, markdown="Grade what helps.", actor=lead)
    queries = Query.objects.bulk_create(
        Query(collection=shop, query_id=f"q{at:06}", text=f"rain tent {at}") for at in range(-(-pairs // A_QUERY))
    )
    texts = (Document(collection=shop, doc_id=f"d{at:06}", text=text_of(at, characters)) for at in range(pairs))
    documents = Document.objects.bulk_create(texts, batch_size=500)
    candidates = [rounds.Candidate(queries[at // A_QUERY], one, {}) for at, one in enumerate(documents)]
    made = rounds.create_round(
        shop, name="Judged", candidates=candidates, provenance={}, guidelines=version, actor=lead, raters=[]
    )
    given = {
        "name": "slow",
        "protocol": "openai",
        "base_url": url,
        "models_offered": [{"name": "slow", "price_in": 1.0, "price_out": 4.0}],
        "concurrency": at_once,
    }
    grants.grant(shop, kind="provider-host", value=grants.ALL)
    provider = accounts.add(shop, actor=lead, given=given, key="sk-key")
    choice = JudgeSettings(provider, "slow", prompt=prompts.find(shop, "graded"))
    judge_runs.start(made, choice, actor=lead, cap_usd=1_000.0, cap_calls=None)
    return {"pairs": pairs}


def work() -> dict[str, Any]:
    """Do the job that waits, as a worker does; how long it took, and how many pairs were graded."""
    import resource

    from judgments.jobs import jobs
    from judgments.models import Job, JudgeRun, MachineJudgment, ModelCall

    job = Job.objects.get(kind="judge")
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    jobs.work_on_job.call(str(job.uuid))
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": wall,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        # Linux counts in KB, macOS in bytes.
        "peak": after.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e6 / 1024),
        "said": JudgeRun.objects.get().end_message,
        "graded": MachineJudgment.objects.filter(grade=2).count(),
        "calls": ModelCall.objects.count(),
    }


if __name__ == "__main__":
    import django

    django.setup()
    first, *rest = sys.argv[1:]
    result = work() if first == "work" else make(int(rest[0]), rest[1], int(rest[2]), int(rest[3]))
    print(json.dumps(result))
