"""Tests of the strata API: strata, groups, proposals and narratives as on the pages."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import Query

SHOP = "/api/v1/collections/shop"


@pytest.fixture
def drawn(log: Any, api_of: Any, lead: Any) -> Any:
    """Six of the log's nine queries, drawn by tier; and the lead's client."""
    client = api_of(lead)
    sizes = {"head": 1, "torso": 2, "tail": 3, "seed": 7}
    assert client.post(f"{SHOP}/query-logs/{log.uuid}/draw/", sizes, format="json").status_code == 201
    return client


def test_a_stratum_from_the_log_and_one_from_a_list(drawn: Any, log: Any) -> None:
    options = {"name": "small", "log": str(log.uuid), "words": ["lamp", "sock", "map", "bag"], "head": 2, "tail": 2}
    answer = drawn.post(f"{SHOP}/strata/", options, format="json")
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert (body["stratum"]["share"], body["stratum"]["part_of"]) == (0.1, "first")
    assert set(body["new"]).isdisjoint(body["there"])
    assert drawn.post(f"{SHOP}/strata/", options, format="json").status_code == 409
    listed = {"name": "de", "share": 0.5, "queries": ["Zelt", "tent"]}
    assert len(drawn.post(f"{SHOP}/strata/", listed, format="json").json()["there"]) == 1
    rows = drawn.get(f"{SHOP}/strata/").json()["results"]
    assert {row["name"]: row["share"] for row in rows} == pytest.approx({"first": 0.45, "small": 0.05, "de": 0.5})
    assert {row["stratum"] for row in drawn.get(f"{SHOP}/queries/?stratum=de").json()["results"]} == {"de"}
    for bad, field in (
        ({"name": "x"}, "queries"),
        ({"name": "x", "queries": ["a"]}, "share"),
        ({"name": "x", "wrods": []}, "wrods"),
    ):
        refused = drawn.post(f"{SHOP}/strata/", bad, format="json")
        assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, [field])
    options = {"name": "x", "log": "00000000-0000-0000-0000-000000000404"}
    assert drawn.post(f"{SHOP}/strata/", options, format="json").status_code == 404


def test_proposals_become_groups_or_are_refused(drawn: Any) -> None:
    rows = [
        {"query_id": f"x{at}", "query": text}
        for at, text in enumerate(("red tent", "tent red", "mug blue", "blue mug"))
    ]
    assert drawn.post(f"{SHOP}/queries/", rows, format="json").status_code == 201
    texts = [sorted(one["queries"]) for one in drawn.get(f"{SHOP}/query-groups/proposals/").json()]
    assert sorted(texts) == [["x0", "x1"], ["x2", "x3"]]
    refusal = {"queries": ["x2", "x3"]}
    assert drawn.post(f"{SHOP}/query-groups/proposals/", refusal, format="json").status_code == 204
    made = drawn.post(f"{SHOP}/query-groups/", {"queries": ["x0", "x1", "x0"], "shares": True}, format="json").json()
    assert (made["name"], made["queries"], made["shares"]) == ("red tent", ["x0", "x1"], True)
    assert drawn.get(f"{SHOP}/query-groups/proposals/").json() == []
    url = f"{SHOP}/query-groups/{made['id']}/"
    changed = drawn.patch(url, {"name": "tents", "shares": False}, format="json").json()
    assert (changed["name"], changed["shares"]) == ("tents", False)
    assert {row["query_id"] for row in drawn.get(f"{SHOP}/queries/?group=tents").json()["results"]} == {"x0", "x1"}
    strange = drawn.post(f"{SHOP}/query-groups/", {"queries": ["x0", "nobody"]}, format="json")
    assert (strange.status_code, list(strange.json()["error"]["fields"])) == (400, ["queries"])
    assert drawn.patch(url, {"take_out": ["x0"]}, format="json").status_code == 204
    assert drawn.get(f"{SHOP}/query-groups/").json()["count"] == 0


def test_a_need_is_drafted_finished_and_written(drawn: Any) -> None:
    tent = Query.objects.get(text="tent")
    options = {"queries": [tent.query_id]}
    assert drawn.post(f"{SHOP}/queries/drafts/", options, format="json").json() == {"drafted": 1}
    url = f"{SHOP}/queries/{tent.uuid}/"
    body = drawn.get(url).json()
    assert (body["narrative"], body["drafted_by"]) == ("", "template")
    assert drawn.patch(url, {"confirm": True}, format="json").status_code == 400
    assert drawn.patch(url, {"draft": "To sleep in outside."}, format="json").json()["drafted_by"] == "a person"
    assert drawn.patch(url, {"confirm": True}, format="json").json()["narrative"] == "To sleep in outside."
    assert drawn.patch(url, {"narrative": "a", "draft": "b"}, format="json").status_code == 400
    assert drawn.patch(url, {}, format="json").status_code == 400
