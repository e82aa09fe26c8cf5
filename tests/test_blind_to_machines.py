"""Does any address that a rater reaches tell anything of what a machine said?

Each is asked before and after a machine has judged every pair: not one answer may differ, and none may hold a word of
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall
from tests.test_access_matrix import LINES, WHO, address
from tests.world import World, make_world

pytestmark = pytest.mark.django_db
MARKS = ("reasons-of-a-machine", "raw-of-a-machine", "name-of-a-judge", "another-judge", "planted-for-a-rater")
# What differs from one answer to the next whoever asks: tokens of forms (64 letters), of the page's scripts, the number
# under which an answer will be sent, and times.
CHANGING = re.compile(
    rb"[A-Za-z0-9]{64}|nonce-[\w=+/-]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d\d:\d\d(:\d\d[.\d]*Z?)?"
)


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any) -> World:
    return make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)


def asked(client: Any, method: str, path: str, world: World) -> bytes:
    """The whole answer, redirects' goals among it; nothing that was done stays."""
    api = path.startswith("/api/")
    body, kind = _sent(path, world) if method != "GET" and api else ("sent=1", "application/x-www-form-urlencoded")
    cookies = dict(client.cookies)
    with transaction.atomic():
        response = client.generic(method, path, body, content_type=kind)
        transaction.set_rollback(True)
    client.cookies.clear()
    client.cookies.update(cookies)
    text = b"".join(response.streaming_content) if response.streaming else response.content
    return CHANGING.sub(b"", text) + response.headers.get("Location", "").encode()


def _sent(path: str, world: World) -> tuple[str, str]:
    return ('{"size": 50}' if path.endswith("/batch/") else ""), "application/json"


def reached(world: World) -> list[tuple[str, str]]:
    """Every address that lets a rater in, from the table that holds every address there is."""
    column = WHO.index("rater")
    lines = [line for line in LINES if line.expected[column] not in (403, 404) and "docs" not in line.route]
    return [(line.method, address(line.route, world)) for line in lines if "schema" not in line.route]


def judge_everything(world: World) -> None:
    judge = Judge.objects.create(collection=world.collection, name="another-judge", kind="graded")
    for round_ in (world.round, world.closed, world.draft):
        run = JudgeRun.objects.create(round=round_, judge=judge, cap_calls=100, audit_share=0.5)
        for pair in round_.pairs.all():
            words = {"outcome": "graded", "grade": 3, "rationale": "planted-for-a-rater", "raw": "planted-for-a-rater"}
            key = f"{pair.pk:064}"
            call = ModelCall.objects.create(
                run=run, judge=judge, pair=pair, purpose="pair", key=key, prompt_sha256=key, model_asked="m", **words
            )
            MachineJudgment.objects.create(judge=judge, pair=pair, call=call, **words)


def test_no_address_of_a_rater_tells_what_a_machine_said(
    world: World, client_of: Callable[[Any], Any], rater: Any
) -> None:
    places = reached(world)
    assert len(places) > 15
    client = client_of(rater)
    before = {place: asked(client, *place, world) for place in places}
    judge_everything(world)
    after = {place: asked(client, *place, world) for place in places}
    assert [place for place in places if before[place] != after[place]] == []
    assert [place for place in places if any(mark.encode() in after[place] for mark in MARKS)] == []
