"""Tests of recorded verdicts: the API, the pages, and who may read them."""

from __future__ import annotations

import hashlib
import json
import uuid
from functools import partial
from typing import Any

import pytest

from evaluation.models import GateVerdict
from judgments.models import AuditRow
from judgments.rounds import rounds
from pooling.models import Run
from pooling.pools import pools
from tests.threads import at_once
from tests.world import World

pytestmark = pytest.mark.django_db
GATES = "/api/v1/collections/shop/gates/"


def body_of(world: World, **changes: Any) -> dict[str, Any]:
    """What `assay gate --server` sends."""
    entry = next(entry for entry in world.snapshot.manifest["files"] if entry["path"] == "qrels.txt")
    rule = {"rule": "RR@3 >= 0.5", "passed": True, "value": 1.0, "metric": "RR@3", "limit": 0.5, "queries": 1}
    return {
        "client_id": str(uuid.uuid4()),
        "snapshot": str(world.snapshot.uuid),
        "passed": True,
        "rules": [rule],
        "warnings": [],
        "settings": {"seed": 0, "missing": "zero"},
        "qrels": {"path": "/secret/place/qrels.txt", "sha256": entry["sha256"], "queries": 1, "judgments": 5},
        "files": {
            "candidate": {"name": "new", "path": "/secret/place/new.run", "sha256": "1" * 64},
            "baseline": None,
            "rules": [],
        },
        **changes,
    }


@pytest.fixture
def send(world: World, engineer: Any, api_of: Any) -> Any:
    api = api_of(engineer)
    return lambda **changes: api.post(GATES, body_of(world, **changes), format="json")


def test_a_verdict_is_recorded_without_paths(world: World, send: Any) -> None:
    response = send(label="Pull request 13", link="https://code.example.com/13")
    verdict = GateVerdict.objects.get(uuid=response.json()["id"])
    assert response.status_code == 201
    assert (verdict.passed, verdict.candidate, verdict.baseline, verdict.label) == (True, "new", "", "Pull request 13")
    assert "/secret/place" not in str([response.json(), vars(verdict)])
    assert AuditRow.objects.filter(verb="gates.record", target_uuid=verdict.uuid).exists()


def test_a_verdict_sent_twice_is_recorded_once(world: World, send: Any) -> None:
    client_id = str(uuid.uuid4())
    first, again = send(client_id=client_id), send(client_id=client_id)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()


@pytest.mark.django_db(transaction=True)
def test_a_verdict_sent_twice_at_once_is_recorded_once(world: World, engineer: Any, api_of: Any) -> None:
    body, callers = body_of(world), [api_of(engineer), api_of(engineer)]
    answers = at_once(*[partial(one.post, GATES, body, format="json") for one in callers])
    assert sorted(one.status_code for one in answers) == [200, 201]
    assert answers[0].json() == answers[1].json()
    assert world.collection.gate_verdicts.filter(client_id=body["client_id"]).count() == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"qrels": {"sha256": "2" * 64}}, "qrels"),
        ({"qrels": {"sha256": "x"}}, "qrels"),
        ({"passed": False}, "passed"),
        ({"rules": []}, "rules"),
        ({"link": "javascript:alert(1)"}, "link"),
        ({"label": "x" * 201}, "label"),
        ({"snapshot": str(uuid.uuid4())}, "snapshot"),
        ({"files": {"candidate": {"name": "new", "sha256": ""}}}, "files"),
    ],
)
def test_contradictory_and_unusable_verdicts_are_refused(send: Any, changes: dict[str, Any], field: str) -> None:
    response = send(**changes)
    assert response.status_code == 400
    assert field in response.json()["error"]["fields"]
    assert GateVerdict.objects.count() == 1  # that of the world


def test_a_number_beyond_all_limits_is_refused(world: World, engineer: Any, api_of: Any) -> None:
    text = json.dumps(body_of(world)).replace('"value": 1.0', '"value": 1e999')
    assert api_of(engineer).post(GATES, text, content_type="application/json").status_code == 400


