"""Counts of a click log: impressions and clicks by query, document and rank.

A log may be larger than memory: its rows go into a database in a temporary file, which counts them and is deleted
afterward. The database never holds a client's name or anything in a query that could identify a person.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from assay.core.redaction import redact
from assay.formats.row_types import ClickRow
from assay.sampling.row_counting import normalize

if TYPE_CHECKING:
    from assay.clicks.click_model import Ints

BATCH = 50_000
NO_QUERY = -1
NO_POSITION = -1

_SETUP = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA temp_store = FILE;
CREATE TABLE seen (search INT, query INT, doc INT, position INT, client INT, shown INT, listed INT, clicked INT);
CREATE TABLE cell (query INT, doc INT, position INT, client INT, shown INT, clicked INT);
CREATE TABLE robot (client INTEGER PRIMARY KEY);
"""
# Within one search a document is shown once and clicked on once. Returned documents count as shown where the log has no
# impressions; a clicked document was shown.
_SEARCHES = """
CREATE TABLE search AS
    SELECT search, max(query) AS query, max(shown) AS shown, max(client) AS client FROM seen
    WHERE search IS NOT NULL GROUP BY search;
CREATE TABLE result AS
    SELECT seen.search, CASE seen.query WHEN -1 THEN search.query ELSE seen.query END AS query, doc,
        min(CASE WHEN position = -1 THEN NULL WHEN listed THEN position ELSE position + {shift} END) AS position,
        max(search.client) AS client,
        max(CASE search.shown WHEN 0 THEN listed ELSE seen.shown END) AS shown, max(clicked) AS clicked
    FROM seen JOIN search ON search.search = seen.search WHERE doc IS NOT NULL GROUP BY seen.search, 2, doc;
INSERT INTO cell SELECT query, doc, ifnull(position, -1), client, 1, clicked FROM result
    WHERE query <> -1 AND (shown OR clicked);
INSERT INTO cell SELECT query, doc, CASE position WHEN -1 THEN -1 ELSE position + {shift} END, client, shown, clicked
    FROM seen WHERE search IS NULL;
"""


