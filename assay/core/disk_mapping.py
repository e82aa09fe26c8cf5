"""A mapping on disk for lookups too large for memory, such as millions of answers or judged pairs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, MutableMapping
from typing import Any

# Kibibytes of the file that SQLite caches in memory.
CACHE = 4_096


class DiskMapping(MutableMapping[str, Any]):
    """Mapping of strings to JSON values, in a temporary file that is deleted when the process ends.

    Examples
    --------
    >>> outcomes = DiskMapping()
    >>> outcomes["q1"] = [1, "graded"]
    >>> outcomes["q1"], "q2" in outcomes, len(outcomes)
    ([1, 'graded'], False, 1)
    """

    def __init__(self) -> None:
        # An empty name is a temporary file of SQLite. Several threads write, one at a time.
        self._table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._table.execute(f"PRAGMA cache_size = -{CACHE}")
        self._table.execute("PRAGMA journal_mode = OFF")
        self._table.execute("CREATE TABLE kept (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        self._number = 0

    def __getitem__(self, key: str) -> Any:
        row = self._table.execute("SELECT value FROM kept WHERE key = ?", (_storable(key),)).fetchone()
        if row is None:
            raise KeyError(key)
        return json.loads(row[0])

    def __setitem__(self, key: str, value: Any) -> None:
        self._number += key not in self
        self._table.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (_storable(key), json.dumps(value)))

    def __delitem__(self, key: str) -> None:
        if not self._table.execute("DELETE FROM kept WHERE key = ?", (_storable(key),)).rowcount:
            raise KeyError(key)
        self._number -= 1

    def __contains__(self, key: object) -> bool:
        cursor = self._table.execute("SELECT 1 FROM kept WHERE key = ?", (_storable(str(key)),))
        return cursor.fetchone() is not None

    def __iter__(self) -> Iterator[str]:
        return (key for (key,) in self._table.execute("SELECT key FROM kept"))

    def __len__(self) -> int:
        return self._number


def pair_key(query_id: str, doc_id: str) -> str:
    """Return the key of a pair; ids never contain a line feed.

    Examples
    --------
    >>> pair_key("q1", "d1")
    'q1\\nd1'
    """
    return f"{query_id}\n{doc_id}"


def _storable(key: str) -> str:
    return key.encode("utf-8", "backslashreplace").decode()
