"""Pages to create a collection and to change its settings."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from judgments.members import collections as verbs
from judgments.members.forms import CollectionForm, CollectionSettingsForm
from judgments.web import access


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    access.check_may_create_collections(request.user)
    form = CollectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            collection = verbs.create_collection(actor=request.user, **form.cleaned_data)
            return redirect("collection", collection.slug)
    return render(request, "judgments/members/collection_new.html", {"form": form}, status=form.status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    fields = ("name", "description", "embedding_changed_at")
    form = CollectionSettingsForm(request.POST or None, initial={name: getattr(collection, name) for name in fields})
    if request.method == "POST" and form.is_valid():
        with form.telling():
            verbs.update_collection(collection, actor=request.user, **form.cleaned_data)
            messages.success(request, "Saved.")
            return redirect("collection_settings", collection.slug)
    context = {"collection": collection, "form": form}
    return render(request, "judgments/members/collection_settings.html", context, status=form.status)
