"""Connector to a full text (FTS5) table of SQLite."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from assay.connectors.connector import ConnectorKind, Engine, Hit, Setting
from assay.connectors.reply_mapping import Paths, mapping_of, mapping_settings
from assay.core.errors import NotValid
from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault

STEPS_BETWEEN_LOOKS = 10_000


@dataclass(frozen=True)
class Fts5Search:
    """A table that is searched with MATCH and ranked by bm25."""

    path: Path
    table: str
    any_word: bool
    paths: Paths
    timeout: float

    def search(self, query: str, depth: int) -> list[Hit]:
        """Run one query; see `connector.Engine`."""
        wanted = matching(query, self.any_word)
        if not wanted:
            return []
        # bm25 is negative in SQLite, lower is better; in a run, higher scores are better.
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
                raise EngineFault("timeout", f"SQLite did not finish within {self.timeout:g} seconds.") from None
            locked = "locked" in str(error)
            message = f"SQLite rejected the query: {error}."
            raise EngineFault("busy" if locked else "refused", message) from None
        except sqlite3.DatabaseError as error:
            raise EngineFault("refused", f"{self.path.name} cannot be read as a SQLite database: {error}.") from None
        return self.paths.read(rows, depth)

    def close(self) -> None:
        """Do nothing, because no connection stays open between queries."""


def matching(query: str, any_word: bool) -> str:
    """Return a query in FTS5 syntax: every word quoted, so that no word is an operator.

    Examples
    --------
    >>> matching('rain-jacket NOT "men', any_word=True)
    '"rain" OR "jacket" OR "NOT" OR "men"'
    """
    words = re.findall(r"[^\W_]+", query)
    return (" OR " if any_word else " ").join(f'"{word}"' for word in words)


def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
    """Return the engine; see `connector.ConnectorKind`."""
    if "\0" in values["table"]:
        raise NotValid("table contains a NUL character", {"table": "Remove the NUL character."})
    paths = mapping_of({**values, "hits": ""})
    return Fts5Search(allowed.file(values["path"]), values["table"], values["match"] == "any word", paths, timeout)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


SQLITE_FTS5 = ConnectorKind(
    name="sqlite-fts5",
    title="SQLite FTS5",
    description="Queries a full-text table in a database file on the server, ranked by BM25.",
    tested="a real SQLite",
    deepest=10_000,
    settings=(
        Setting("path", "File", "The full path of the database file on the server.", required=True),
        Setting("table", "Table", "The name of the FTS5 table.", required=True),
        Setting(
            "match",
            "Required words",
            "How many words of the query a document must contain.",
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
