"""Tests of the SQLite connector with a real database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.connectors import CONNECTORS, Allowed, EngineFault
from assay.connectors.fetch import Plan, fetch

KIND = CONNECTORS["sqlite-fts5"]
ROWS = [
    ("d1", "Rain jacket", "Keeps you dry in rain."),
    ("d2", "Wool hat", "Warm, not for rain."),
    ("d3", "Tent", "Sleeps two."),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fts") / "shop.db"
    with sqlite3.connect(path) as database:
        database.execute('CREATE VIRTUAL TABLE "my docs" USING fts5(doc_id UNINDEXED, title, text)')
        database.executemany('INSERT INTO "my docs" VALUES (?, ?, ?)', ROWS)
    database.close()
    return path


@pytest.fixture(scope="module")
def allowed(shop: Path) -> Allowed:
    return Allowed.of([], [], [shop.parent])


def test_hits_by_bm25(shop: Path, allowed: Allowed) -> None:
    hits = KIND.engine({"path": str(shop), "table": "my docs"}, allowed).search("rain jacket", 10)
    assert [(hit.doc_id, hit.title, hit.text) for hit in hits] == [ROWS[0], ROWS[1]]
    with sqlite3.connect(shop) as database:
        expected = database.execute(
            'SELECT -bm25("my docs") FROM "my docs" WHERE "my docs" MATCH \'rain OR jacket\' ORDER BY rank'
        ).fetchall()
    database.close()
    assert [hit.score for hit in hits] == [score for (score,) in expected]


def test_all_words_and_depth(shop: Path, allowed: Allowed) -> None:
    strict = KIND.engine({"path": str(shop), "table": "my docs", "match": "all words"}, allowed)
    assert [hit.doc_id for hit in strict.search("rain jacket", 10)] == ["d1"]
    loose = KIND.engine({"path": str(shop), "table": "my docs"}, allowed)
    assert len(loose.search("rain jacket", 1)) == 1


@settings(max_examples=50, deadline=None)
@given(query=st.text())
def test_no_query_is_read_as_an_expression(shop: Path, allowed: Allowed, query: str) -> None:
    hits = KIND.engine({"path": str(shop), "table": "my docs"}, allowed).search(query, 3)
    assert len(hits) <= 3


@pytest.mark.parametrize(
    "query", ["", "OR", "rain AND", '"', "title:rain", "NEAR(rain", "^", "*", "-", "rain*", "🙂", "\0"]
)
def test_operators_are_words(shop: Path, allowed: Allowed, query: str) -> None:
    hits = KIND.engine({"path": str(shop), "table": "my docs"}, allowed).search(query, 3)
    assert ("rain" in query) == bool(hits)


def test_many_queries_at_once(shop: Path, allowed: Allowed) -> None:
    engine = KIND.engine({"path": str(shop), "table": "my docs"}, allowed)
    answers = list(fetch(engine, [(str(number), "rain") for number in range(40)], Plan(concurrency=4)))
    assert {tuple(hit.doc_id for hit in answer.hits) for answer in answers} == {("d1", "d2")}


def test_errors_are_reported(shop: Path, allowed: Allowed, tmp_path: Path) -> None:
    for values, expected in (
        ({"table": "nothing"}, "no such table"),
        ({"table": "my docs", "doc_id": "sku"}, "no usable id at sku; it has rowid, doc_id"),
        ({"table": 'x" UNION SELECT 1; --'}, "no such table"),
    ):
        with pytest.raises(EngineFault, match=expected):
            KIND.engine({"path": str(shop), **values}, allowed).search("rain", 3)
    text = tmp_path / "text.db"
    text.write_text("not a database, but long enough to be looked at" * 50)
    with pytest.raises(EngineFault, match="cannot be read as a SQLite database"):
        KIND.engine({"path": str(text), "table": "t"}, Allowed.of([], [], [tmp_path])).search("rain", 3)


def test_a_file_outside_is_not_opened(shop: Path) -> None:
    with pytest.raises(EngineFault) as caught:
        KIND.engine({"path": str(shop), "table": "my docs"}, Allowed.of(["*"]))
    assert caught.value.name == "not-allowed"
