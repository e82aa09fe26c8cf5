"""Connector pages: list, add and change connectors, try a query and fetch runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.text import Truncator, slugify

from assay.connectors import CONNECTORS, ConnectorKind, Hit, Setting
from assay.connectors.connector import DEEPEST
from assay.connectors.fetch import LONGEST_TIMEOUT, MOST_AT_ONCE, Plan
from judgments.jobs.views import SHAPES
from judgments.members import grants
from judgments.models import Collection
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import state
from judgments.web.forms import AssayForm
from judgments.web.lists import Listing, answer, small_table
from judgments.web.pages import errors_as_messages, finish, form_page, get_page, post_action
from judgments.web.posted_values import uuid_of
from pooling.connectors import connections, fetching
from pooling.models import Connector, Fetch

LONGEST_SETTING = 20_000
USUAL = {"timeout": 10.0, "concurrency": Plan().concurrency}
# Paths of fields in a response; these fields are collapsed because the defaults fit most engines.
MAPPING = ("hits", "doc_id", "score", "title", "text", "url", "image", "fields")


class ConnectorForm(AssayForm):
    """Settings of a connector; the fields come from the declaration of its kind."""

    def __init__(self, *args: Any, kind: ConnectorKind, connector: Connector | None = None, **kwargs: Any) -> None:
        before = {**connector.settings, **_own(connector)} if connector else USUAL
        kwargs.setdefault("initial", {**{one.name: one.default for one in kind.settings}, **before})
        super().__init__(*args, **kwargs)
        self.kind, self.connector = kind, connector
        self.fields["name"] = forms.CharField(
            max_length=120, help_text="Shown in this collection, for example: live shop."
        )
        for setting in kind.settings:
            self.fields[setting.name] = _field(setting, sealed=bool(connector and connector.sealed))
        self.fields["timeout"] = forms.FloatField(
            label="Time limit in seconds",
            min_value=0.1,
            max_value=LONGEST_TIMEOUT,
            help_text="Applies to one query, from connecting to the last byte.",
        )
        self.fields["concurrency"] = forms.IntegerField(
            label="Queries at a time",
            min_value=1,
            max_value=MOST_AT_ONCE,
            help_text="More queries at a time are faster but put more load on the engine.",
        )
        for field in self.fields.values():
            field.error_messages["required"] = "Enter a value."

    @property
    def first(self) -> list[Any]:
        """Return the fields that are always visible."""
        return [bound for bound in self if bound.name not in MAPPING]

    @property
    def mapping(self) -> list[Any]:
        """Return the fields for paths in a response."""
        return [bound for bound in self if bound.name in MAPPING]

    @property
    def mapping_is_open(self) -> bool:
        """Return whether one of the mapping fields has errors or changes."""
        return any(bound.errors for bound in self.mapping)

    @property
    def given(self) -> dict[str, Any]:
        """Return the arguments of the actions in `pooling.connectors.connections`."""
        cleaned = dict(self.cleaned_data)
        own = {name: cleaned.pop(name) for name in ("name", "timeout", "concurrency")}
        return {**own, "given": cleaned}


class TryForm(AssayForm):
    """A query that tests the settings."""

    query = forms.CharField(max_length=500, help_text="The response is not stored.")


class FetchForm(AssayForm):
    """Name and depth of the run to fetch."""

    run_name = forms.CharField(label="Run name", max_length=120)
    depth = forms.IntegerField(
        label="Documents per query",
        min_value=1,
        max_value=DEEPEST,
        help_text="A pool uses the first 10 to 50; measure recall on 100 or more.",
    )


def _own(connector: Connector) -> dict[str, Any]:
    return {"name": connector.name, "timeout": connector.timeout, "concurrency": connector.concurrency}


def _field(setting: Setting, *, sealed: bool) -> forms.Field:
    needed = setting.required
    label = setting.title if needed or setting.default else f"{setting.title} (optional)"
    if setting.secret:
        hint = "A secret is stored. Leave this empty to keep it." if sealed else setting.description
        widget: forms.Widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
        return forms.CharField(
            label=setting.title if sealed else label,
            required=False,
            max_length=5_000,
            strip=False,
            help_text=hint,
            widget=widget,
        )
    if setting.choices:
        return forms.ChoiceField(
            label=label, choices=[(one, one) for one in setting.choices], help_text=setting.description
        )
    if setting.lines > 1:
        widget = forms.Textarea(attrs={"rows": setting.lines, "class": "mono", "spellcheck": "false"})
    else:
        widget = forms.TextInput(attrs={"spellcheck": "false"})
    return forms.CharField(
        label=label, required=needed, max_length=LONGEST_SETTING, help_text=setting.description, widget=widget
    )


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
            "name", "Connector", order="name", head=True, style="clip", url=("connector", "collection.slug", "uuid")
        ),
        Column("kind", "Engine", order="kind", value=kind_title),
        Column("place", "Address", style="clip", value=place),
        Column("runs", "Runs fetched", order="run_count", numeric=True, value="run_count"),
        Column("last", "Last used", order="last_at", style="nowrap", value="last_at"),
        Column("created_by", "Added by", order="created_by__username", value=lambda row: str(row.created_by or "")),
    ),
    search=("name", "kind"),
    order="name",
)


@get_page.of_collection(access.STAFF)
def connector_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = collection.connectors.select_related("collection", "created_by").annotate(
        run_count=Count("fetches", filter=Q(fetches__run__isnull=False)), last_at=Max("fetches__created_at")
    )
    allowed = grants.connector_access(collection)
    context = {"collection": collection, "step": "runs", "hosts": allowed.hosts, "folders": allowed.folders}
    return answer(request, LISTED, rows, "pooling/connectors/connectors.html", context)


@form_page.of_collection(access.STAFF)
def connector_new(request: HttpRequest, collection: Collection) -> HttpResponse:
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
            return finish(request, f"Settings of {row.name} saved.", "connector", collection.slug, row.uuid)
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
    with errors_as_messages(request):
        connections.remove(row, actor=request.user)
        message = f"Connector {row.name} removed. Runs fetched from it are kept."
        return finish(request, message, "connectors", collection.slug)
    return redirect("connector", collection.slug, row.uuid)


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


DEPTH = 100


def _state(row: Fetch) -> SafeString | str:
    if row.run is not None:
        return state("done", "run created")
    return state(SHAPES[row.job.state], row.job.get_state_display()) if row.job else state("fail", "stopped")


def _address(row: Fetch) -> str:
    if row.run is not None:
        return reverse("run", args=[row.connector.collection.slug, row.run.uuid])
    return reverse("job", args=[row.job.uuid]) if row.job else ""


FETCHES = Listing(
    name="fetches",
    noun=("fetch", "fetches"),
    columns=(
        Column("run_name", "Run", order="run_name", head=True, style="clip", url=_address),
        Column("state", "State", show=_state),
        Column("answered", "Queries answered", order="answered", numeric=True),
        Column("asked", "Queries in total", numeric=True, value="query_count"),
        Column("depth", "Depth", order="depth", numeric=True),
        Column("created_at", "Started", order="created_at", style="nowrap"),
    ),
    order="-created_at",
)
HITS = (
    Column("rank", "Rank", numeric=True, value=lambda row: row[0]),
    Column("title", "Document", head=True, style="clip", value=lambda row: row[1].title or "(no title)"),
    Column("doc_id", "Id", style="id clip", value=lambda row: row[1].doc_id),
    Column("score", "Score", numeric=True, digits=4, value=lambda row: row[1].score),
    Column("text", "Text", style="clip muted", value=lambda row: Truncator(row[1].text).chars(120)),
)


@form_page
def connector(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    form = FetchForm(request.POST or None, initial=_suggested(row))
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made = fetching.start(row, actor=request.user, **form.cleaned_data)
            return redirect("job", made.job.uuid)
    return _page(request, collection, row, form=form, trial=TryForm())


@post_action
def connector_try(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    trial, hits = TryForm(request.POST), None
    if trial.is_valid():
        with trial.telling():
            hits = connections.attempt(row, trial.cleaned_data["query"], actor=request.user)
    return _page(request, collection, row, form=FetchForm(initial=_suggested(row)), trial=trial, hits=hits)


@post_action
def fetch_go_on(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    with errors_as_messages(request):
        rows = row.fetches.filter(uuid=uuid_of(request.POST.get("fetch", "")))
        fetch = access.existing(rows, "This fetch does not exist.")
        job = fetching.resume(fetch, actor=request.user, without_failed="without_failed" in request.POST)
        return redirect("job", job.uuid)
    return redirect("connector", collection.slug, row.uuid)


def _suggested(row: Connector) -> dict[str, Any]:
    return {"run_name": f"{slugify(row.name) or 'run'}-{timezone.now():%Y-%m-%d}", "depth": DEPTH}


def _page(
    request: HttpRequest,
    collection: Collection,
    row: Connector,
    *,
    form: FetchForm,
    trial: TryForm,
    hits: Sequence[Hit] | None = None,
) -> HttpResponse:
    fetches = row.fetches.select_related("connector__collection", "job", "run")
    context: dict[str, Any] = {
        "collection": collection,
        "step": "runs",
        "connector": row,
        "kind": kind_title(row),
        "tested": CONNECTORS[row.kind].tested if row.kind in CONNECTORS else "",
        "facts": _facts(row),
        "queries": collection.queries.count(),
        "stopped": [one for one in fetches if one.waits],
        "form": form,
        "trial": trial,
        "hits": None if hits is None else small_table("hits", ("hit", "hits"), HITS, list(enumerate(hits, start=1))),
    }
    status = form.status if form.is_bound else trial.status
    return answer(request, FETCHES, fetches, "pooling/connectors/connector.html", context, status=status)


def _facts(row: Connector) -> list[tuple[str, str]]:
    """Return the settings in the order of their declaration, without secrets."""
    if row.kind not in CONNECTORS:
        return [(name, str(value)) for name, value in sorted(row.settings.items())]
    shown = [one for one in CONNECTORS[row.kind].settings if not one.secret and row.settings.get(one.name)]
    facts = [(one.title, str(row.settings[one.name])) for one in shown]
    return [*facts, ("Secret", "stored, encrypted" if row.sealed else "none")]
