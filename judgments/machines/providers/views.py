"""Provider pages: list, add, change and remove model providers."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.llm.providers import PROTOCOLS
from judgments.machines.providers import accounts
from judgments.machines.providers.forms import ProviderForm
from judgments.members import grants
from judgments.models import Collection, Provider
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.lists import Listing, answer, how_many
from judgments.web.pages import errors_as_messages, finish, form_page, get_page, post_action


def _title(row: Provider) -> str:
    return PROTOCOLS[row.protocol].title if row.protocol in PROTOCOLS else row.protocol


def _models(row: Provider) -> str:
    return ", ".join(one["name"] for one in row.models_offered)


PROVIDERS = Listing(
    name="providers",
    noun=("provider", "providers"),
    columns=(
        Column(
            "name",
            "Provider",
            order="name",
            head=True,
            style="clip",
            url=("provider_change", "collection.slug", "uuid"),
        ),
        Column("protocol", "Protocol", order="protocol", value=_title),
        Column("base_url", "Address", order="base_url", style="clip"),
        Column("models", "Models", value=_models, style="clip"),
        Column("prices_of", "Price date", order="prices_of", style="nowrap"),
        Column("key", "Key", value=lambda row: "stored, encrypted" if row.sealed else "none"),
        Column("judges", "Judges", order="judge_count", numeric=True, value="judge_count"),
    ),
    search=("name", "base_url"),
    order="name",
)


@get_page.of_collection(access.LEADS)
def provider_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = collection.providers.select_related("collection").annotate(
        judge_count=how_many(collection.judges.all(), "provider")
    )
    context = {"collection": collection, "step": "round", "hosts": grants.provider_access(collection).hosts}
    return answer(request, PROVIDERS, rows, "judgments/machines/providers/providers.html", context)


@form_page.of_collection(access.LEADS)
def provider_new(request: HttpRequest, collection: Collection) -> HttpResponse:
    form = ProviderForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made = accounts.add(collection, actor=request.user, **form.given)
            messages.success(request, f"{made} added. Send a test call to check it.")
            return redirect("provider_change", collection.slug, made.uuid)
    hosts = grants.provider_access(collection).hosts
    context = {"collection": collection, "step": "round", "form": form, "hosts": hosts}
    return render(request, "judgments/machines/providers/provider_new.html", context, status=form.status)


@form_page
def provider_change(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    form = ProviderForm(request.POST or None, provider=row)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            accounts.change(row, actor=request.user, **form.given)
            return finish(request, f"{row} saved.", "provider_change", collection.slug, row.uuid)
        row.refresh_from_db()
    context = {
        "collection": collection,
        "step": "round",
        "provider": row,
        "form": form,
        "hosts": grants.provider_access(collection).hosts,
        "judges": row.judges.order_by("name"),
    }
    return render(request, "judgments/machines/providers/provider.html", context, status=form.status)


@post_action
def provider_remove(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    with errors_as_messages(request):
        accounts.remove(row, actor=request.user)
        message = f"{row} and its key were removed. Stored answers of its models are kept."
        return finish(request, message, "providers", collection.slug)
    return redirect("provider_change", collection.slug, row.uuid)


def reached(request: HttpRequest, slug: str, uuid: str) -> tuple[Collection, Provider]:
    collection = access.collection_for(request.user, slug, access.LEADS)
    rows = Provider.objects.filter(collection=collection).select_related("collection")
    return collection, access.reach(rows, request.user, access.LEADS, uuid=uuid)