@dataclass(frozen=True, slots=True)
class Robots:
    """Limits that recognize robots; their searches are left out."""

    most_impressions: int = 5_000
    most_clicked: float = 0.8
    least_impressions: int = 50

    def reason(self, impressions: int, clicks: int) -> str:
        """Return why a client is left out; empty for other clients."""
        if impressions > self.most_impressions:
            return "too many impressions"
        if impressions >= self.least_impressions and clicks > self.most_clicked * impressions:
            return "too many clicks"
        return ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A click log, counted."""

    queries: list[tuple[str, str]]
    typed: list[str]
    documents: list[str]
    query: Ints
    document: Ints
    rank: Ints
    impressions: Ints
    clicks: Ints
    first_position: int | None = None
    clients: int = 0
    anonymous: int = 0
    robots: dict[str, int] = field(default_factory=dict)
    robot_impressions: int = 0
    unshown: int = 0
    without_query: int = 0
    redacted: dict[str, int] = field(default_factory=dict)


def count_clicks(rows: Iterable[ClickRow], robots: Robots | None = None) -> Evidence:
    """Count the rows of a click log."""

    with closing(sqlite3.connect("")) as table:
        table.isolation_level = None
        table.executescript(_SETUP)
        names = _Names()
        waiting = iter(_numbers(rows, names))
        while some := list(islice(waiting, BATCH)):
            table.execute("BEGIN")
            table.executemany("INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?)", some)
            table.execute("COMMIT")
        # Ranks start at 1, whatever the log's first position is. Returned documents are numbered here.
        first = _one(table, "SELECT min(position) FROM seen WHERE position <> -1 AND NOT listed")
        table.executescript(_SEARCHES.format(shift=int(first == 0)))
        return _counted(table, names, robots or Robots(), first)


class _Names:
    """The distinct texts, numbered in order of appearance; clients and searches are stored only as keyed hashes."""

    def __init__(self) -> None:
        self.queries: dict[tuple[str, str], int] = {}
        self.typed: list[str] = []
        self.documents: dict[str, int] = {}
        self.redacted: Counter[str] = Counter()
        self._places: dict[tuple[str, str], int] = {}
        self._key = os.urandom(16)

    def query(self, query_id: str, text: str) -> int:
        known = self._places.get((query_id, "" if query_id else text))
        if known is not None:
            return known
        shown, kinds = redact(text)
        name = (query_id, "" if query_id else normalize(shown))
        place = self.queries.setdefault(name, len(self.queries)) if query_id or name[1] else NO_QUERY
        if place == len(self.typed):
            self.typed.append(" ".join(shown.split()))
            self.redacted.update(kinds)
        self._places[query_id, "" if query_id else text] = place
        return place

    def document(self, doc_id: str) -> int:
        return self.documents.setdefault(doc_id, len(self.documents))

    def hashed(self, name: str) -> int | None:
        if not name:
            return None
        return int.from_bytes(blake2b(name.encode(), digest_size=8, key=self._key).digest(), "big", signed=True)


Seen = tuple[int | None, int, int | None, int, int | None, int, int, int]


def _numbers(rows: Iterable[ClickRow], names: _Names) -> Iterator[Seen]:
    for row in rows:
        # Counts of several searches cannot belong to one.
        search = names.hashed(row.search_id) if row.impressions <= 1 else None
        query, client = names.query(row.query_id, row.query), names.hashed(row.client_id)
        position = NO_POSITION if row.position is None else row.position
        if row.doc_id:
            yield search, query, names.document(row.doc_id), position, client, row.impressions, 0, row.clicks
            continue
        if search is None:
            # The results of a search without an id: no other row belongs to it.
            search = names.hashed(f"line {row.line}")
        yield search, query, None, NO_POSITION, client, 0, 0, 0
        for place, doc_id in enumerate(row.results):
            yield search, query, names.document(doc_id), place + 1, client, 0, 1, 0


def _counted(table: sqlite3.Connection, names: _Names, robots: Robots, first: int | None) -> Evidence:
    by_reason = _robots(table, robots)
    out = "client IN (SELECT client FROM robot)"
    lost = _one(table, f"SELECT sum(shown) FROM cell WHERE {out}") or 0  # noqa: S608
    rows = table.execute(
        "SELECT query, doc, max(position, 0), sum(shown), sum(clicked) FROM cell "
        "WHERE client IS NULL OR client NOT IN (SELECT client FROM robot) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    )
    cells = np.fromiter(rows, dtype=np.dtype((np.int64, 5)))
    query, document, rank, impressions, clicks = (np.ascontiguousarray(column) for column in cells.T)
    return Evidence(
        list(names.queries),
        names.typed,
        list(names.documents),
        query,
        document,
        rank,
        impressions,
        clicks,
        first_position=first,
        clients=_one(table, "SELECT count(DISTINCT client) FROM cell") or 0,
        anonymous=_one(table, "SELECT sum(shown) FROM cell WHERE client IS NULL") or 0,
        robots=by_reason,
        robot_impressions=lost,
        unshown=_one(table, "SELECT count(*) FROM result WHERE clicked AND NOT shown AND query <> -1") or 0,
        without_query=_one(table, "SELECT count(*) FROM search WHERE query = -1") or 0,
        redacted=dict(sorted(names.redacted.items())),
    )


def _robots(table: sqlite3.Connection, robots: Robots) -> dict[str, int]:
    """Write robot clients into their table, and count them by reason."""
    by_reason: Counter[str] = Counter()
    question = "SELECT client, sum(shown), sum(clicked) FROM cell WHERE client IS NOT NULL GROUP BY client"
    clients = table.execute(question)
    left_out = []
    for client, impressions, clicks in clients:
        if reason := robots.reason(impressions, clicks):
            by_reason[reason] += 1
            left_out.append((client,))
    table.executemany("INSERT INTO robot VALUES (?)", left_out)
    return dict(by_reason)


def _one(table: sqlite3.Connection, question: str) -> int | None:
    value: int | None = table.execute(question).fetchone()[0]
    return value
