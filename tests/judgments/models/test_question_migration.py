"""Test of the migrations that set questions apart: back and forth, on a database of its own, nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]
# One question has the id of a query with another text, the other one has an id of its own.
WALK = """
import json
import uuid
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from judgments.rating import assignment
from judgments.rounds import rounds
from judgments.rating import submission
from judgments.rounds.answer_rounds import GivenAnswer, Passage, create_answer_rounds
from judgments.members.collections import add_member, create_collection
from judgments.models import Judgment, Query, User

def rows(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return [list(map(str, row)) for row in cursor.fetchall()]

def state():
    with connection.cursor() as cursor:
        columns = [one.name for one in connection.introspection.get_table_description(cursor, "judgments_query")]
    kind = "kind" if "kind" in columns else "'none'"
    return {
        "queries": rows(f"SELECT {kind}, query_id, text, uuid FROM judgments_query ORDER BY id"),
        "pairs": rows("SELECT id, query_id, document_id FROM judgments_pair ORDER BY id"),
        "judgments": rows("SELECT pair_id, grade FROM judgments_judgment ORDER BY id"),
    }

call_command("migrate", verbosity=0)
lead, one = (User.objects.create_user(name) for name in ("lead", "one"))
shop = create_collection(slug="shop", name="Shop", actor=lead)
add_member(shop, username="one", role="rater", actor=lead)
Query.objects.create(collection=shop, query_id="q1", text="rain jacket")
shell = (Passage("d1", "The shell is waterproof."),)
answers = [
    GivenAnswer("q1", "Is the shell dry?", "Yes.", shell, "Yes."),
    GivenAnswer("q2", "How do I wash it?", "At 30 degrees.", shell, "At 30 degrees."),
]
(made,) = create_answer_rounds(shop, name="A", answers=answers, dimensions=["correct"], raters=[one], actor=lead)
made = rounds.open_round(made, actor=lead)
for pair in assignment.claim_batch(made, rater=one, size=10):
    submission.submit(made, submission.Answer(uuid.uuid4(), pair.uuid, 2), rater=one)

before = state()
MigrationExecutor(connection).migrate([("pooling", "0009_archive"), ("judgments", "0024_answers_are_judged")])
back = state()
call_command("migrate", verbosity=0)
after = state()
try:
    with transaction.atomic():
        Judgment._base_manager.all()._raw_delete("default")
    kept = False
except DatabaseError:
    kept = True
print(json.dumps([before, back, after, kept]))
"""


def test_data_survives_the_way_back_and_forth(own_var: Path) -> None:
    own = {"DATABASE_URL": "", "STORAGE_URL": "", "REDIS_URL": "", "ASSAY_VAR": str(own_var), "DEBUG": "1"}
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", WALK]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    before, back, after, remaining = json.loads(done.stdout.splitlines()[-1])
    assert [row[:3] for row in before["queries"]] == [
        ["query", "q1", "rain jacket"],
        ["question", "q1", "Is the shell dry?"],
        ["question", "q2", "How do I wash it?"],
    ]
    # Without kinds an id belongs to one row: the question gets an id of its own until it is a question again.
    assert [row[:3] for row in back["queries"]] == [
        ["none", "q1", "rain jacket"],
        ["none", f"q1 {uuid.UUID(before['queries'][1][3])}", "Is the shell dry?"],
        ["none", "q2", "How do I wash it?"],
    ]
    assert back["pairs"] == before["pairs"]
    assert back["judgments"] == before["judgments"] != []
    assert after == before
    assert remaining, "judgments can be deleted"
