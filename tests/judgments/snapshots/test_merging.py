"""Tests of merging rounds: bridging overlap, changed labels and documents, freezing below the gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.guidelines import guidelines
from judgments.rating import assignment
from judgments.rounds import rounds
from judgments.snapshots import final_labels, snapshots
from tests.world import grade_together

pytestmark = pytest.mark.django_db
NEW = "/c/shop/snapshots/new/"
PREVIEW = "/api/v1/collections/shop/snapshots/preview/"


@pytest.fixture
def two(make_round: Callable[..., Any], rate_all: Callable[..., int], collection: Any, lead: Any, rater: Any) -> Any:
    """Ten pairs under guidelines 1, and as many of them under guidelines 2 as are asked for, one step higher."""

    def make(again: int) -> tuple[Any, Any]:
        old = make_round(queries=2, documents=5, raters=[rater], ratings_per_pair=1)
        rate_all(old, rater, lambda pair: pair.position % 3)
        guidelines.add_version(collection, markdown="Grade anew.", actor=lead)
        new = make_round(queries=2, documents=5, raters=[rater], ratings_per_pair=1, name="Round 2")
        new.pairs.filter(position__gte=again).delete()
        rate_all(new, rater, lambda pair: pair.position % 3 + (pair.position == 0))
        return old, new

    return make


def test_an_overlap_of_a_fifth_bridges_and_its_agreement_is_in_the_manifest(
    two: Any, collection: Any, lead: Any
) -> None:
    old, new = two(2)
    frozen = snapshots.freeze(collection, name="both", rounds=[new, old], merge="bridged", actor=lead)
    assert frozen.summary["labels"] == 10
    (bridge,) = frozen.manifest["merge"]["bridges"]
    assert (bridge["labelled"], bridge["rated_again"], bridge["needed"], bridge["same"]) == (10, 2, 2, 1)
    assert (bridge["guidelines_version"], bridge["newer_guidelines_versions"]) == (1, [2])
    assert bridge["agreement"]["alpha"]["n"] == 2
    assert frozen.manifest["merge"]["changed"] == 1
    qrels = frozen.read_file("qrels.txt").decode()
    first = new.pairs.get(position=0)
    assert f"{first.query.query_id} 0 {first.document.doc_id} 1\n" in qrels


def test_below_a_fifth_it_says_how_many_more_are_needed(two: Any, collection: Any, lead: Any, client_of: Any) -> None:
    old, new = two(1)
    with pytest.raises(NotValid, match=r"1 of the 10 labeled pairs of Round 1 .*; 2 are needed, 1 more"):
        snapshots.freeze(collection, name="both", rounds=[new, old], merge="bridged", actor=lead)
    form_values = {"rounds": [old.uuid, new.uuid], "rule": "median", "sources": "human", "merge": "bridged"}
    client = client_of(lead)
    page = client.get(NEW, form_values).content.decode()
    assert "Not bridged yet" in page
    assert "Freeze 10 labels" not in page
    assert client.post(NEW, {**form_values, "name": "both"}).status_code == 422
    body = {"rounds": [str(old.uuid), str(new.uuid)], "merge": "bridged"}
    preview = client.post(PREVIEW, body, content_type="application/json").json()
    assert (preview["can_freeze"], preview["bridges"][0]["needed"]) == (False, 2)
    assert client.post(NEW, {**form_values, "merge": "newest", "name": "both"}).status_code == 302
    frozen = collection.snapshots.get()
    assert any("guidelines differ" in warning for warning in frozen.manifest["warnings"])


def test_changed_labels_are_listed_but_hidden_from_current_raters(
    two: Any, collection: Any, lead: Any, client_of: Any, make_round: Any
) -> None:
    old, new = two(3)
    client, listed = client_of(lead), f"{NEW}changes/?rounds={old.uuid},{new.uuid}&rule=median"
    assert "1 got a different label" in client.get(NEW, {"rounds": [old.uuid, new.uuid]}).content.decode()
    page = client.get(listed)
    assert page.context["listing"].count == 1
    rows = b"".join(client.get(f"{listed}&format=csv").streaming_content).decode().splitlines()
    assert rows[1].endswith(",0,1,1,Round 1,Round 2")
    assert "No pair of these rounds" in client.get(f"{NEW}changes/?rounds={new.uuid}").content.decode()
    assert client.get(f"{NEW}changes/?rounds=x,&rule=y").status_code == 200
    make_round(queries=2, documents=5, raters=[lead], ratings_per_pair=1, name="Round 3")
    page = client.get(listed).content.decode()
    assert "You may still have to rate" in page
    assert "Newer round" not in page


def test_documents_that_changed_since_are_listed(two: Any, collection: Any, lead: Any, client_of: Any) -> None:
    old, new = two(2)
    document = new.pairs.get(position=0).document
    document.content_sha256 = "0" * 64
    document.save()
    client = client_of(lead)
    page = client.get(NEW, {"rounds": [old.uuid, new.uuid]}).content.decode()
    assert "2 pairs</a>" in " ".join(page.split())
    listing = client.get(f"{NEW}stale/?rounds={old.uuid},{new.uuid}").context["listing"]
    assert listing.count == 2
    frozen = snapshots.freeze(collection, name="both", rounds=[new, old], actor=lead)
    assert frozen.manifest["counts"]["stale"] == 2
    assert "2 pairs whose document changed after the judgment" in frozen.manifest["warnings"]


def test_one_guidelines_version_needs_no_bridge(make_round: Any, rate_all: Any, rater: Any, collection: Any, lead: Any):
    for name in ("Round 1", "Round 2"):
        rate_all(make_round(raters=[rater], ratings_per_pair=1, name=name), rater, 1)
    preview = final_labels.compute_labels(collection, list(collection.rounds.all()), merge="bridged")
    assert (preview.merged.bridges, preview.merged.changes, preview.merged.rated_again) == ([], [], 6)


@pytest.fixture
def failing(make_round: Any, rater: Any, rater2: Any, lead: Any) -> Any:
    """A closed round of as many pairs as a gate decides on, whose raters do not agree at all."""
    round_ = make_round(queries=30, documents=7, raters=[rater, rater2])
    for step, user in ((1, rater), (2, rater2)):
        while batch := assignment.claim_batch(round_, rater=user, size=50):
            grade_together(round_, user, {pair.uuid: pair.position // step % 4 for pair in batch})
    return rounds.close_round(round_, actor=lead)


def test_below_its_gate_a_round_is_frozen_with_a_reason_or_not(failing: Any, lead: Any, client_of: Any) -> None:
    collection = failing.collection
    with pytest.raises(Conflict, match="below the gate") as error:
        snapshots.freeze(collection, name="one", rounds=[failing], actor=lead)
    assert set(error.value.fields) == {"override_reason"}
    client = client_of(lead)
    form_values = {"rounds": failing.uuid, "rule": "median", "sources": "human", "merge": "newest"}
    page = client.get(NEW, form_values).content.decode()
    assert "clarify the edge cases" in page
    response = client.post(NEW, {**form_values, "name": "one"})
    assert (response.status_code, "override_reason" in response.context["form"].errors) == (409, True)
    body = {"name": "one", "rounds": [str(failing.uuid)]}
    refused = client.post("/api/v1/collections/shop/snapshots/", body, content_type="application/json")
    assert (refused.status_code, set(refused.json()["error"]["fields"])) == (409, {"override_reason"})
    assert client.post(PREVIEW, {"rounds": body["rounds"]}, content_type="application/json").json()["needs_reason"]
    frozen = snapshots.freeze(collection, name="one", rounds=[failing], actor=lead, override_reason="A first look.")
    (entry,) = frozen.manifest["rounds"]
    assert (entry["gate"]["state"], entry["gate"]["threshold"]) == ("failed", 0.6)
    page = client.get(f"/snapshots/{frozen.uuid}/").content.decode()
    assert "gate failed" in page
    assert "A first look." in page
    failing.gate_threshold = -1
    failing.save()
    passed = snapshots.freeze(collection, name="two", rounds=[failing], actor=lead)
    assert passed.manifest["rounds"][0]["gate"]["state"] == "passed"
    assert passed.content_sha256 == frozen.content_sha256
