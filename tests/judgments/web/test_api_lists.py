"""API tests of lists: constant number of database queries, access by collection, filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judgments.members import collections as verbs
from judgments.models import Collection
from judgments.snapshots import snapshots
from pooling.pools import pools
from tests.world import World

pytestmark = pytest.mark.django_db
NOUNS = ("queries", "documents", "runs", "query-logs", "qrels", "pools", "rounds", "snapshots", "members")


def cost(client: Any, path: str) -> int:
    """The database queries of one call."""
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def more(world: World, lead: Any, store: Callable[..., Any]) -> None:
    """A second and third of everything that costs something to show."""
    for number in range(2):
        store("queries", f"query_id,query\nn{number},number {number}\n")
        store("runs", f"q1 Q0 d1 1 {number}.5 x\n", f"run{number}.run")
        store("query-logs", f"query,count\ntent,{number + 1}\n", f"log{number}.csv")
        store("qrels", f"q1 0 d{number + 2} 1\n", f"old{number}.qrels")
        pool = pools.draw_pool(world.collection, strategy="depth", runs=world.runs, seed=number, actor=lead)
        pools.make_round(pool, actor=lead, name=f"Round {number}", guidelines=world.version, raters=[lead])
        snapshots.freeze(world.collection, name=f"s{number}", rounds=[world.closed], actor=lead)


@pytest.mark.slow
def test_longer_lists_cost_no_more_queries(world: World, lead: Any, client_of: Any, store_file: Any) -> None:
    client = client_of(lead)
    paths = ["/api/v1/collections/", *(f"/api/v1/collections/shop/{noun}/" for noun in NOUNS)]
    before = {path: cost(client, path) for path in paths}
    more(world, lead, store_file)
    verbs.create_collection(actor=lead, slug="second", name="Second")
    assert {path: cost(client, path) for path in paths} == before
    assert max(before.values()) <= 12


def test_users_see_only_their_own_collections(
    world: World, lead: Any, rater: Any, outsider: Any, client_of: Any
) -> None:
    verbs.create_collection(actor=outsider, slug="elsewhere", name="Elsewhere")
    listed = {user: client_of(user).get("/api/v1/collections/").json()["results"] for user in (lead, rater, outsider)}
    assert [row["slug"] for row in listed[lead]] == ["shop"]
    assert [row["slug"] for row in listed[outsider]] == ["elsewhere"]
    assert Collection.objects.count() == 2


def test_a_rater_finds_the_rounds_that_ask_for_them(world: World, rater: Any, engineer: Any, client_of: Any) -> None:
    (row,) = client_of(rater).get("/api/v1/collections/").json()["results"]
    assert set(row) == {"id", "slug", "name", "role", "open_rounds"}
    assert row["role"] == "rater"
    assert row["open_rounds"] == [{"id": str(world.round.uuid), "name": "Open"}]
    assert client_of(engineer).get("/api/v1/collections/").json()["results"][0]["open_rounds"] == []


@pytest.mark.parametrize("value", ["%00", "%F0%9F%98%80", "'", "x" * 5000])
def test_a_filter_that_fits_nothing(world: World, lead: Any, client_of: Any, value: str) -> None:
    response = client_of(lead).get(f"/api/v1/collections/shop/documents/?doc_id={value}")
    assert (response.status_code, response.json()["count"]) == (200, 0)
