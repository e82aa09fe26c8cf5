"""Tests that a snapshot has the same hash on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import migrated

# In one worker, which walks on SQLite once for both.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("two_databases")]
ROOT = Path(__file__).resolve().parent.parent

# The worked example with ids that a locale would sort otherwise, frozen; prints hash, qrels and the list's bytes.
WALK = """
import hashlib, io, json, uuid
from django.core.management import call_command
from judgments.rating import assignment
from judgments.guidelines import guidelines
from judgments.imports import ingestion
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from judgments.rating import submission
from judgments.members.collections import add_member, create_collection
from judgments.models import User
from pooling.pools import pools
from pooling.logs import query_logs
from pooling.models import QueryLog, Run

call_command("migrate", verbosity=0)
lead, one, two = (User.objects.create_user(name) for name in ("lead", "one", "two"))
shop = create_collection(slug="shop", name="Shop", actor=lead)
for user in (one, two):
    add_member(shop, username=user.username, role="rater", actor=lead)

def store(kind, filename, text):
    file = io.BytesIO(text.encode())
    upload = ingestion.receive(shop, kind=kind, file=file, filename=filename, actor=lead)
    ingestion.store(upload, actor=lead)

ids = ["Z", "a", "9", "10", "é", "_"]
told = [{"doc_id": d, "title": f"Title {d}", "category": ["é", d]} for d in ids]
store("documents", "d.jsonl", "".join(json.dumps(one) + "\\n" for one in told))
store("query-logs", "log.csv", "query,count\\n" + "".join(f"search {n},{100 // n}\\n" for n in range(1, 30)))
query_logs.draw(QueryLog.objects.get(), sizes={"head": 2, "torso": 2, "tail": 2}, seed=7, actor=lead)
lines = [
    f"{q} Q0 {d} {rank} {10 - rank} bm25\\n"
    for q in shop.queries.values_list("query_id", flat=True)
    for rank, d in enumerate(ids, 1)
]
store("runs", "bm25.run", "".join(lines))
runs = list(Run.objects.all())
pool = pools.draw_pool(shop, strategy="depth", runs=runs, parameters={"depth": 4}, seed=3, actor=lead)
version = guidelines.add_version(shop, markdown="# Grades", actor=lead)
made = pools.make_round(pool, actor=lead, name="Round", guidelines=version, raters=[one, two], seed=5, overlap=0.5)
made = rounds.open_round(made, actor=lead)
for user in (one, two):
    while batch := assignment.claim_batch(made, rater=user, size=10):
        for pair in batch:
            digest = hashlib.sha256(f"{pair.query.query_id} {pair.document.doc_id}".encode()).digest()
            answer = submission.Answer(uuid.uuid4(), pair.uuid, digest[0] % 4)
            submission.submit(made, answer, rater=user)
snapshot = snapshots.freeze(shop, name="one", rounds=[made], actor=lead)
print("HASH", snapshot.content_sha256)
for name in ("trec-qrels", "judgment-list", "queries-csv", "queries-tsv", "document-hashes-csv"):
    print("FILE", name, hashlib.sha256(snapshots.export(snapshot, name)[1]).hexdigest())
print("FILE baseline", hashlib.sha256(json.dumps(snapshot.manifest["baseline"], sort_keys=True).encode()).hexdigest())
"""


def walked(database_url: str, folder: Path, **extra: str) -> list[str]:
    """Walk from nothing to a snapshot on this database; answers the printed hashes."""
    ours = {"DATABASE_URL": database_url, "ASSAY_VAR": str(folder), "REDIS_URL": "", "STORAGE_URL": ""}
    environment = {**os.environ, **ours, **extra}
    if not database_url:
        folder.mkdir(exist_ok=True)
        migrated.copied(folder / "assay.sqlite3")
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", WALK]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if line.startswith(("HASH", "FILE"))]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is printed on SQLite."""
    return walked("", tmp_path_factory.mktemp("here"))


def test_the_same_snapshot_has_the_same_hash_on_both(here: list[str], postgresql: str, tmp_path: Path) -> None:
    assert len(here) == 7
    assert walked(postgresql, tmp_path / "postgresql") == here


def test_neither_locale_nor_time_zone_changes_it(here: list[str], tmp_path: Path) -> None:
    there = walked("", tmp_path / "there", LC_ALL="C", TZ="Pacific/Auckland", PYTHONHASHSEED="7")
    assert there == here
