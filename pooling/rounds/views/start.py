"""Quick start pages for a lead without a log or runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.errors import NotValid
from judgments.jobs.file_reading import read_at_once
from judgments.models import Collection
from judgments.web import access
from judgments.web.body_limit import takes_files
from judgments.web.pages import form_page
from pooling.pools.effort import pace
from pooling.rounds import quick_start
from pooling.rounds.forms import MOST_START_BYTES, QueriesForm, ResultsForm


@takes_files
@form_page
def start(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    step = _file_step if "csv" in request.POST else _results_step if "texts" in request.POST else _queries_step
    return step(request, collection)


def _queries_step(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Show the first step: ten queries, or a file with queries and results."""
    form = QueriesForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            if form.cleaned_data.get("file"):
                text = form.text_of_file()
                return _check_page(request, collection, text, _read(text))
            queries = quick_start.read_queries(form.cleaned_data["queries"])
            return _results_page(request, collection, ResultsForm(queries=queries))
    context = {"collection": collection, "step": "queries", "form": form}
    return render(request, "pooling/rounds/start.html", context, status=form.status)


def _results_step(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Show the second step: a box for the current results of each query."""
    try:
        queries = quick_start.read_queries(request.POST["texts"])
    except NotValid:
        return redirect("start", collection.slug)
    form = ResultsForm(request.POST, queries=queries)
    if form.is_valid() and request.POST.get("act") != "count":
        with form.telling():
            return _rate(request, collection, form.starts)
    return _results_page(request, collection, form)


def _file_step(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Show the second step with the content of a file for confirmation."""
    form = QueriesForm({"queries": "from a file"})
    with form.telling():
        return _rate(request, collection, _read(request.POST["csv"]))
    context = {"collection": collection, "step": "queries", "form": form}
    return render(request, "pooling/rounds/start.html", context, status=form.status)


def _read(text: str) -> list[quick_start.Start]:
    return read_at_once(quick_start.read_csv, text, most=MOST_START_BYTES)


def _rate(request: HttpRequest, collection: Collection, starts: list[quick_start.Start]) -> HttpResponse:
    made = quick_start.begin(collection, starts=starts, actor=request.user)
    return redirect("rate", made.uuid)


def _results_page(request: HttpRequest, collection: Collection, form: ResultsForm) -> HttpResponse:
    counting = request.POST.get("act") == "count"
    context: dict[str, Any] = {
        "collection": collection,
        "step": "queries",
        "form": form,
        "texts": "\n".join(form.queries),
        **_size(collection, form.starts),
    }
    return render(request, "pooling/rounds/start_results.html", context, status=200 if counting else form.status)


def _check_page(
    request: HttpRequest, collection: Collection, text: str, starts: list[quick_start.Start]
) -> HttpResponse:
    context = {
        "collection": collection,
        "step": "queries",
        "csv": text,
        "starts": starts,
        **_size(collection, starts),
    }
    return render(request, "pooling/rounds/start_check.html", context)


def _size(collection: Collection, starts: list[quick_start.Start]) -> dict[str, Any]:
    results = sum(len(one.results) for one in starts)
    return {"results": results, "cost": pace(collection).cost(results)}
