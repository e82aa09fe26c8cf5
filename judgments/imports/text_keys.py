"""Queries of files that identify them by their text: matched with the collection's queries by exact text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

from assay.formats.row_types import LabelRow, QueryRow, RatingRow, RunRow
from judgments.imports.kinds import Finding
from judgments.models import Collection

Row = TypeVar("Row", LabelRow, QueryRow, RatingRow, RunRow)


def with_query_ids(collection: Collection, rows: Sequence[Row]) -> tuple[Sequence[Row], list[Finding]]:
    """Give each row without a query id of its own the id of the query with the same text, or an unused id."""
    texts = list(dict.fromkeys(row.query for row in rows if row.by_text))
    if not texts:
        return rows, []
    known = dict(collection.queries.values_list("query_id", "text"))
    alike: dict[str, list[str]] = defaultdict(list)
    for query_id, text in sorted(known.items()):
        alike[text].append(query_id)
    taken = known.keys() | {row.query_id for row in rows if not row.by_text}
    free = (query_id for number in count(1) if (query_id := f"q{number:03d}") not in taken)
    ids = {text: alike[text][0] if text in alike else next(free) for text in texts}
    doubtful = {text for text in texts if len(alike.get(text, ())) > 1}
    findings = [_two_queries(row, alike[row.query]) for row in rows if row.by_text and row.query in doubtful]
    usable = [row for row in rows if not (row.by_text and row.query in doubtful)]
    return [replace(row, query_id=ids[row.query]) if row.by_text else row for row in usable], findings


def _two_queries(row: LabelRow | QueryRow | RatingRow | RunRow, query_ids: Sequence[str]) -> Finding:
    return Finding(
        row.line,
        "E17",
        f"{row.query} {getattr(row, 'doc_id', '')}".strip(),
        f"the queries {', '.join(query_ids[:5])} have the text “{row.query}”",
        "not stored",
        "Use a file with query ids, such as a ratings CSV, or change one of the queries.",
    )
