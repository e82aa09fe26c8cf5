"""Does a real PostgreSQL answer as the connector expects, and can a statement change nothing?"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from judgments.core.errors import NotValid
from pooling.connectors import CONNECTORS, Allowed, Engine, EngineFault
from pooling.connectors.postgresql import bound

KIND = CONNECTORS["postgresql"]
Opened = Callable[..., Engine]
HERE = Allowed.of(["127.0.0.1", "localhost"], ["127.0.0.0/8", "::1/128"])


@pytest.fixture(scope="module")
def place() -> dict[str, str]:
    """How the server is reached, or a skip that says what to set."""
    url = urlsplit(os.environ.get("TEST_DATABASE_URL", ""))
    if not url.hostname:
        pytest.skip("no PostgreSQL: set TEST_DATABASE_URL, for example postgres://postgres@127.0.0.1:5432/postgres")
    return {
        "host": url.hostname,
        "port": str(url.port or 5432),
        "database": url.path.lstrip("/"),
        "user": url.username or "",
        "secret": url.password or "",
    }


@pytest.fixture(scope="module")
def table(place: dict[str, str]) -> Iterator[str]:
    """A table of three documents, gone afterwards."""
    import psycopg

    name = f"assay_{uuid.uuid4().hex[:8]}"
    known = {"host": place["host"], "port": place["port"], "dbname": place["database"], "user": place["user"]}
    with psycopg.connect(**known, password=place["secret"], autocommit=True) as connection:  # type: ignore[arg-type]
        connection.execute(
            f"CREATE TABLE {name} (id text, title text, body text, price numeric, seen date,"  # type: ignore[arg-type]
            " search tsvector GENERATED ALWAYS AS (to_tsvector('english', title || ' ' || body)) STORED)"
        )
        rows = [
            ("d1", "Rain jacket", "Keeps you dry"),
            ("d2", "Hat", "Not for rain, nor a jacket"),
            ("d3", "Tent", "Two"),
        ]
        for row in rows:
            connection.execute(
                f"INSERT INTO {name} VALUES (%s, %s, %s, 9.5, '2026-01-02')",  # type: ignore[arg-type]
                row,
            )
        yield name
        connection.execute(f"DROP TABLE {name}")  # type: ignore[arg-type]


def settings(place: dict[str, str], table: str, **more: str) -> dict[str, str]:
    default = next(setting.default for setting in KIND.settings if setting.name == "statement")
    return {**place, "statement": default.replace("documents", table), **more}


def test_hits_in_the_order_of_the_statement(opened: Opened, place: dict[str, str], table: str) -> None:
    engine = opened("postgresql", settings(place, table), HERE)
    hits = engine.search("rain jacket", 10)
    assert [hit.doc_id for hit in hits] == ["d1", "d2"]
    assert (hits[0].title, hits[0].text) == ("Rain jacket", "Keeps you dry")
    assert hits[0].score is not None
    assert hits[0].score > (hits[1].score or 0)


def test_depth_and_other_columns(opened: Opened, place: dict[str, str], table: str) -> None:
    statement = f"SELECT id, price, seen FROM {table} WHERE body LIKE '%' || {{query}} || '%' ORDER BY id"
    engine = opened("postgresql", settings(place, table, statement=statement, fields="price, seen", score=""), HERE)
    hits = engine.search("", 2)
    assert [(hit.doc_id, hit.score, hit.fields) for hit in hits] == [
        ("d1", None, {"price": 9.5, "seen": "2026-01-02"}),
        ("d2", None, {"price": 9.5, "seen": "2026-01-02"}),
    ]


@pytest.mark.parametrize("query", ["'; DROP TABLE x; --", "100% {depth}", "a\0b", "\\", '"', "%(query)s"])
def test_no_query_is_read_as_sql(opened: Opened, place: dict[str, str], table: str, query: str) -> None:
    engine = opened("postgresql", settings(place, table), HERE)
    assert engine.search(query, 5) == []
    assert len(engine.search("rain", 5)) == 2


def fault_of(opened: Opened, values: dict[str, str], query: str = "rain", timeout: float = 5.0) -> EngineFault:
    with pytest.raises(EngineFault) as caught:
        opened("postgresql", values, HERE, timeout).search(query, 5)
    return caught.value


def test_a_statement_changes_nothing(opened: Opened, place: dict[str, str], table: str) -> None:
    statement = f"WITH gone AS (DELETE FROM {table} RETURNING id) SELECT id FROM gone WHERE {{query}} <> ''"
    assert "read-only transaction" in str(fault_of(opened, settings(place, table, statement=statement)))
    assert len(opened("postgresql", settings(place, table), HERE).search("rain", 5)) == 2


def test_a_slow_statement(opened: Opened, place: dict[str, str], table: str) -> None:
    fault = fault_of(opened, settings(place, table, statement="SELECT {query}::text AS id, pg_sleep(5)"), timeout=0.3)
    assert fault.name == "timeout"


def test_what_goes_wrong_is_told(opened: Opened, place: dict[str, str], table: str) -> None:
    wrong = fault_of(opened, settings(place, table, statement="SELECT nothing FROM nowhere WHERE {query} <> ''"))
    assert (wrong.name, 'relation "nowhere" does not exist' in str(wrong)) == ("refused", True)
    assert fault_of(opened, settings(place, table, doc_id="sku")).name == "reply"
    assert fault_of(opened, settings(place, table, port="9")).name == "unreachable"
    assert fault_of(opened, settings(place, table, database="no_such_database")).name == "unreachable"


def test_only_hosts_that_are_allowed(opened: Opened, place: dict[str, str], table: str) -> None:
    with pytest.raises(EngineFault) as caught:
        opened("postgresql", settings(place, table), Allowed.of(["127.0.0.1"]))
    assert caught.value.name == "not-allowed"
    with pytest.raises(EngineFault):
        opened("postgresql", settings(place, table, host="/var/run/postgresql"), Allowed.of(["*"]))


@pytest.mark.parametrize(
    "statement", ["DELETE FROM d", "SELECT 1", "SELECT id FROM d WHERE t = '{query}'", "UPDATE d SET t = {query}", ""]
)
def test_statements_that_are_refused(statement: str) -> None:
    with pytest.raises(NotValid):
        bound(statement)


@pytest.mark.parametrize("port", ["x", "0", "70000", "-1"])
def test_ports_that_are_none(opened: Opened, port: str) -> None:
    given: dict[str, Any] = {"host": "127.0.0.1", "port": port, "database": "d", "user": "u"}
    with pytest.raises(NotValid):
        opened("postgresql", given, HERE)
