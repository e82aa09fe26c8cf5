"""Document list, and the page of one document as raters see it."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from judgments.documents.passages import shown
from judgments.models import Collection, Document, Pair, Query
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import state
from judgments.web.lists import ChoiceFilter, Listing, answer, how_many
from judgments.web.pages import get_page


def _content(document: Document) -> str:
    if document.stub:
        return state("warn", "id only")
    return state("done", "with text") if document.has_text else state("warn", "no text")


def _with_content(rows: Any, value: str) -> Any:
    return rows.filter(stub=True) if value == "id" else rows.filter(stub=False, has_text=value == "complete")


DOCUMENTS = Listing(
    name="documents",
    noun=("document", "documents"),
    columns=(
        Column("doc_id", "Id", order="doc_id", style="id", url=("document", "collection.slug", "uuid"), head=True),
        Column("title", "Title", order="title", style="clip"),
        Column("stub", "Content", order="stub", show=_content),
        Column("pairs", "Pairs", order="pair_count", numeric=True, value="pair_count"),
        Column("changed_at", "Changed", order="changed_at", style="nowrap"),
    ),
    search=("doc_id", "title"),
    choices=(
        ChoiceFilter(
            "content",
            "Content",
            _with_content,
            [("complete", "with text"), ("no-text", "no text"), ("id", "id only")],
        ),
    ),
    order="doc_id",
)


@get_page.of_collection(access.STAFF)
def document_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = collection.documents.active().select_related("collection").defer("text", "fields")
    rows = rows.annotate(pair_count=how_many(Pair.objects, "document"), has_text=~Q(text=""))
    context = {"collection": collection, "stubs": collection.documents.filter(stub=True).count()}
    return answer(request, DOCUMENTS, rows, "judgments/documents/documents.html", context)


@get_page.of_collection(access.STAFF)
def document(request: HttpRequest, collection: Collection, uuid: str) -> HttpResponse:
    answers = collection.documents(manager="answers")
    row = collection.documents.filter(uuid=uuid).first() or answers.filter(uuid=uuid).first()
    if row is None:
        raise Http404
    context = {
        "collection": collection,
        "document": row,
        "queries": Query.of_any_kind.filter(pairs__document=row).distinct(),
        "shown": shown(row, ""),
    }
    return render(request, "judgments/documents/document.html", context)
