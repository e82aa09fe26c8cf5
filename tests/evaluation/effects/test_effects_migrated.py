"""Test of the migration that renames a field of RoundEffect: a row stays as it is, forth and back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]
WALK = """
import json
from django.core.management import call_command
from django.db import connection
from evaluation.models import RoundEffect
from judgments.members.collections import add_member, create_collection
from judgments.models import User
from judgments.rounds.answer_rounds import GivenAnswer, create_answer_rounds

TABLE = RoundEffect._meta.db_table

def state():
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, TABLE)
    return [sorted(one.name for one in columns), list(RoundEffect.objects.values_list("name", "effects"))]

call_command("migrate", verbosity=0)
lead, rater = (User.objects.create_user(name) for name in ("lead", "rater"))
shop = create_collection(slug="shop", name="Shop", actor=lead)
add_member(shop, username="rater", role="rater", actor=lead)
answer = GivenAnswer("q1", "Is the shell dry?", "Yes.", (), "Yes.")
(round_,) = create_answer_rounds(shop, name="A", answers=[answer], dimensions=["correct"], raters=[rater], actor=lead)
call_command("migrate", "evaluation", "0009", verbosity=0)
with connection.cursor() as cursor:
    cursor.execute(
        f"INSERT INTO {TABLE} (round_id, name, state, events, found, computed_at) VALUES (%s, %s, %s, %s, %s, %s)",
        [round_.pk, "conflicts", "a", 2, json.dumps({"moves": {"7": 0.25}}), "2026-01-01 00:00:00+00:00"],
    )
states = [state()]
for target in (["evaluation"], ["evaluation", "0009"], ["evaluation"]):
    call_command("migrate", *target, verbosity=0)
    states.append(state())
print(json.dumps(states))
"""


def test_rows_survive_the_migration_in_both_directions(own_var: Path) -> None:
    own = {"DATABASE_URL": "", "STORAGE_URL": "", "REDIS_URL": "", "ASSAY_VAR": str(own_var), "DEBUG": "1"}
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", WALK]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    states = json.loads(done.stdout.splitlines()[-1])
    columns = ["computed_at", "events", "found", "id", "name", "round_id", "state"]
    assert states == [[columns, [["conflicts", {"moves": {"7": 0.25}}]]]] * 4
