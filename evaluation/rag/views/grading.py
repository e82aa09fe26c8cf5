"""Rounds in which people grade answers."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.counted_nouns import amount
from evaluation.rag import people
from evaluation.rag.forms import GradeForm
from evaluation.rag.sample_sets import sample_set_for
from judgments.web import access
from judgments.web.pages import form_page


@form_page
def grade(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Create rounds in which people grade the answers of systems."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    row = sample_set_for(request.user, collection, uuid)
    form = GradeForm(row, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made = people.start(row, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
            messages.success(request, f"{amount(len(made), 'draft round')} created. Open a round to start rating.")
            return redirect("rounds", slug)
    context = {"collection": collection, "sample_set": row, "form": form, "systems": row.systems.active().exists()}
    return render(request, "evaluation/rag/grade.html", context, status=form.status)
