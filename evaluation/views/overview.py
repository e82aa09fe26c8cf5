"""What should the team do next? The collection's page answers it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from judgments import access


@login_required
@require_safe
def collection_page(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    return render(request, "judgments/collection.html", {"collection": collection})
