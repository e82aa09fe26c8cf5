"""Pages to list, add, change and remove connectors."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from judgments import access, grants
from judgments.core.errors import AssayError
from judgments.models import Collection
from judgments.views.lists import Column, Listing, answer
from pooling import connected
from pooling.connector_forms import ConnectorForm
from pooling.connectors import CONNECTORS
from pooling.models import Connector


def kind_title(connector: Connector) -> str:
    """The readable name of what kind of engine it is; an outsider's kind may be gone."""
    return CONNECTORS[connector.kind].title if connector.kind in CONNECTORS else connector.kind


def place(connector: Connector) -> str:
    """Where it asks."""
    settings = connector.settings
    return str(settings.get("address") or settings.get("host") or settings.get("path") or "")


LISTED = Listing(
    name="connectors",
    noun=("connector", "connectors"),
    columns=(
        Column(
            "name",
            "Connector",
            order="name",
            head=True,
            style="clip",
            url=lambda row: reverse("connector", args=[row.collection.slug, row.uuid]),
        ),
        Column("kind", "Engine", order="kind", value=kind_title),
        Column("place", "Where", style="clip", value=place),
        Column("runs", "Runs fetched", order="run_count", numeric=True, value=lambda row: row.run_count),
        Column("last", "Last asked", order="last_at", style="nowrap", value=lambda row: row.last_at),
        Column("created_by", "Connected by", order="created_by__username", value=lambda row: str(row.created_by or "")),
    ),
    search=("name", "kind"),
    order="name",
)


@login_required
@require_safe
def connector_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.connectors.select_related("collection", "created_by").annotate(
        run_count=Count("fetches", filter=Q(fetches__run__isnull=False)), last_at=Max("fetches__created_at")
    )
    allowed = grants.connector_access(collection)
    context = {"collection": collection, "step": "runs", "hosts": allowed.hosts, "folders": allowed.folders}
    return answer(request, LISTED, rows, "pooling/connectors.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def connector_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    asked = request.POST.get("kind") or request.GET.get("kind", "")
    kind = CONNECTORS[asked if asked in CONNECTORS else next(iter(CONNECTORS))]
    form = ConnectorForm(request.POST or None, kind=kind)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made = connected.add(collection, actor=request.user, kind=kind.name, **form.given)
            messages.success(request, f"{made.name} is connected. Try a query before you fetch a run.")
            return redirect("connector", collection.slug, made.uuid)
    context = {"kinds": list(CONNECTORS.values()), "kind": kind}
    return _form(request, collection, form, "pooling/connector_new.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def connector_change(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    form = ConnectorForm(request.POST or None, kind=CONNECTORS[row.kind], connector=row)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            connected.change(row, actor=request.user, **form.given)
            messages.success(request, f"{row.name} is asked like this from now on.")
            return redirect("connector", collection.slug, row.uuid)
        row.refresh_from_db()
    return _form(request, collection, form, "pooling/connector_change.html", {"connector": row, "kind": form.kind})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def connector_remove(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """What is lost with it and what stays; removed only from there, since the secret cannot be had back."""
    collection, row = reached(request, slug, uuid)
    if request.method == "POST":
        return _removed(request, collection, row)
    fetches = list(row.fetches.select_related("job", "run"))
    context = {
        "collection": collection,
        "step": "runs",
        "connector": row,
        "kind": kind_title(row),
        "asking": next((one.job for one in fetches if one.job is not None and not one.job.over), None),
        "lost": [one for one in fetches if one.waits and one.answered],
        "runs": [one.run for one in fetches if one.run is not None],
    }
    return render(request, "pooling/connector_remove.html", context)


def _removed(request: HttpRequest, collection: Collection, row: Connector) -> HttpResponse:
    try:
        connected.remove(row, actor=request.user)
    except AssayError as error:
        messages.error(request, str(error))
        return redirect("connector", collection.slug, row.uuid)
    messages.success(request, f"{row.name} is removed. Runs that were fetched from it stay.")
    return redirect("connectors", collection.slug)


def reached(request: HttpRequest, slug: str, uuid: str) -> tuple[Collection, Connector]:
    """The collection and its connector, for those who may use it."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = Connector.objects.filter(collection=collection).select_related("collection", "created_by")
    return collection, access.reach(rows, request.user, access.STAFF, uuid=uuid)


def _form(
    request: HttpRequest, collection: Collection, form: ConnectorForm, template: str, more: dict[str, object]
) -> HttpResponse:
    allowed = grants.connector_access(collection)
    context = {"collection": collection, "step": "runs", "form": form, "allowed": allowed, **more}
    return render(request, template, context, status=form.status)
