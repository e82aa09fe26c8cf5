"""Tests that label hashes are hidden from leads who may still grade.

A hash over labels lets a reader test guesses: ten unknown grades are few enough to try all combinations.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from judgments.models import AuditRow, RoundRater
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from tests.test_access_matrix import LINES, WHO, address
from tests.world import World, make_world, received

pytestmark = pytest.mark.django_db
FORMATS = ("", "?format=json", "?format=csv")
LABELS = ("qrels.txt", "judgments.json", "ratings.csv")


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any) -> World:
    made = make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)
    snapshots.freeze(collection, name="second", rounds=[made.closed], actor=engineer, rule="max")
    received(collection, engineer, "qrels", "q1 0 d1 3\nq1 0 d2 1\n")
    return made


def hashes(world: World) -> set[str]:
    """The first characters of every hash over labels, as pages shorten them."""
    values = {
        entry["sha256"]
        for row in world.collection.snapshots.all()
        for entry in row.manifest["files"]
        if entry["path"] in LABELS
    }
    values |= {row.content_sha256 for row in world.collection.snapshots.all()}
    values |= {row.sha256 for row in world.collection.uploads.filter(kind="qrels", created_by=world.engineer)}
    own = world.collection.uploads.exclude(created_by=world.engineer).values("sha256")
    values |= {row.sha256 for row in world.collection.label_sources.exclude(sha256__in=own)}
    return {one[:6] for one in values}


def page_contents(world: World, client: Any) -> dict[str, str]:
    """Every page, file and endpoint that a lead can read, with what it answers."""
    column = WHO.index("lead")
    paths = [address(line.route, world) for line in LINES if line.method == "GET" and line.expected[column] == 200]
    runs = "&".join(f"{letter}={run.name}" for letter, run in zip("ab", world.runs, strict=False))
    paths = [path for path in paths if not any(part in path for part in ("/docs", "schema", "invite", "rate/"))]
    uploads = [f"/uploads/{row.uuid}/" for row in world.collection.uploads.all()]
    contents = {}
    for path in [*paths, *uploads]:
        for variant in FORMATS if not path.startswith("/api/") else ("",):
            for more in ("", runs) if "compare" in path or "judge" in path else ("",):
                whole = f"{path}{variant}{'&' if variant else '?'}{more}" if more else f"{path}{variant}"
                response = client.get(whole)
                body = b"".join(response.streaming_content) if response.streaming else response.content
                contents[whole] = body.decode("utf-8", "replace")
    return contents


def telling(world: World, client: Any) -> list[str]:
    wanted = hashes(world)
    return sorted(path for path, body in page_contents(world, client).items() if any(one in body for one in wanted))


@pytest.mark.slow
def test_no_answer_holds_a_hash_over_labels(world: World, lead: Any, client_of: Callable[[Any], Any]) -> None:
    client = client_of(lead)
    before = telling(world, client)
    assert len(before) > 10
    RoundRater.objects.create(round=world.round, user=lead, pseudonym="r09")
    assert telling(world, client) == []
    rounds.close_round(world.round, actor=lead)
    snapshot = client.get(f"/snapshots/{world.snapshot.uuid}/").content.decode()
    assert world.snapshot.content_sha256 in snapshot


def test_searching_for_a_hash_matches_nothing(world: World, lead: Any, client_of: Callable[[Any], Any]) -> None:
    page, words = "/c/shop/snapshots/", {"q": world.snapshot.content_sha256[:4]}
    assert "first" in client_of(lead).get(page, words).content.decode()
    RoundRater.objects.create(round=world.round, user=lead, pseudonym="r09")
    content = client_of(lead).get(page, words).content.decode()
    assert str(world.snapshot.uuid) not in content


def test_hidden_hashes_are_null_in_the_api(world: World, lead: Any, client_of: Callable[[Any], Any]) -> None:
    RoundRater.objects.create(round=world.round, user=lead, pseudonym="r09")
    client = client_of(lead)
    assert client.get(f"/api/v1/snapshots/{world.snapshot.uuid}/").json()["content_sha256"] is None
    scored = client.get("/api/v1/collections/shop/scores/").json()["results"][0]
    assert scored["qrels"]["sha256"] is None
    assert scored["runs"][0]["sha256"] == world.runs[0].sha256
    report = client.get(f"/c/shop/scores/?snapshot={world.snapshot.uuid}&format=json").content
    assert json.loads(report)["qrels"]["sha256"] is None


def test_acts_on_record_hold_none(world: World) -> None:
    sentences = " ".join(AuditRow.objects.filter(collection=world.collection).values_list("sentence", flat=True))
    assert not any(one in sentences for one in hashes(world))
