"""What happens to a queries file: which queries are new, and which collide with one that is there?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgments.access import LEADS
from judgments.formats.rows import QueryRow
from judgments.import_kinds import Checked, Finding, ImportKind
from judgments.models import Collection, Query, Upload, User

# What a file may add to a query that is there; its text never changes, since people judged it.
FILLABLE = ("narrative", "group", "tier", "frequency", "clients", "probability", "weight")


def check(collection: Collection, rows: Sequence[QueryRow], upload: Upload) -> Checked:
    """Refuse an id that stands for another text; keep what is new or says more than what is there."""
    known = {query.query_id: query for query in collection.queries.all()}
    findings: list[Finding] = []
    kept: list[QueryRow] = []
    same = 0
    for row in rows:
        there = known.get(row.query_id)
        if there is None or (there.text == row.query and _says_more(there, row)):
            kept.append(row)
        elif there.text == row.query:
            same += 1
        else:
            findings.append(_other_text(row, there.text))
    new = sum(1 for row in kept if row.query_id not in known)
    figures = {"new": new, "changed": len(kept) - new, "unchanged": same}
    return Checked(kept, findings, figures)


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Add the new queries, and fill in what the file knows about the others."""
    known = {query.query_id: query for query in collection.queries.all()}
    new = [
        Query(collection=collection, query_id=row.query_id, text=row.query, **_said(row))
        for row in checked.rows
        if row.query_id not in known
    ]
    Query.objects.bulk_create(new, batch_size=500)
    changed = [known[row.query_id] for row in checked.rows if row.query_id in known]
    said = {row.query_id: _said(row) for row in checked.rows}
    for query in changed:
        for name, value in said[query.query_id].items():
            setattr(query, name, value)
    Query.objects.bulk_update(changed, FILLABLE, batch_size=500)
    return {"rows": len(checked.rows), "new": len(new), "changed": len(changed)}


def _says_more(there: Query, row: QueryRow) -> bool:
    return any(getattr(there, name) != value for name, value in _said(row).items())


def _said(row: QueryRow) -> dict[str, Any]:
    """The columns that the row fills; an empty cell says nothing."""
    return {name: value for name in FILLABLE if (value := getattr(row, name)) not in (None, "")}


def _other_text(row: QueryRow, text: str) -> Finding:
    return Finding(
        row.line,
        "E18",
        "error",
        f"{row.query_id},{row.query}",
        f"{row.query_id} is “{text}” in this collection and “{row.query}” here",
        "not stored",
        "Give the new query another id: the judgments of the old one were made for its text.",
    )


QUERIES = ImportKind(
    name="queries",
    title="Queries",
    format_kind="queries",
    default_format="queries-csv",
    check=check,
    store=store,
    roles=LEADS,
    columns=("query_id", "query", "narrative", "tier", "frequency"),
)
