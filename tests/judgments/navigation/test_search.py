"""Tests of the search of the command palette: what it finds, and for whom."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from judgments.members.collections import create_collection
from judgments.models import Collection, Document, Query
from tests.world import SECRETS, World

pytestmark = pytest.mark.django_db
Find = Callable[..., dict[str, list[dict[str, str]]]]


@pytest.fixture
def find(client_of: Callable[[Any], Any], collection: Any) -> Find:
    """``find(user, "tent")``: the results by kind; without ``slug``, in all collections of the user."""

    def found(user: Any, text: str, slug: str = collection.slug) -> dict[str, list[dict[str, str]]]:
        response = client_of(user).get("/find/", {"format": "json", "q": text, "in": slug})
        assert response.status_code == 200
        return {group["name"]: group["hits"] for group in response.json()["groups"]}

    return found


def titles(groups: dict[str, list[dict[str, str]]], kind: str) -> list[str]:
    return [hit["title"] for hit in groups.get(kind, [])]


def add_queries(collection: Any, *texts: str) -> None:
    Query.objects.bulk_create(
        Query(collection=collection, query_id=f"n{number:03}", text=text) for number, text in enumerate(texts)
    )


def add_documents(collection: Any, *titles: str) -> None:
    Document.objects.bulk_create(
        Document(collection=collection, doc_id=f"X{number:03}", title=title, content_sha256="0")
        for number, title in enumerate(titles)
    )


def test_queries_are_found_by_id_first_words_and_words_within(collection: Any, lead: Any, find: Find) -> None:
    add_queries(collection, "Rain jacket", "rainbow", "tent for rain", "boots")
    assert titles(find(lead, "n003"), "Queries") == ["boots"]
    assert titles(find(lead, "RAIN"), "Queries") == ["Rain jacket", "rainbow", "tent for rain"]
    assert titles(find(lead, "rain j"), "Queries") == ["Rain jacket"]
    assert "Queries" not in find(lead, "snow")


def test_documents_are_found_by_id_and_title(collection: Any, engineer: Any, find: Find) -> None:
    add_documents(collection, "Down bag", "Bag for down", "")
    assert titles(find(engineer, "down"), "Documents") == ["Down bag", "Bag for down"]
    assert titles(find(engineer, "X002"), "Documents") == ["X002"]


def test_signs_of_patterns_are_ordinary_text(collection: Any, lead: Any, find: Find) -> None:
    add_queries(collection, "100% wool", "100 wool")
    assert titles(find(lead, "100%"), "Queries") == ["100% wool"]
    assert "Queries" not in find(lead, "_")


def test_each_kind_has_a_limit(collection: Any, lead: Any, find: Find) -> None:
    add_queries(collection, *(f"tent {number}" for number in range(30)))
    assert len(find(lead, "tent")["Queries"]) == 5


def test_every_result_opens(world: World, lead: Any, client_of: Callable[[Any], Any], find: Find) -> None:
    client = client_of(lead)
    words = [
        world.conflict.query.query_id,
        world.conflict.document.doc_id,
        world.runs[0].name,
        world.round.name,
        world.snapshot.name,
        world.pool.strategy,
        str(world.decision),
        world.collection.name,
        "members",
    ]
    groups = {name: hits for text in words for name, hits in find(lead, text).items()}
    assert set(groups) == {
        *("Pages", "Queries", "Documents", "Rounds", "Snapshots", "Runs", "Pools", "Decisions", "Collections")
    }
    assert [hit for hits in groups.values() for hit in hits if client.get(hit["url"]).status_code != 200] == []


def test_raters_find_only_pages_and_rounds_that_they_rate(world: World, rater: Any, find: Find) -> None:
    found = find(rater, world.round.name)
    assert [hit["url"] for hit in found["Rounds"]] == [f"/rounds/{world.round.uuid}/rate/"]
    assert "Rounds" not in find(rater, world.closed.name)
    texts = ["", *SECRETS, world.conflict.query.query_id, world.conflict.query.text, world.conflict.document.doc_id]
    texts += [world.snapshot.name, world.pool.strategy, str(world.decision), world.collection.name]
    for text in texts:
        answer = find(rater, text)
        assert set(answer) <= {"Pages", "Rounds"}
        assert not [secret for secret in SECRETS if secret in json.dumps(answer)]


def test_machine_grades_are_not_found(world: World, lead: Any, engineer: Any, find: Find) -> None:
    for user in (lead, engineer):
        for secret in ("note-of-another-rater", "reasons-of-a-machine", "raw-of-a-machine", "name-of-a-judge"):
            assert find(user, secret) == {}


def test_the_hash_of_a_snapshot_is_neither_found_nor_shown(world: World, lead: Any, find: Find) -> None:
    assert "Snapshots" not in find(lead, world.snapshot.content_sha256)
    assert world.snapshot.content_sha256[:8] not in json.dumps(find(lead, world.snapshot.name))


def test_engineers_are_not_offered_pages_of_leads(world: World, engineer: Any, lead: Any, find: Find) -> None:
    assert "Settings" in titles(find(lead, "settings"), "Pages")
    assert "Settings" not in titles(find(engineer, "settings"), "Pages")


def test_other_peoples_collections_are_not_found(
    collection: Any, outsider: Any, lead: Any, client_of: Callable[[Any], Any], find: Find
) -> None:
    other = create_collection(actor=outsider, slug="elsewhere", name="Elsewhere")
    add_queries(other, "secret query")
    assert client_of(lead).get("/find/", {"format": "json", "q": "secret", "in": "elsewhere"}).status_code == 404
    assert find(lead, "secret", slug="") == {}
    assert find(lead, "Elsewhere", slug="") == {}
    assert titles(find(outsider, "secret", slug=""), "Queries") == ["secret query"]


def test_the_search_works_without_scripts(collection: Any, lead: Any, client_of: Callable[[Any], Any]) -> None:
    add_queries(collection, "rain jacket")
    html = client_of(lead).get("/find/", {"q": "rain", "in": collection.slug}).content.decode()
    assert "rain jacket" in html
    assert f"/c/{collection.slug}/queries/" in html


@pytest.mark.parametrize("text", ["\0", "é" * 300, "a\0b", "'; --", "\\"])
def test_odd_texts_are_searched_like_any_other(collection: Any, lead: Any, find: Find, text: str) -> None:
    add_queries(collection, "a b")
    find(lead, text)


def test_first_words_are_found_by_the_index(collection: Any, lead: Any, find: Find) -> None:
    """The plan of the database names the indexes, so that a search reads no table."""
    add_queries(collection, "tent")
    with CaptureQueriesContext(connection) as captured:
        find(lead, "tent")
    searches = [query["sql"] for query in captured if "SUBSTR(" in query["sql"] and "ORDER BY" in query["sql"]]
    assert len(searches) == 2
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        plans = ""
        for sql in searches:
            cursor.execute(("EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN ") + sql)
            plans += str(cursor.fetchall())
    assert "query_by_first_words" in plans
    assert "document_by_first_words" in plans


def test_an_archived_collection_is_searched_from_its_own_pages(collection: Any, lead: Any, find: Find) -> None:
    add_queries(collection, "rain jacket")
    Collection.objects.filter(pk=collection.pk).update(archived_at=timezone.now())
    assert titles(find(lead, "rain"), "Queries") == ["rain jacket"]
