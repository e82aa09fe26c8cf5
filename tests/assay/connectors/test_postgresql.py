"""Tests of the PostgreSQL connector with a real server: results, and statements that change nothing."""

from __future__ import annotations

import os
import sys
import tracemalloc
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from assay.connectors import CONNECTORS, Allowed, Engine, EngineFault
from assay.connectors.postgresql import bound
from assay.core.errors import NotValid

KIND = CONNECTORS["postgresql"]
Opened = Callable[..., Engine]
HERE = Allowed.of(["127.0.0.1", "localhost"], ["127.0.0.0/8", "::1/128"])


def run(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements as the server's owner; answers the rows of the last one."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def owner() -> Iterator[str]:
    """A database of this module as its owner reaches it, or a skip that says what to set."""
    url = os.environ.get("TEST_DATABASE_URL", "")
    if not urlsplit(url).hostname:
        pytest.skip("no PostgreSQL: set TEST_DATABASE_URL, for example postgres://postgres@127.0.0.1:5432/postgres")
    name = f"assay_{uuid.uuid4().hex[:8]}"
    run(url, f"CREATE DATABASE {name}")
    own = urlsplit(url)._replace(path=f"/{name}").geturl()
    run(own, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    yield own
    run(url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def place(owner: str) -> Iterator[dict[str, str]]:
    """How a user that may only read reaches the database."""
    url, role = urlsplit(owner), f"assay_reader_{uuid.uuid4().hex[:8]}"
    run(owner, f"CREATE ROLE {role} LOGIN PASSWORD 'word'")
    run(owner, f"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {role}")
    yield {
        "host": url.hostname or "",
        "port": str(url.port or 5432),
        "database": url.path.lstrip("/"),
        "user": role,
        "secret": "word",
    }
    run(owner, f"DROP OWNED BY {role}", f"DROP ROLE {role}")


@pytest.fixture(scope="module")
def table(owner: str, place: dict[str, str]) -> str:
    """A table of three documents, and functions that would change it."""
    rows = "('d1', 'Rain jacket', 'Keeps you dry'), ('d2', 'Hat', 'Not for rain, nor a jacket'), ('d3', 'Tent', 'Two')"
    run(
        owner,
        "CREATE TABLE shop (id text, title text, body text, price numeric DEFAULT 9.5, seen date DEFAULT '2026-01-02',"
        " search tsvector GENERATED ALWAYS AS (to_tsvector('english', title || ' ' || body)) STORED)",
        f"INSERT INTO shop VALUES {rows}",
        "CREATE SEQUENCE numbers",
        *(
            f"CREATE FUNCTION {name}() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN {body}; END $$"
            for name, body in {
                "deletes": "DELETE FROM shop; RETURN 'done'",
                "counts_on": "RETURN nextval('numbers')",
                "commits": "COMMIT; RETURN 'done'",
                "stores": "CREATE TEMP TABLE mine (id text); RETURN 'done'",
                "opens": "SET LOCAL transaction_read_only = off; DELETE FROM shop; RETURN 'done'",
                "raises": "SET LOCAL ROLE NONE; PERFORM set_config('transaction_read_only', 'off', true);"
                " DELETE FROM shop; RETURN 'done'",
            }.items()
        ),
    )
    return "shop"


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


def fault_of(
    opened: Opened, values: dict[str, str], query: str = "rain", timeout: float = 5.0, depth: int = 5
) -> EngineFault:
    with pytest.raises(EngineFault) as caught:
        opened("postgresql", values, HERE, timeout).search(query, depth)
    return caught.value


OFF = "set_config('{}', '{}', {})"
WRITING = (
    "WITH gone AS (DELETE FROM shop RETURNING id) SELECT id FROM gone WHERE {query} <> ''",
    "WITH new AS (INSERT INTO shop (id) VALUES ({query}) RETURNING id) SELECT id FROM new",
    "SELECT id INTO copied FROM shop WHERE {query} <> ''",
    "SELECT id FROM shop WHERE {query} <> '' FOR UPDATE",
    *(
        f"SELECT {name}() AS id WHERE {{query}} <> ''"
        for name in ("deletes", "counts_on", "commits", "stores", "opens", "raises")
    ),
    f"SELECT {OFF.format('transaction_read_only', 'off', 'false')} AS id WHERE {{query}} <> ''",
    f"SELECT {OFF.format('transaction_read_only', 'off', 'true')} || deletes() AS id WHERE {{query}} <> ''",
    "SELECT set_config('role', 'postgres', false) || deletes() AS id WHERE {query} <> ''",
    "SELECT setval('numbers', 7) || {query} AS id",
    "SELECT id FROM shop WHERE {query} <> ''; COMMIT; DELETE FROM shop",
    "SELECT id FROM shop WHERE {query} <> ''; DO $$ BEGIN DELETE FROM shop; END $$",
    "SELECT 'x' || {query} AS id; ROLLBACK; BEGIN READ WRITE; DELETE FROM shop; COMMIT",
    "SELECT pg_read_file('/etc/passwd') || {query} AS id",
    "SELECT pg_ls_dir('/') || {query} AS id",
    "SELECT lo_export(lo_from_bytea(0, 'x'), '/tmp/assay') || {query} AS id",
    "WITH x AS (SELECT {query}::text) CALL commits()",
)


@pytest.mark.parametrize("statement", WRITING)
def test_a_statement_changes_nothing(
    opened: Opened, owner: str, place: dict[str, str], table: str, statement: str
) -> None:
    fault_of(opened, settings(place, table, statement=statement))
    assert run(owner, "SELECT count(*), (SELECT last_value FROM numbers) FROM shop") == [(3, 1)]
    assert run(owner, "SELECT relname FROM pg_class WHERE relname IN ('copied', 'mine')") == []


def test_no_setting_outlives_its_query(opened: Opened, owner: str, place: dict[str, str], table: str) -> None:
    """What one query changes for the session, the next one does not find."""
    names = ("default_transaction_read_only", "statement_timeout", "search_path", "application_name")
    summary = " || ' ' || ".join(f"current_setting('{name}')" for name in names)
    change = "CASE WHEN {query} = 'change' THEN " + " || ".join(
        OFF.format(name, value, "false") for name, value in zip(names, ("off", "0", "pg_temp", "changed"), strict=True)
    )
    engine = opened("postgresql", settings(place, table, statement=f"SELECT {change} ELSE {summary} END AS id"), HERE)
    before = engine.search("", 5)
    assert [hit.doc_id for hit in engine.search("change", 5)] == ["off0pg_tempchanged"]
    assert engine.search("", 5) == before
    assert before[0].doc_id.split()[1] == "5s"


def test_no_lock_outlives_its_query(opened: Opened, owner: str, place: dict[str, str], table: str) -> None:
    """A lock of the session would block the other programs of the database for as long as the connection lives."""
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711"
    for lock in ("pg_advisory_lock(4711)", "pg_advisory_lock_shared(4711)", "pg_try_advisory_lock(4711)"):
        engine = opened("postgresql", settings(place, table, statement=f"SELECT {lock}, {{query}}::text AS id"), HERE)
        assert len(engine.search("rain", 5)) == 1
        assert run(owner, held) == [(0,)], lock
        wrong = f"SELECT 1 / (length({{query}}) - 4 + 0 * length({lock}::text)) AS id"
        assert fault_of(opened, settings(place, table, statement=wrong)).name == "refused"
        assert run(owner, held) == [(0,)], lock


LARGE = 100_000_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says what a connection has received")
@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT {{query}}::text AS id, repeat('x', {LARGE}) AS text",
        f"SELECT {{query}}::text AS id, (repeat('x', {LARGE}) || length({{query}}))::int AS price",
        f"SELECT {{query}}::text AS id, convert_to(repeat('x', {LARGE}), 'UTF8') AS price",
    ],
)
def test_one_row_or_message_does_not_fill_the_memory(
    opened: Opened, place: dict[str, str], table: str, statement: str
) -> None:
    engine = opened("postgresql", settings(place, table, statement=statement), HERE, 30)
    tracemalloc.start()
    with pytest.raises(EngineFault) as caught:
        engine.search("rain", 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # What libpq itself holds is not traced, but it hands over a row or a message only when it has it whole.
    assert (caught.value.name, peak < LARGE) == ("too-large", True)


RIGHTS = (
    "ALTER ROLE {role} SUPERUSER",
    "ALTER ROLE {role} CREATEROLE",
    "ALTER ROLE {role} CREATEDB",
    "ALTER ROLE {role} REPLICATION",
    "GRANT pg_write_all_data TO {role}",
    "GRANT pg_execute_server_program TO {role}",
    "GRANT pg_signal_backend TO {role}",
    "GRANT CREATE ON SCHEMA public TO {role}",
    "GRANT CREATE ON DATABASE {database} TO {role}",
    "GRANT DELETE ON shop TO {role}",
    "GRANT TRUNCATE ON shop TO {role}",
    "GRANT UPDATE (title) ON shop TO {role}",
    "GRANT INSERT ON shop TO PUBLIC",
    "GRANT USAGE ON SEQUENCE numbers TO {role}",
    "CREATE ROLE {role}_w; GRANT UPDATE ON shop TO {role}_w; ALTER ROLE {role} NOINHERIT; GRANT {role}_w TO {role}",
    "ALTER DATABASE {database} OWNER TO {role}",
    "CREATE EXTENSION dblink",
)
TAKEN = (
    "ALTER ROLE {role} NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION INHERIT",
    "REVOKE pg_write_all_data, pg_execute_server_program, pg_signal_backend FROM {role}",
    "ALTER DATABASE {database} OWNER TO CURRENT_USER",
    "REVOKE ALL ON shop FROM {role}, PUBLIC",
    "REVOKE ALL ON SEQUENCE numbers FROM {role}",
    "REVOKE CREATE ON SCHEMA public FROM {role}",
    "REVOKE ALL ON DATABASE {database} FROM {role}",
    "GRANT SELECT ON shop TO {role}",
    "DROP EXTENSION IF EXISTS dblink",
)


@pytest.mark.parametrize("grant", RIGHTS)
def test_a_user_who_may_write_is_refused(
    opened: Opened, owner: str, place: dict[str, str], table: str, grant: str
) -> None:
    names = {"role": place["user"], "database": place["database"]}
    if "dblink" in grant and not run(owner, "SELECT 1 FROM pg_available_extensions WHERE name = 'dblink'"):
        pytest.skip("this server has no dblink")
    try:
        run(owner, *(part.format(**names) for part in grant.split("; ")))
        assert fault_of(opened, settings(place, table)).name == "not-allowed"
    finally:
        run(owner, *(part.format(**names) for part in TAKEN))
        if "_w" in grant and run(owner, f"SELECT 1 FROM pg_roles WHERE rolname = '{names['role']}_w'"):
            run(owner, f"DROP OWNED BY {names['role']}_w", f"DROP ROLE {names['role']}_w")
    assert len(opened("postgresql", settings(place, table), HERE).search("rain", 5)) == 2


def test_a_user_with_full_read_access_is_accepted(
    opened: Opened, owner: str, place: dict[str, str], table: str
) -> None:
    run(owner, f"GRANT pg_read_all_data TO {place['user']}")
    assert len(opened("postgresql", settings(place, table), HERE).search("rain", 5)) == 2
    run(owner, f"REVOKE pg_read_all_data FROM {place['user']}")


def test_a_slow_statement(opened: Opened, place: dict[str, str], table: str) -> None:
    fault = fault_of(opened, settings(place, table, statement="SELECT {query}::text AS id, pg_sleep(5)"), timeout=0.3)
    assert fault.name == "timeout"


def test_a_statement_that_lifts_its_time_limit(opened: Opened, owner: str, place: dict[str, str], table: str) -> None:
    """A function that swallows the cancellation of the database's own limit is cancelled again, and then cut off."""
    run(
        owner,
        "CREATE OR REPLACE FUNCTION stays() RETURNS text LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM set_config('statement_timeout', '0', false);"
        " FOR i IN 1..60 LOOP BEGIN PERFORM pg_sleep(1); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;"
        " RETURN 'done'; END $$",
    )
    statement = "SELECT CASE WHEN {query} = 'stay' THEN stays() ELSE 'here' END AS id"
    engine = opened("postgresql", settings(place, table, statement=statement), HERE, 0.2)
    with pytest.raises(EngineFault) as caught:
        engine.search("stay", 5)
    assert caught.value.name == "timeout"
    assert [hit.doc_id for hit in engine.search("", 5)] == ["here"]


def test_rows_are_read_as_far_as_they_are_needed(opened: Opened, place: dict[str, str], table: str) -> None:
    endless = "SELECT 'd' || {query} || generate_series(1, 2000000000) AS id"
    engine = opened("postgresql", settings(place, table, statement=endless), HERE)
    assert [hit.doc_id for hit in engine.search("", 3)] == ["d1", "d2", "d3"]
    assert [hit.doc_id for hit in engine.search("x", 1)] == ["dx1"]
    large = "SELECT n || {query} AS id, repeat('x', 1000000) AS text FROM generate_series(1, 100) AS n"
    assert fault_of(opened, settings(place, table, statement=large, text="text"), "", 30, 100).name == "too-large"


def test_errors_are_reported(opened: Opened, place: dict[str, str], table: str) -> None:
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