def linked_runs(client: Any, verdict: Any) -> list[Run | None]:
    """Return the stored runs to which the page of a verdict links."""
    return [file[-1] for file in client.get(f"/c/shop/gates/{verdict.uuid}/").context["files"]]


def test_runs_are_linked_by_their_hash_even_if_they_come_later(
    world: World, send: Any, store_file: Any, engineer: Any, client_of: Any
) -> None:
    content = b"q1 Q0 d1 1 1.0 later\n"
    run = {"name": "later", "sha256": hashlib.sha256(content).hexdigest()}
    known = {"name": "bm25", "sha256": world.runs[0].sha256}
    send(files={"candidate": run, "baseline": known})
    verdict = GateVerdict.objects.get(candidate="later")
    assert linked_runs(client_of(engineer), verdict) == [None, world.runs[0]]
    stored = store_file("runs", content, "later.run")
    assert linked_runs(client_of(engineer), verdict) == [Run.objects.get(uuid=stored["id"]), world.runs[0]]


def test_verdicts_are_listed_and_filtered(world: World, send: Any, engineer: Any, api_of: Any) -> None:
    send()
    api = api_of(engineer)
    assert [row["candidate"] for row in api.get(GATES).json()["results"]] == ["new", "neural"]
    assert [row["passed"] for row in api.get(f"{GATES}?candidate=neural").json()["results"]] == [False]
    one = api.get(f"{GATES}{world.verdict.uuid}/").json()
    assert [rule["passed"] for rule in one["rules"]] == [True, False]
    assert api.get(f"{GATES}{uuid.uuid4()}/").status_code == 404


def test_who_still_rates_pairs_of_the_snapshot_reads_no_verdict(
    world: World, lead: Any, api_of: Any, client_of: Any
) -> None:
    page = f"/c/shop/gates/{world.verdict.uuid}/"
    assert "2.0 above the limit" in client_of(lead).get(page).content.decode()
    own = pools.make_round(world.pool, actor=lead, name="Own", guidelines=world.version, raters=[lead])
    rounds.open_round(own, actor=lead)
    row = api_of(lead).get(f"{GATES}{world.verdict.uuid}/").json()
    assert (row["passed"], row["rules"], row["warnings"]) == (None, None, None)
    assert [one["passed"] for one in api_of(lead).get(GATES).json()["results"]] == [None]
    assert api_of(lead).post(GATES, body_of(world), format="json").status_code == 403
    text = client_of(lead).get(page).content.decode()
    assert "2.0 above the limit" not in text
    listing = client_of(lead).get("/c/shop/gates/")
    assert 'data-state="fail"' not in listing.content.decode()
    file = client_of(lead).get("/c/shop/gates/?format=csv").getvalue().decode()
    assert "failed" not in file.splitlines()[1]


def test_untrusted_text_is_escaped(world: World, send: Any, engineer: Any, client_of: Any) -> None:
    rule = {"rule": "<script>x</script>", "passed": True, "value": 0.25, "reason": "<b>bold</b>"}
    sent = send(rules=[rule], label="<i>label</i>", warnings=["<u>warning</u>"]).json()
    text = client_of(engineer).get(f"/c/shop/gates/{sent['id']}/").content.decode()
    assert not any(word in text for word in ("<script>x", "<b>bold", "<i>label", "<u>warning"))
    assert "0.2500" in text


def test_a_collection_without_gates_says_how_to_begin(world: World, engineer: Any, client_of: Any, lead: Any) -> None:
    GateVerdict.objects.all().delete()
    text = client_of(engineer).get("/c/shop/gates/").content.decode()
    assert "assay gate --server http://testserver --collection shop" in text


def test_a_deleted_run_leaves_its_verdicts(world: World, engineer: Any, client_of: Any) -> None:
    world.decision.delete()
    Run.objects.filter(pk=world.runs[1].pk).delete()
    assert linked_runs(client_of(engineer), world.verdict)[0] is None
    assert world.verdict.candidate == "neural"
