"""Archive page of a collection, and the page to archive, restore or delete one object."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from judgments.archive import archive
from judgments.hooks import ARCHIVE_KINDS
from judgments.models import Collection
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import errors_as_messages, form_page, get_page

ARCHIVED = Listing(
    name="archive",
    noun=("archived object", "archived objects"),
    columns=(
        Column("name", "Name", order="-", head=True, style="clip", url=lambda row: row["url"]),
        Column("kind", "Kind", order="-"),
        Column("archived_at", "Archived", order="-", style="nowrap"),
    ),
    search=("name",),
    choices=(
        ChoiceFilter(
            "kind",
            "Kind",
            "kind",
            [(name, name) for name in ("document", "pool", "rag-samples", "rag-system", "round", "run")],
        ),
    ),
    order="-archived_at",
)
# Maximum number of objects listed per kind; the search of the kind's own list finds the rest.
MOST = 1_000


@get_page.of_collection(access.LEADS)
def archived(request: HttpRequest, collection: Collection) -> HttpResponse:
    """List what is archived in a collection."""
    rows = [
        {"name": str(row), "kind": name, "archived_at": row.archived_at, "url": address(collection, name, row)}
        for name, kind in ARCHIVE_KINDS.items()
        if kind.model is not Collection
        for row in kind.model.objects.archived().filter(collection=collection).order_by("-archived_at")[:MOST]
    ]
    return answer(request, ARCHIVED, rows, "judgments/archive/archive.html", {"collection": collection})


@form_page.of_collection(access.LEADS)
def one(request: HttpRequest, collection: Collection, kind: str, uuid: str) -> HttpResponse:
    """Show the effect of archiving or deleting an object, and do what the user confirms."""
    row = archive.archivable_row(request.user, collection, kind, uuid)
    if request.method == "POST":
        with errors_as_messages(request):
            return redirect(_done(request, collection, kind, row))
        return redirect(address(collection, kind, row))
    context = {"collection": collection, "kind": kind, "row": row, "deletion": archive.deletion(kind, row)}
    return render(request, "judgments/archive/archive_one.html", context | {"in_use": ARCHIVE_KINDS[kind].in_use(row)})


def address(collection: Collection, kind: str, row: Any) -> str:
    """Return the page to archive, restore or delete an object."""
    return reverse("archive_one", args=[collection.slug, kind, row.uuid])


ACTS = {"delete": (archive.delete, "deleted"), "restore": (archive.restore, "restored")}


def _done(request: HttpRequest, collection: Collection, kind: str, row: Any) -> str:
    act = request.POST.get("act", "")
    verb, outcome = ACTS.get(act, (archive.archive, "archived"))
    verb(kind, row, actor=request.user)
    messages.success(request, f"{row} was {outcome}.")
    return (
        reverse(ARCHIVE_KINDS[kind].page, args=[collection.slug]) if act == "delete" else address(collection, kind, row)
    )
