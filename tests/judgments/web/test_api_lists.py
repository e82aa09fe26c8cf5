"""API tests of lists: constant number of database queries, access by collection, filters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from judgments.members import collections as verbs
from judgments.members import recorded_changes
from judgments.models import Collection
from judgments.snapshots import snapshots
from judgments.web.api_lists import ordered
from pooling.pools import pools
from tests.addresses import api_calls
from tests.test_access_matrix import address
from tests.world import World

pytestmark = pytest.mark.django_db
NOUNS = ("queries", "documents", "runs", "query-logs", "qrels", "pools", "rounds", "snapshots", "members")


ROOT = Path(__file__).resolve().parents[3]
SCHEMA, DOCS = ROOT / "config" / "openapi.json", ROOT / "docs" / "api.md"
CALLS = {path: calls["get"] for path, calls in json.loads(SCHEMA.read_text())["paths"].items() if "get" in calls}
TYPED = r"<\w+:(\w+)>"
LISTS = sorted(path for path, call in CALLS.items() if any(one["name"] == "page" for one in call.get("parameters", [])))


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


def parameters(path: str) -> dict[str, Any]:
    """The query parameters of the GET of a path, as the OpenAPI document shows them."""
    return {one["name"]: one["schema"] for one in CALLS[path].get("parameters", []) if one["in"] == "query"}


def address_of(path: str, world: World) -> str:
    (route,) = [
        route for method, route in api_calls() if method == "GET" and re.sub(TYPED, r"{\1}", f"/{route}") == path
    ]
    return address(route, world)


def test_the_docs_show_each_list() -> None:
    rows = re.findall(
        r"^\| `([^`]+)` \| (.+) \| (.+) \|$", DOCS.read_text(encoding="utf-8").partition("### Lists")[2], re.M
    )
    shown = {path: {*re.findall("`(.+?)`", filters), *re.findall("`(.+?)`", order)} for path, filters, order in rows}
    for path in LISTS:
        known = parameters(path)
        names = {*known, *ordering_of(known)} - {"page", "page_size", "ordering"}
        assert shown.get(re.sub("{[a-z_]+}", "<id>", path).replace("/api/v1/", "")) == names, path


def ordering_of(known: dict[str, Any]) -> list[str]:
    """The fields that a list can be ordered by."""
    return known["ordering"]["pattern"].partition("(")[2].partition(")")[0].split("|")


def test_every_list_takes_a_page_and_an_order() -> None:
    assert len(LISTS) > 40
    without = [path for path in LISTS if not {"page", "page_size", "ordering"} <= parameters(path).keys()]
    assert without == []


@pytest.mark.slow
@pytest.mark.parametrize("path", LISTS)
def test_every_list_takes_what_it_declares(path: str, world: World, lead: Any, rater2: Any, client_of: Any) -> None:
    client, place = client_of(rater2 if path.endswith("/settled/") else lead), address_of(path, world)
    known = parameters(path)
    asked = [f"ordering={sign}{name}" for name in ordering_of(known) for sign in ("", "-")] + ["page=1&page_size=1"]
    assert {query: client.get(f"{place}?{query}").status_code for query in asked} == dict.fromkeys(asked, 200)
    refused = client.get(f"{place}?ordering=nothing&page=1")
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["ordering"])
    name = ordering_of(known)[0]
    assert client.get(f"{place}?ordering={name},-{name}").status_code == 400
    strange = client.get(f"{place}?nothing=1")
    assert (strange.status_code, list(strange.json()["error"]["fields"])) == (400, ["nothing"])
    for name, schema in known.items():
        if "enum" in schema or schema["type"] == "boolean":
            assert client.get(f"{place}?{name}=nothing").status_code == 400, name


@pytest.mark.parametrize(
    ("ordering", "names"), [("name", ["bm25", "neural"]), ("-name", ["neural", "bm25"]), ("-created_at,name", None)]
)
def test_a_list_is_ordered(world: World, lead: Any, client_of: Any, ordering: str, names: list[str] | None) -> None:
    rows = client_of(lead).get(f"/api/v1/collections/shop/runs/?ordering={ordering}").json()["results"]
    assert [row["name"] for row in rows] == (names or ["neural", "bm25"])


@pytest.mark.parametrize(("size", "status", "rows"), [("2", 200, 2), ("9999", 200, 5), ("0", 400, 0), ("x", 400, 0)])
def test_the_size_of_a_page(world: World, lead: Any, client_of: Any, size: str, status: int, rows: int) -> None:
    response = client_of(lead).get(f"/api/v1/collections/shop/documents/?page_size={size}")
    assert response.status_code == status
    assert len(response.json().get("results", [])) == rows


def test_a_short_list_is_an_array_with_pages(world: World, lead: Any, client_of: Any) -> None:
    for note in ("one", "two"):
        recorded_changes.declare(world.collection, kind="schema", note=note, actor=lead)
    client, path = client_of(lead), "/api/v1/collections/shop/declarations/"
    whole = client.get(path).json()
    first = client.get(f"{path}?page_size=2")
    assert first.json() == whole[:2]
    assert (first["Total-Count"], len(whole)) == ("3", 3)
    assert client.get(re.findall('<(.+)>; rel="next"', first["Link"])[0]).json() == whole[2:]
    assert "Link" not in client.get(path).headers


def test_rows_without_a_value_come_last() -> None:
    rows = [{"score": None}, {"score": 1}, {"score": 2}]
    assert [row["score"] for row in ordered(rows, [("score", True)])] == [2, 1, None]
    assert [row["score"] for row in ordered(rows, [("score", False)])] == [1, 2, None]
