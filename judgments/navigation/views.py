"""Pages of the command palette's search and of the help."""

from __future__ import annotations

from dataclasses import asdict

from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from judgments.navigation import help as docs
from judgments.navigation import search
from judgments.web import access
from judgments.web.pages import get_page


@get_page
def find(request: HttpRequest) -> HttpResponse:
    """Search the collection ``in``, or the user's collections; as JSON for the command palette."""
    slug = request.GET.get("in", "")
    collection = access.collection_for(request.user, slug, access.EVERYBODY) if slug else None
    text = request.GET.get("q", "")
    groups = search.find(request.user, collection, text)
    if request.GET.get("format") == "json":
        shown = [{"name": name, "hits": [asdict(hit) for hit in hits]} for name, hits in groups]
        return JsonResponse({"groups": shown})
    context = {"collection": collection, "groups": groups, "text": text}
    return render(request, "judgments/navigation/find.html", context)


@require_safe
def help_page(request: HttpRequest, name: str = docs.FALLBACK) -> HttpResponse:
    """Show a page of the docs, also to visitors who are not logged in."""
    return render(request, "judgments/navigation/help.html", {"page": docs.page_of(name), "name": name})


@require_safe
def help_file(request: HttpRequest, name: str) -> FileResponse:
    return FileResponse(docs.file_of(name).open("rb"))
