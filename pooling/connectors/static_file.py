"""Connector that reads results from a file, for a system that cannot be queried."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgments.core.errors import UnreadableInput
from judgments.network.addresses import Allowed
from judgments.network.faults import EngineFault
from pooling.connectors.contract import ConnectorKind, Engine, Hit, Setting
from pooling.connectors.mapping import Paths, mapping_of, mapping_settings

MOST_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True)
class StaticAnswers:
    """Answers by query, in the order of the file's lines.

    Parameters
    ----------
    rows : mapping of str to list
        The lines of each query, as JSON: read into objects they would take five times as much memory.
    paths : Paths
        Which key of a line is what.
    """

    rows: Mapping[str, list[str]]
    paths: Paths

    def search(self, query: str, depth: int) -> list[Hit]:
        """Return what the file has for the query; see `contract.Engine`."""
        return self.paths.read([json.loads(row) for row in self.rows.get(as_one(query), [])[:depth]], depth)

    def close(self) -> None:
        """Nothing is open."""


def as_one(query: str) -> str:
    """Return a query without differences in case and white space.

    Examples
    --------
    >>> as_one(" Rain  jacket")
    'rain jacket'
    """
    return " ".join(query.casefold().split())


def build(values: Mapping[str, str], allowed: Allowed, timeout: float) -> Engine:
    """Read the file; see `contract.ConnectorKind`."""
    path = allowed.file(values["path"])
    if path.stat().st_size > MOST_BYTES:
        raise EngineFault("too-large", f"{path.name} has more than {MOST_BYTES // 1024**2} MB. Split it.")
    rows: dict[str, list[str]] = {}
    for number, row in lines(path):
        query = row.get(values["query"])
        if not isinstance(query, str) or not query.strip():
            expected = f"a text under {values['query']!r} on every line; mend the file or the setting"
            raise UnreadableInput(path.name, number, "no query", expected)
        rows.setdefault(as_one(query), []).append(json.dumps(row, ensure_ascii=False))
    return StaticAnswers(rows, mapping_of({**values, "hits": ""}))


def lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line's number and content: of JSON lines, or of CSV or TSV with a header.

    Raises
    ------
    UnreadableInput
        For a line that cannot be read.
    """
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
            path.name, number + 1, str(error), "UTF-8 text, CSV, TSV or one JSON object a line"
        ) from None


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(path.name, number, f"no JSON ({error})"[:200], "one JSON object a line") from None
    if not isinstance(row, dict):
        raise UnreadableInput(path.name, number, "no JSON object", "one JSON object a line")
    return row


def _numbered(row: dict[str | Any, str | Any]) -> dict[str, Any]:
    """A line of CSV, its score as a number; a score that is none is no score."""
    found = {str(key): value for key, value in row.items() if key is not None}
    try:
        found["score"] = float(found["score"])
    except (KeyError, TypeError, ValueError):
        found["score"] = None
    return found


STATIC_FILE = ConnectorKind(
    name="static-file",
    title="Static file",
    description="Reads the answers from a file on the server: JSON lines, CSV or TSV, one hit a line, the best first.",
    tested="real files",
    deepest=100_000,
    settings=(
        Setting("path", "File", "The whole path of the file on the server.", required=True),
        Setting("query", "Query", "The key or column that holds the query.", "query", required=True),
        *(
            setting
            for setting in mapping_settings(doc_id="doc_id", score="score", title="title", text="text", url="url")
            if setting.name != "hits"
        ),
    ),
    build=build,
)
