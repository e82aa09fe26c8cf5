"""Connector to PostgreSQL's full text search.

Only this module imports the optional library ``psycopg`` (the extra ``postgres``).
"""

from __future__ import annotations

import re
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from assay.connectors.connector import ConnectorKind, Engine, Hit, Setting
from assay.connectors.reply_mapping import Paths, mapping_of, mapping_settings
from assay.connectors.request_template import DEPTH, QUERY
from assay.connectors.transport import MOST_BYTES
from assay.core.errors import NotValid
from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault
from assay.network.masked_secrets import masked

if TYPE_CHECKING:
    from psycopg import Connection

STATEMENT = """SELECT id, title, body AS text, ts_rank_cd(search, query) AS score
FROM documents, websearch_to_tsquery('english', {query}) AS query
WHERE search @@ query
ORDER BY score DESC, id
LIMIT {depth}"""


# A row or an error message is received completely before this code sees it. The received bytes of a connection are
# therefore counted every few seconds; packets and other columns need more than the stored texts.
LOOK_EVERY = 0.02
MOST_RECEIVED = 2 * MOST_BYTES
# The position of the received bytes in Linux's struct tcp_info.
TCP_INFO, RECEIVED_AT = getattr(socket, "TCP_INFO", None), 128
# Seconds that the database gets to obey its own time limit, and then a cancellation, before the connection is closed.
GRACE = 1.0
# The predefined roles that only read.
READERS = (
    "pg_read_all_data",
    "pg_monitor",
    "pg_read_all_settings",
    "pg_read_all_stats",
    "pg_stat_scan_tables",
)
# Rights to change something, also through a role that the user is a member of (SET ROLE); the first one is reported.
# Rights granted to PUBLIC in every database also count, except temporary tables, which a read-only transaction refuses.
RIGHTS = """
WITH mine AS MATERIALIZED (
    SELECT * FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
), kept AS MATERIALIZED (
    SELECT * FROM pg_catalog.pg_namespace
    WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%%'
)
SELECT 'it is a superuser' FROM mine WHERE rolsuper
UNION ALL
SELECT 'it may create roles, databases or replicas' FROM mine WHERE rolcreaterole OR rolcreatedb OR rolreplication
UNION ALL
SELECT 'it is a member of ' || rolname FROM mine WHERE rolname LIKE 'pg\\_%%' AND rolname <> ALL (%(readers)s)
UNION ALL
SELECT 'it may create objects in the database' FROM mine
WHERE pg_catalog.has_database_privilege(mine.oid, pg_catalog.current_database(), 'CREATE')
UNION ALL
SELECT 'it may create tables in the schema ' || kept.nspname FROM kept, mine
WHERE pg_catalog.has_schema_privilege(mine.oid, kept.oid, 'CREATE')
UNION ALL
SELECT 'it may change ' || kept.nspname || '.' || class.relname
FROM pg_catalog.pg_class AS class JOIN kept ON kept.oid = class.relnamespace, mine
WHERE CASE WHEN class.relkind = 'S' THEN pg_catalog.has_sequence_privilege(mine.oid, class.oid, 'USAGE, UPDATE')
    WHEN class.relkind IN ('r', 'p', 'v', 'f') THEN
        pg_catalog.has_table_privilege(mine.oid, class.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
        OR pg_catalog.has_any_column_privilege(mine.oid, class.oid, 'INSERT, UPDATE')
    ELSE false END
UNION ALL
SELECT 'it may connect to other databases through the extension ' || extension.extname
FROM pg_catalog.pg_extension AS extension
JOIN pg_catalog.pg_depend AS part ON part.refobjid = extension.oid AND part.deptype = 'e'
    AND part.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass
JOIN pg_catalog.pg_proc AS called ON called.oid = part.objid, mine
WHERE extension.extname = 'dblink' AND pg_catalog.has_function_privilege(mine.oid, called.oid, 'EXECUTE')
    AND pg_catalog.has_schema_privilege(mine.oid, called.pronamespace, 'USAGE')
LIMIT 1
"""


