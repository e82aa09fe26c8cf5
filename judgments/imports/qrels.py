"""Import of qrels and judgment lists as separate label sources, which are not judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.core.errors import Conflict
from assay.formats.row_types import LabelRow, RatingRow
from judgments.documents.answers import questions_of
from judgments.imports.documents import stubs_for
from judgments.imports.kinds import Checked, Finding, ImportKind, stored_as
from judgments.imports.queries import with_query_ids
from judgments.models import Collection, ImportedLabel, LabelSource, Query, Upload, User
from judgments.models.fields import checked_name
from judgments.queries import groups
from judgments.web.access import LEADS


def check(collection: Collection, rows: Sequence[LabelRow], upload: Upload) -> Checked:
    """Refuse labels of unknown queries; report documents without content."""
    earlier = collection.label_sources.filter(sha256=upload.sha256).first()
    if earlier is not None:
        raise Conflict(f"{upload.filename} is already stored as the label source {earlier}. Nothing was stored again.")
    rows, findings = with_query_ids(collection, rows)
    queries = set(collection.queries.values_list("query_id", flat=True))
    documents = set(collection.documents.filter(stub=False).values_list("doc_id", flat=True))
    questions = questions_of(collection, list({row.doc_id for row in rows} - documents))
    answers = {doc_id for _, doc_id in questions}
    accepted, unknown = [], []
    for row in rows:
        if row.grade is None:
            continue
        if row.doc_id in answers and (row.query_id, row.doc_id) not in questions:
            findings.append(_other_question(row))
            continue
        if row.doc_id not in answers and row.query_id not in queries and not row.query:
            findings.append(_unknown_query(row))
            continue
        accepted.append(row)
        if row.doc_id not in answers and row.doc_id not in documents:
            unknown.append(row)
    if unknown:
        findings.append(_unknown_documents(unknown))
    new_queries = len({row.query_id for row in accepted if row.doc_id not in answers} - queries)
    figures = {"labels": len(accepted), "queries": len({row.query_id for row in accepted}), "new queries": new_queries}
    return Checked(accepted, findings, figures)


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Create the source with its labels; add queries that the file has text for."""
    name = checked_name(str(options.get("name") or upload.filename).strip()[:200])
    if collection.label_sources.filter(name=name).exists():
        raise Conflict(f"Another label source is already called {name}. Choose another name.")
    source = LabelSource.objects.create(
        collection=collection,
        name=name,
        sha256=upload.sha256,
        report={"bins": upload.report.get("bins", {})},
        created_by=actor,
    )
    queries = queries_for(collection, checked.rows)
    documents = stubs_for(collection, (row.doc_id for row in checked.rows))
    ImportedLabel.objects.bulk_create(
        (
            ImportedLabel(source=source, query=query, document=documents[row.doc_id], value=row.grade)
            for row, query in zip(checked.rows, queries, strict=True)
        ),
        batch_size=1000,
    )
    return {"rows": len(checked.rows), "id": str(source.uuid), "name": name}


def queries_for(collection: Collection, rows: Sequence[LabelRow] | Sequence[RatingRow]) -> list[Query]:
    """Return the query of each row, or the question for an answer; create new queries that come with text."""
    questions = questions_of(collection, list({row.doc_id for row in rows}))
    known = {query.query_id: query for query in collection.queries.all()}
    others = [row for row in rows if (row.query_id, row.doc_id) not in questions]
    texts = {
        row.query_id: (row.query, getattr(row, "group", ""))
        for row in others
        if row.query_id not in known and row.query
    }
    new = [
        Query(collection=collection, query_id=query_id, text=text, group=group)
        for query_id, (text, group) in texts.items()
    ]
    Query.objects.bulk_create(new, batch_size=500)
    if any(query.group for query in new):
        groups.note(collection)
    known |= {query.query_id: query for query in new}
    return [questions.get((row.query_id, row.doc_id)) or known[row.query_id] for row in rows]


def _unknown_query(row: LabelRow) -> Finding:
    return Finding(
        row.line,
        "E17",
        f"{row.query_id} {row.doc_id} {row.grade:g}",
        f"the query {row.query_id} is not in this collection",
        "not stored",
        "Import the queries first, or import a judgment list, which includes their text.",
    )


def _other_question(row: LabelRow) -> Finding:
    return Finding(
        row.line,
        "E23",
        f"{row.query_id} {row.doc_id} {row.grade:g}",
        f"the answer {row.doc_id} does not belong to the question {row.query_id}",
        "not stored",
        "Use the question that the answer was graded for.",
    )


def _unknown_documents(rows: Sequence[LabelRow]) -> Finding:
    first = rows[0]
    return Finding(
        first.line,
        "W38",
        f"{first.query_id} {first.doc_id}",
        f"{len({row.doc_id for row in rows}):,} documents without content in this collection; the first is "
        f"{first.doc_id}",
        "stored, without text to show",
        "Import these documents if you have them.",
    )


LABELS = ImportKind(
    name="qrels",
    title="Labels",
    format_kind="qrels",
    default_format="trec-qrels",
    check=check,
    store=store,
    roles=LEADS,
    existing=lambda collection, sha256: stored_as(collection.label_sources, sha256),
    columns=("query_id", "doc_id", "grade", "origin"),
    asks=("name",),
)
