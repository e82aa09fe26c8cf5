"""List of sample sets, and creation of sample sets from the collection."""

from __future__ import annotations

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from evaluation.models import RagSampleSet
from evaluation.rag import from_collection
from evaluation.rag.forms import FromCollectionForm
from judgments.web import access
from judgments.web.lists import Column, Listing, answer
from judgments.web.pages import form_page, get_page


def _set_url(row: RagSampleSet) -> str:
    return reverse("rag_set", args=[row.collection.slug, row.uuid])


SETS = Listing(
    name="sample-sets",
    stacked=True,
    noun=("sample set", "sample sets"),
    columns=(
        Column("name", "Sample set", order="name", head=True, style="clip", url=_set_url),
        Column("rows", "Samples", order="rows", numeric=True),
        Column("systems", "Systems", order="system_count", numeric=True, value=lambda row: row.system_count),
        Column("references", "With reference", numeric=True, value=lambda row: row.figures["with a reference answer"]),
        Column(
            "relevant",
            "With relevant documents",
            numeric=True,
            value=lambda row: row.figures["with relevant documents"],
        ),
        Column("labels", "Labels", style="clip muted", value=lambda row: ", ".join(row.labels)),
        Column("created_by", "Added by", style="muted", value=lambda row: str(row.created_by or "")),
        Column("created_at", "Added", order="created_at", style="nowrap"),
    ),
    search=("name", "filename", "systems__name"),
    order="-created_at",
)


@get_page
def sample_sets(request: HttpRequest, slug: str) -> HttpResponse:
    """List the sample sets of a collection."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.rag_sample_sets.active().select_related("collection", "created_by").distinct()
    rows = rows.annotate(system_count=Count("systems", filter=Q(systems__archived_at__isnull=True), distinct=True))
    return answer(request, SETS, rows, "evaluation/rag/sets.html", {"collection": collection})


@form_page
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a sample set from the collection's queries, a snapshot and a run."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    form = FromCollectionForm(collection, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            job = from_collection.start(collection, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
            return redirect("job", job.uuid)
    context = {"collection": collection, "form": form, "queries": collection.queries.count()}
    return render(request, "evaluation/rag/new.html", context, status=form.status)