class PostgresSearch:
    """A database that runs one SELECT per query, with a read-only user and transaction."""

    def __init__(self, connect: Mapping[str, Any], statement: str, paths: Paths, timeout: float) -> None:
        self._connect, self._statement, self._paths, self._timeout = dict(connect), statement, paths, timeout
        self._own = threading.local()
        self._open: list[Connection[dict[str, Any]]] = []
        self._lock = threading.Lock()

    def search(self, query: str, depth: int) -> list[Hit]:
        """Run one query; see `connector.Engine`."""
        import psycopg

        # PostgreSQL's texts cannot contain NUL.
        values = {"query": query.replace("\0", " "), "depth": depth}
        try:
            rows = self._rows(values, depth)
        except psycopg.errors.QueryCanceled:
            raise self._late() from None
        except psycopg.errors.ReadOnlySqlTransaction as error:
            raise EngineFault("refused", f"The statement must be read-only: {self._message(error)}.") from None
        except (psycopg.errors.InvalidPassword, psycopg.errors.InsufficientPrivilege) as error:
            raise EngineFault("secret", f"The database denied access: {self._message(error)}.") from None
        except psycopg.OperationalError as error:
            raise self._lost(error) from None
        except psycopg.Error as error:
            raise EngineFault("refused", f"The database rejected the statement: {self._message(error)}.") from None
        return self._paths.read(rows, depth)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()

    def _rows(self, values: Mapping[str, Any], depth: int) -> list[dict[str, Any]]:
        """Return the first rows of the statement as they arrive; the database stops after them."""
        rows: list[dict[str, Any]] = []
        size = 0
        connection = self._connection()
        with self._read_only(connection), connection.cursor() as cursor:
            stream: Any = cursor.stream(self._statement.encode(), values)
            with closing(stream):
                # One more than needed: a statement with a limit then reaches its end and need not be stopped.
                for row in islice(stream, depth + 1):
                    rows.append(_plain(row))
                    size += sum(len(value) for value in rows[-1].values() if isinstance(value, str))
                    if size > MOST_BYTES:
                        raise _too_large()
        return rows[:depth]

    @contextmanager
    def _read_only(self, connection: Connection[dict[str, Any]]) -> Iterator[None]:
        """Open a read-only transaction that is rolled back and has a time limit."""
        import psycopg

        limit = max(1, int(self._timeout * 1000))
        with Watch(connection, self._timeout + GRACE) as watch:
            try:
                connection.execute(f"BEGIN READ ONLY; SET LOCAL statement_timeout = {limit}".encode())
                yield
            except psycopg.OperationalError:
                if watch.large:
                    raise _too_large() from None
                if watch.late:
                    raise self._late() from None
                raise
            finally:
                clean = False
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                    connection.execute("SELECT pg_catalog.pg_advisory_unlock_all()")
                    clean = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
                # A late cancellation would hit the next statement.
                if watch.late or not clean:
                    connection.close()

    def _check_rights(self, connection: Connection[dict[str, Any]]) -> None:
        """Reject a user with write access, so that no query can write."""
        with self._read_only(connection):
            right = connection.execute(RIGHTS.encode(), {"readers": list(READERS)}).fetchone()
        if right is not None:
            connection.close()
            why = next(iter(right.values()))
            raise EngineFault(
                "not-allowed",
                (
                    f"This user can do more than read: {why}. Connect as a user that may only read the search tables; "
                    "docs/connectors.md shows how to create one."
                ),
            )

    def _connection(self) -> Connection[dict[str, Any]]:
        """Return the connection of this thread, opened when first needed or lost."""
        import psycopg
        from psycopg.rows import dict_row

        connection: Connection[dict[str, Any]] | None = getattr(self._own, "connection", None)
        if connection is None or connection.closed or connection.broken:
            connection = psycopg.connect(**self._connect, autocommit=True, row_factory=dict_row, prepare_threshold=None)
            with self._lock:
                self._open.append(connection)
            self._check_rights(connection)
            self._own.connection = connection
        return connection

    def _message(self, error: Exception) -> str:
        """Return the first line of the database's message, without the password."""
        line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return masked(line, self._connect["password"])[:200]

    def _late(self) -> EngineFault:
        return EngineFault("timeout", f"The database did not finish within {self._timeout:g} seconds.")

    def _lost(self, error: Exception) -> EngineFault:
        message = self._message(error)
        if "password" in message or "authentication" in message:
            return EngineFault("secret", "The database rejected this user name and password.")
        return EngineFault("unreachable", f"The database cannot be reached: {message}.")


