"""Import of documents: find new, changed and unchanged documents, and store them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone

from assay.core.content_hash import content_hash
from assay.formats.row_types import DocumentRow
from judgments.documents.answers import answers_by_id
from judgments.imports.kinds import Checked, ImportKind
from judgments.models import Collection, Document, Upload, User
from judgments.models.fields import rows_among
from judgments.web.access import LEADS

BATCH = 500


def check(collection: Collection, rows: Sequence[DocumentRow], upload: Upload) -> Checked:
    """Return the documents that are new or changed."""
    known = dict(collection.documents.values_list("doc_id", "content_sha256"))
    stubs = set(collection.documents.filter(stub=True).values_list("doc_id", flat=True))
    changed = [
        row for row in rows if row.doc_id in known and (row.doc_id in stubs or known[row.doc_id] != hash_of(row))
    ]
    new = [row for row in rows if row.doc_id not in known]
    figures = {"new": len(new), "changed": len(changed), "unchanged": len(rows) - len(new) - len(changed)}
    without_text = sum(1 for row in rows if not row.text)
    if without_text:
        figures["without text"] = without_text
    return Checked([*new, *changed], figures=figures)


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Add the new documents and replace the content of the changed ones."""
    changed = add_documents(collection, checked.rows)
    return {"rows": len(checked.rows), "new": len(checked.rows) - changed, "changed": changed}


def add_documents(collection: Collection, rows: Sequence[DocumentRow]) -> int:
    """Add the new documents and replace the content of the others; return the number of the others."""
    there = _by_id(collection, (row.doc_id for row in rows))
    new = [_filled(Document(collection=collection, doc_id=row.doc_id), row) for row in rows]
    Document.objects.bulk_create([row for row in new if row.doc_id not in there], batch_size=BATCH)
    changed = [_filled(there[row.doc_id], row) for row in rows if row.doc_id in there]
    fields = ["title", "text", "url", "image", "fields", "content_sha256", "stub", "changed_at"]
    Document.objects.bulk_update(changed, fields, batch_size=BATCH)
    return len(changed)


def stub_keys(collection: Collection, doc_ids: Iterable[str]) -> dict[str, int]:
    """Return the documents' primary keys, for code that needs no content."""
    wanted = list(dict.fromkeys(doc_ids))
    keys = _keys(collection, wanted)
    missing = [doc_id for doc_id in wanted if doc_id not in keys]
    _make_stubs(collection, missing)
    return keys | _keys(collection, missing)


def stubs_for(collection: Collection, doc_ids: Iterable[str]) -> dict[str, Document]:
    """Return the documents and answers by id; unknown ids become stubs."""
    wanted = list(dict.fromkeys(doc_ids))
    documents = _by_id(collection, wanted)
    documents |= answers_by_id(collection, [doc_id for doc_id in wanted if doc_id not in documents])
    missing = [doc_id for doc_id in wanted if doc_id not in documents]
    _make_stubs(collection, missing)
    return {**documents, **_by_id(collection, missing)}


def _make_stubs(collection: Collection, doc_ids: Iterable[str]) -> None:
    empty = content_hash("", "", "", "", {})
    Document.objects.bulk_create(
        (Document(collection=collection, doc_id=doc_id, content_sha256=empty, stub=True) for doc_id in doc_ids),
        batch_size=BATCH,
        ignore_conflicts=True,
    )


def _by_id(collection: Collection, doc_ids: Iterable[str]) -> dict[str, Document]:
    return {document.doc_id: document for document in rows_among(collection.documents.all(), "doc_id", doc_ids)}


def _keys(collection: Collection, doc_ids: Iterable[str]) -> dict[str, int]:
    return dict(rows_among(collection.documents.values_list("doc_id", "pk"), "doc_id", doc_ids))


def _filled(document: Document, row: DocumentRow) -> Document:
    document.title, document.text, document.url = row.title, row.text, row.url
    document.image, document.fields, document.stub = row.image, dict(row.fields), False
    document.content_sha256 = hash_of(row)
    document.changed_at = timezone.now()  # a bulk update does not set auto_now columns
    return document


def hash_of(row: DocumentRow) -> str:
    """Return the hash of the content."""
    return content_hash(row.title, row.text, row.url, row.image, row.fields)


DOCUMENTS = ImportKind(
    name="documents",
    title="Documents",
    format_kind="documents",
    default_format="documents-jsonl",
    check=check,
    store=store,
    roles=LEADS,
    columns=("doc_id", "title", "text", "url"),
)
