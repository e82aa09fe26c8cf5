"""What does PostgreSQL's full text search answer to a query?

The optional library ``psycopg`` (the extra ``postgres``) is imported here alone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judgments.core.errors import NotValid
from judgments.network.addresses import Allowed
from judgments.network.faults import EngineFault
from pooling.connectors.contract import ConnectorKind, Engine, Hit, Setting
from pooling.connectors.mapping import Paths, mapping_of, mapping_settings
from pooling.connectors.template import DEPTH, QUERY

if TYPE_CHECKING:
    from psycopg import Connection

STATEMENT = """SELECT id, title, body AS text, ts_rank_cd(search, query) AS score
FROM documents, websearch_to_tsquery('english', {query}) AS query
WHERE search @@ query
ORDER BY score DESC, id
LIMIT {depth}"""


class PostgresSearch:
    """A database that is asked by one SELECT for each query, in a transaction that can change nothing."""

    def __init__(self, connect: Mapping[str, Any], statement: str, paths: Paths, timeout: float) -> None:
        self._connect, self._statement, self._paths, self._timeout = dict(connect), statement, paths, timeout
        self._own = threading.local()
        self._open: list[Connection[dict[str, Any]]] = []
        self._lock = threading.Lock()

    def search(self, query: str, depth: int) -> list[Hit]:
        """Ask for one query; see `contract.Engine`."""
        import psycopg

        # PostgreSQL's texts have no NUL.
        values = {"query": query.replace("\0", " "), "depth": depth}
        try:
            with self._connection().transaction(), self._connection().cursor() as cursor:
                rows = cursor.execute(self._statement.encode(), values).fetchmany(depth)
        except psycopg.errors.QueryCanceled:
            raise EngineFault("timeout", f"The database was not done within {self._timeout:g} seconds.") from None
        except (psycopg.errors.InvalidPassword, psycopg.errors.InsufficientPrivilege) as error:
            raise EngineFault("secret", f"The database refuses: {_first_line(error)}.") from None
        except psycopg.OperationalError as error:
            raise self._lost(error) from None
        except psycopg.Error as error:
            raise EngineFault("refused", f"The database does not take the statement: {_first_line(error)}.") from None
        return self._paths.read([_plain(row) for row in rows], depth)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()

    def _connection(self) -> Connection[dict[str, Any]]:
        """The connection of this thread, made when it is first needed or was lost."""
        import psycopg
        from psycopg.rows import dict_row

        found: Connection[dict[str, Any]] | None = getattr(self._own, "connection", None)
        if found is None or found.closed or found.broken:
            found = psycopg.connect(**self._connect, autocommit=True, row_factory=dict_row)
            self._own.connection = found
            with self._lock:
                self._open.append(found)
        return found

    def _lost(self, error: Exception) -> EngineFault:
        said = _first_line(error)
        if "password" in said or "authentication" in said:
            return EngineFault("secret", "The database does not take this name and password.")
        return EngineFault("unreachable", f"The database cannot be asked: {said}.")


def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
    """Return the engine; see `contract.ConnectorKind`."""
    if not values["port"].isdigit() or not 0 < int(values["port"]) < 65536:
        raise _wrong("port", f"port is {values['port']!r}; it is a number such as 5432")
    port = int(values["port"])
    addresses = allowed.addresses(values["host"], port)
    connect = {
        "host": ",".join([values["host"]] * len(addresses)),
        # The addresses that were checked; the name is for the certificate.
        "hostaddr": ",".join(addresses),
        "port": port,
        "dbname": values["database"],
        "user": values["user"],
        "password": values["secret"],
        "sslmode": values["sslmode"],
        "connect_timeout": max(2, round(timeout)),
        "options": f"-c default_transaction_read_only=on -c statement_timeout={max(1, int(timeout * 1000))}",
        # Nothing of the server's own goes along: these files cannot be.
        "passfile": "/dev/null/none",
        "sslcert": "/dev/null/none",
        "application_name": "assay",
    }
    return PostgresSearch(connect, bound(values["statement"]), mapping_of({**values, "hits": ""}), timeout)


def bound(statement: str) -> str:
    """Return a statement with its placeholders as parameters, which the database never reads as SQL.

    Raises
    ------
    NotValid
        When it is no SELECT, or the query stands nowhere or inside of quotes.

    Examples
    --------
    >>> bound("SELECT id FROM d WHERE t LIKE '%' || {query} || '%' LIMIT {depth}")
    "SELECT id FROM d WHERE t LIKE '%%' || %(query)s || '%%' LIMIT %(depth)s"
    """
    if not re.match(r"\s*(select|with)\b", statement, re.IGNORECASE):
        raise _wrong("statement", "the statement is no SELECT")
    if QUERY not in statement:
        raise _wrong("statement", "the query stands nowhere: write {query} where it belongs, without quotes")
    if re.search(r"'[^']*\{(query|depth)\}[^']*'", re.sub(r"'(?:[^'{}]|'')*'", "", statement)):
        raise _wrong("statement", "write {query} and {depth} without quotes; put texts together with ||")
    return statement.replace("%", "%%").replace(QUERY, "%(query)s").replace(DEPTH, "%(depth)s")


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as JSON would have it; dates, decimals and the like as they read."""
    from decimal import Decimal

    plain: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Decimal):
            value = float(value)
        plain[name] = value if isinstance(value, str | int | float | bool | list | dict | None) else str(value)
    return plain


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _wrong(setting: str, message: str) -> NotValid:
    return NotValid(message, {setting: message})


POSTGRESQL = ConnectorKind(
    name="postgresql",
    title="PostgreSQL full text",
    description="Asks a database by a SELECT of your own, read only.",
    tested="a real PostgreSQL",
    deepest=10_000,
    settings=(
        Setting("host", "Host", "The name or address of the database server.", required=True),
        Setting("port", "Port", "Its port.", "5432"),
        Setting("database", "Database", "The name of the database.", required=True),
        Setting("user", "User", "A user that may read the tables, best nothing else.", required=True),
        Setting("secret", "Password", "Kept encrypted, never shown again.", secret=True),
        Setting(
            "sslmode",
            "Encryption",
            "As libpq means it.",
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