class Watch:
    """Ends a statement when its time is over, by canceling it or by closing the connection.

    A connection that receives too much data is closed immediately.
    """

    def __init__(self, connection: Connection[dict[str, Any]], seconds: float) -> None:
        self.late = self.large = False
        self._connection, self._seconds = connection, seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watch:
        # A duplicate file number: the connection's own may be closed and reused when it is needed.
        self._line = socket.fromfd(self._connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        self._before = self._received()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._line.close()

    def _run(self) -> None:
        until = time.monotonic() + self._seconds
        while (left := until - time.monotonic()) > 0:
            if self._done.wait(min(left, LOOK_EVERY)):
                return
            if self._received() - self._before > MOST_RECEIVED:
                self.large = True
                self._cut()
                return
        self.late = True
        with suppress(Exception):
            self._connection.cancel_safe(timeout=GRACE)
        if not self._done.wait(GRACE):
            self._cut()

    def _cut(self) -> None:
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)

    def _received(self) -> int:
        """Return the bytes that the connection received so far; 0 if the system does not report them."""
        if TCP_INFO is None or not sys.platform.startswith("linux"):
            return 0
        try:
            info = self._line.getsockopt(socket.IPPROTO_TCP, TCP_INFO, RECEIVED_AT + 8)
        except OSError:
            return 0
        return int.from_bytes(info[RECEIVED_AT:], sys.byteorder)


def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
    """Return the engine; see `connector.ConnectorKind`."""
    if not values["port"].isdigit() or not 0 < int(values["port"]) < 65536:
        raise NotValid(f"port is {values['port']!r}. Enter a number such as 5432.", "port")
    port = int(values["port"])
    addresses = allowed.addresses(values["host"], port)
    connect = {
        "host": ",".join([values["host"]] * len(addresses)),
        # The checked addresses; the name is for the certificate.
        "hostaddr": ",".join(addresses),
        "port": port,
        "dbname": values["database"],
        "user": values["user"],
        "password": values["secret"],
        "sslmode": values["sslmode"],
        "connect_timeout": max(2, round(timeout)),
        # No certificates of this server: these files do not exist.
        "passfile": "/dev/null/none",
        "sslcert": "/dev/null/none",
        "application_name": "assay",
    }
    return PostgresSearch(connect, bound(values["statement"]), mapping_of({**values, "hits": ""}), timeout)


def bound(statement: str) -> str:
    """Return a statement with its placeholders as parameters, which the database never parses as SQL.

    Examples
    --------
    >>> bound("SELECT id FROM d WHERE t LIKE '%' || {query} || '%' LIMIT {depth}")
    "SELECT id FROM d WHERE t LIKE '%%' || %(query)s || '%%' LIMIT %(depth)s"
    """
    if not re.match(r"\s*(select|with)\b", statement, re.IGNORECASE):
        raise NotValid("The statement is not a SELECT.", "statement")
    if QUERY not in statement:
        raise NotValid("The query is missing. Add {query} to the statement, without quotes.", "statement")
    if re.search(r"'[^']*\{(query|depth)\}[^']*'", re.sub(r"'(?:[^'{}]|'')*'", "", statement)):
        raise NotValid("Write {query} and {depth} without quotes; join strings with ||.", "statement")
    return statement.replace("%", "%%").replace(QUERY, "%(query)s").replace(DEPTH, "%(depth)s")


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as JSON values; dates, decimals and the like as text."""
    from decimal import Decimal

    plain: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Decimal):
            value = float(value)
        plain[name] = value if isinstance(value, str | int | float | bool | list | dict | None) else str(value)
    return plain


def _too_large() -> EngineFault:
    limit = MOST_BYTES // (1024 * 1024)
    return EngineFault("too-large", f"The response has more than {limit} MB. Select fewer columns.")


POSTGRESQL = ConnectorKind(
    name="postgresql",
    title="PostgreSQL full text",
    description="Queries a database with your own SELECT, read-only.",
    tested="a real PostgreSQL",
    deepest=10_000,
    settings=(
        Setting("host", "Host", "The name or address of the database server.", required=True),
        Setting("port", "Port", "The port of the server.", "5432"),
        Setting("database", "Database", "The name of the database.", required=True),
        Setting("user", "User", "A user with read access only. Users with write access are refused.", required=True),
        Setting("secret", "Password", "Stored encrypted, never shown again.", secret=True),
        Setting(
            "sslmode",
            "Encryption",
            "The libpq sslmode.",
            "prefer",
            choices=("disable", "prefer", "require", "verify-full"),
        ),
        Setting(
            "statement", "Statement", "A SELECT with {query} and {depth}, without quotes.", STATEMENT, True, lines=8
        ),
        *(
            setting
            for setting in mapping_settings(doc_id="id", score="score", title="title", text="text")
            if setting.name != "hits"
        ),
    ),
    build=build,
)
