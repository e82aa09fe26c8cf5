"""Connector that reads results from a file, for a system that cannot be queried."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.connectors.connector import ConnectorKind, Engine, Hit, Setting
from assay.connectors.reply_mapping import Paths, mapping_of, mapping_settings
from assay.core.errors import UnreadableInput
from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault

MOST_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True)
class StaticAnswers:
    """Stored results by query, in the order of the file's lines."""

    rows: Mapping[str, list[str]]
    paths: Paths

    def search(self, query: str, depth: int) -> list[Hit]:
        """Return the hits of the file for the query; see `connector.Engine`."""
        return self.paths.read([json.loads(row) for row in self.rows.get(normalized_query(query), [])[:depth]], depth)

    def close(self) -> None:
        """Do nothing, because no file is open."""


def normalized_query(query: str) -> str:
    """Return a query with case and white space normalized.

    Examples
    --------
    >>> normalized_query(" Rain  jacket")
    'rain jacket'
    """
    return " ".join(query.casefold().split())


def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
    """Read the file; see `connector.ConnectorKind`."""
    path = allowed.file(values["path"])
    if path.stat().st_size > MOST_BYTES:
        raise EngineFault("too-large", f"{path.name} has more than {MOST_BYTES // 1024**2} MB. Split it.")
    rows: dict[str, list[str]] = {}
    for number, row in lines(path):
        query = row.get(values["query"])
        if not isinstance(query, str) or not query.strip():
            expected = f"a text for {values['query']!r} on every line; fix the file or the setting"
            raise UnreadableInput(path.name, number, "no query", expected)
        rows.setdefault(normalized_query(query), []).append(json.dumps(row, ensure_ascii=False))
    return StaticAnswers(rows, mapping_of({**values, "hits": ""}))


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and content: from JSON lines, or from CSV or TSV with a header."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            if path.suffix.lower() in (".csv", ".tsv"):
                table = csv.DictReader(stream, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
                for row in table:
                    number = table.line_num
                    yield number, _numbered(row)
                return
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, _object(path, number, line)
    except (UnicodeDecodeError, csv.Error) as error:
        raise UnreadableInput(
            path.name, number + 1, str(error), "UTF-8 text, CSV, TSV or one JSON object per line"
        ) from None


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(path.name, number, f"not JSON ({error})"[:200], "one JSON object per line") from None
    if not isinstance(row, dict):
        raise UnreadableInput(path.name, number, "not a JSON object", "one JSON object per line")
    return row


def _numbered(row: dict[str | Any, str | Any]) -> dict[str, Any]:
    """Return a CSV line with its score as a number; an unreadable score is None."""
    record = {str(key): value for key, value in row.items() if key is not None}
    try:
        record["score"] = float(record["score"])
    except (KeyError, TypeError, ValueError):
        record["score"] = None
    return record


STATIC_FILE = ConnectorKind(
    name="static-file",
    title="Static file",
    description="Reads results from a file on the server: JSON lines, CSV or TSV, one hit per line, best first.",
    tested="real files",
    deepest=100_000,
    settings=(
        Setting("path", "File", "The full path of the file on the server.", required=True),
        Setting("query", "Query", "The key or column with the query.", "query", required=True),
        *(
            setting
            for setting in mapping_settings(doc_id="doc_id", score="score", title="title", text="text", url="url")
            if setting.name != "hits"
        ),
    ),
    build=build,
)
