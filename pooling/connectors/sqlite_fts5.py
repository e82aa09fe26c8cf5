"""Connector to a full text (FTS5) table of SQLite."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from judgments.core.errors import NotValid
from judgments.network.addresses import Allowed
from judgments.network.faults import EngineFault
from pooling.connectors.contract import ConnectorKind, Engine, Hit, Setting
from pooling.connectors.mapping import Paths, mapping_of, mapping_settings

STEPS_BETWEEN_LOOKS = 10_000


@dataclass(frozen=True)
class Fts5Search:
    """A table that is asked by MATCH and ranked by its bm25.

    Parameters
    ----------
    path : Path
        The database file; it is opened to be read only.
    table : str
        The FTS5 table.
    any_word : bool
        Whether one word of the query is enough.
    paths : Paths
        Which column is what.
    timeout : float
        Seconds for one query.
    """

    path: Path
    table: str
    any_word: bool
    paths: Paths
    timeout: float

    def search(self, query: str, depth: int) -> list[Hit]:
        """Ask for one query; see `contract.Engine`."""
        wanted = matching(query, self.any_word)
        if not wanted:
            return []
        # bm25 is negative in SQLite, better ones lower; a run's scores are better when higher.
        statement = f"SELECT rowid, *, -bm25({_quoted(self.table)}) AS score FROM {_quoted(self.table)} "  # noqa: S608
        statement += f"WHERE {_quoted(self.table)} MATCH ? ORDER BY bm25({_quoted(self.table)}), rowid LIMIT ?"
        try:
            with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True, timeout=self.timeout)) as database:
                database.row_factory = sqlite3.Row
                deadline = time.monotonic() + self.timeout
                database.set_progress_handler(lambda: int(time.monotonic() > deadline), STEPS_BETWEEN_LOOKS)
                rows = [dict(row) for row in database.execute(statement, (wanted, depth))]
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise EngineFault("timeout", f"SQLite was not done within {self.timeout:g} seconds.") from None
            locked = "locked" in str(error)
            said = f"SQLite does not take the query: {error}."
            raise EngineFault("busy" if locked else "refused", said) from None
        except sqlite3.DatabaseError as error:
            raise EngineFault("refused", f"{self.path.name} cannot be read as a SQLite database: {error}.") from None
        return self.paths.read(rows, depth)

    def close(self) -> None:
        """Nothing stays open between queries."""


def matching(query: str, any_word: bool) -> str:
    """Return a query as FTS5 reads it: every word quoted, so that no word is an operator.

    Examples
    --------
    >>> matching('rain-jacket NOT "men', any_word=True)
    '"rain" OR "jacket" OR "NOT" OR "men"'
    """
    words = re.findall(r"[^\W_]+", query)
    return (" OR " if any_word else " ").join(f'"{word}"' for word in words)


def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
    """Return the engine; see `contract.ConnectorKind`."""
    if "\0" in values["table"]:
        raise NotValid("table has a NUL character", {"table": "table has a NUL character"})
    paths = mapping_of({**values, "hits": ""})
    return Fts5Search(allowed.file(values["path"]), values["table"], values["match"] == "any word", paths, timeout)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


SQLITE_FTS5 = ConnectorKind(
    name="sqlite-fts5",
    title="SQLite FTS5",
    description="Asks a full text table in a database file on the server, ranked by BM25.",
    tested="a real SQLite",
    deepest=10_000,
    settings=(
        Setting("path", "File", "The whole path of the database file on the server.", required=True),
        Setting("table", "Table", "The name of the FTS5 table.", required=True),
        Setting(
            "match",
            "A document matches with",
            "How much of the query it has to have.",
            "any word",
            False,
            False,
            1,
            ("any word", "all words"),
        ),
        *(
            setting
            for setting in mapping_settings(doc_id="doc_id", score="score", title="title", text="text")
            if setting.name != "hits"
        ),
    ),
    build=build,
)
