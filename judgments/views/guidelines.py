"""What were raters told, version by version?"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from judgments import access
from judgments import guidelines as verbs
from judgments.forms import GuidelinesForm
from judgments.models import GuidelinesVersion
from judgments.views.lists import Column, Listing, answer

VERSIONS = Listing(
    name="guidelines",
    noun=("version", "versions"),
    columns=(
        Column(
            "number",
            "Version",
            order="number",
            head=True,
            show=str,
            url=lambda version: reverse("guidelines_version", args=[version.uuid]),
        ),
        Column("rounds", "Rounds", order="round_count", numeric=True, value=lambda version: version.round_count),
        Column("words", "Words", numeric=True, value=lambda version: len(version.markdown.split())),
        Column("created_by", "Written by", value=lambda version: str(version.created_by or "")),
        Column("created_at", "When", order="created_at", style="nowrap"),
        Column("sha256", "SHA-256", show=lambda version: f"{version.sha256[:12]}…", style="id"),
    ),
    search=("markdown",),
    order="-number",
)


@login_required
@require_safe
def version_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.guidelines.select_related("created_by").annotate(round_count=Count("rounds"))
    return answer(request, VERSIONS, rows, "judgments/guidelines.html", {"collection": collection, "step": "round"})


@login_required
@require_safe
def version(request: HttpRequest, uuid: str) -> HttpResponse:
    rows = GuidelinesVersion.objects.select_related("collection", "created_by")
    # Raters too: it is written for them.
    row = access.reach(rows, request.user, access.EVERYBODY, uuid=uuid)
    latest = verbs.latest(row.collection)
    context = {"collection": row.collection, "version": row, "latest": latest, "step": "round"}
    return render(request, "judgments/guidelines_version.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    last = verbs.latest(collection)
    start = last.markdown if last else verbs.DEFAULT_TEMPLATE
    form = GuidelinesForm(request.POST or None, initial={"markdown": start})
    if request.method == "POST" and form.is_valid():
        with form.telling():
            added = verbs.add_version(collection, actor=request.user, markdown=form.cleaned_data["markdown"])
            messages.success(request, f"Version {added.number} is there. New rounds can use it; open ones keep theirs.")
            return redirect("guidelines_version", added.uuid)
    context = {"collection": collection, "form": form, "last": last, "step": "round"}
    return render(request, "judgments/guidelines_new.html", context, status=form.status)
