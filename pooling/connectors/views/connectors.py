"""Pages to list, add, change and remove connectors."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from assay.connectors import CONNECTORS
from assay.core.errors import AssayError
from judgments.members import grants
from judgments.models import Collection
from judgments.web import access
from judgments.web.lists import Column, Listing, answer
from judgments.web.pages import form_page, get_page
from pooling.connectors import connections
from pooling.connectors.forms import ConnectorForm
from pooling.models import Connector


def kind_title(connector: Connector) -> str:
    """Return the readable name of the connector's kind; a kind from a plugin may be missing."""
    return CONNECTORS[connector.kind].title if connector.kind in CONNECTORS else connector.kind


def place(connector: Connector) -> str:
    """Return the URL of the engine."""
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
        Column("place", "Address", style="clip", value=place),
        Column("runs", "Runs fetched", order="run_count", numeric=True, value=lambda row: row.run_count),
        Column("last", "Last used", order="last_at", style="nowrap", value=lambda row: row.last_at),
        Column("created_by", "Added by", order="created_by__username", value=lambda row: str(row.created_by or "")),
    ),
    search=("name", "kind"),
    order="name",
)


@get_page
def connector_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.connectors.select_related("collection", "created_by").annotate(
        run_count=Count("fetches", filter=Q(fetches__run__isnull=False)), last_at=Max("fetches__created_at")
    )
    allowed = grants.connector_access(collection)
    context = {"collection": collection, "step": "runs", "hosts": allowed.hosts, "folders": allowed.folders}
    return answer(request, LISTED, rows, "pooling/connectors/connectors.html", context)


@form_page
def connector_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    name = request.POST.get("kind") or request.GET.get("kind", "")
    kind = CONNECTORS[name if name in CONNECTORS else next(iter(CONNECTORS))]
    form = ConnectorForm(request.POST or None, kind=kind)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made = connections.add(collection, actor=request.user, kind=kind.name, **form.given)
            messages.success(request, f"Connector {made.name} added. Test a query before fetching a run.")
            return redirect("connector", collection.slug, made.uuid)
    context = {"kinds": list(CONNECTORS.values()), "kind": kind}
    return _form(request, collection, form, "pooling/connectors/connector_new.html", context)


@form_page
def connector_change(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    form = ConnectorForm(request.POST or None, kind=CONNECTORS[row.kind], connector=row)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            connections.change(row, actor=request.user, **form.given)
            messages.success(request, f"Settings of {row.name} saved.")
            return redirect("connector", collection.slug, row.uuid)
        row.refresh_from_db()
    return _form(
        request, collection, form, "pooling/connectors/connector_change.html", {"connector": row, "kind": form.kind}
    )


@form_page
def connector_remove(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Show what will be deleted with a connector and what stays; the secret cannot be restored."""
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
    return render(request, "pooling/connectors/connector_remove.html", context)


def _removed(request: HttpRequest, collection: Collection, row: Connector) -> HttpResponse:
    try:
        connections.remove(row, actor=request.user)
    except AssayError as error:
        messages.error(request, str(error))
        return redirect("connector", collection.slug, row.uuid)
    messages.success(request, f"Connector {row.name} removed. Runs fetched from it stay.")
    return redirect("connectors", collection.slug)


def reached(request: HttpRequest, slug: str, uuid: str) -> tuple[Collection, Connector]:
    """Return the collection and its connector, for users with access."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = Connector.objects.filter(collection=collection).select_related("collection", "created_by")
    return collection, access.reach(rows, request.user, access.STAFF, uuid=uuid)


def _form(
    request: HttpRequest, collection: Collection, form: ConnectorForm, template: str, more: dict[str, object]
) -> HttpResponse:
    allowed = grants.connector_access(collection)
    context = {"collection": collection, "step": "runs", "form": form, "allowed": allowed, **more}
    return render(request, template, context, status=form.status)
