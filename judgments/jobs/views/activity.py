"""Activity page: who did what in a collection, and when."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from judgments.models import AuditRow, Collection
from judgments.web import access
from judgments.web.lists import Choice, Column, Listing, answer

COLUMNS = (
    Column("at", "When", order="pk", style="nowrap"),
    Column("sentence", "Action", order="sentence", head=True),
    Column("actor", "User", order="actor__username", value=lambda row: str(row.actor or "the server")),
    Column("verb", "Code", order="verb", style="id"),
)


def listing(collection: Collection) -> Listing:
    """Return the list; the filter offers the users with actions in this collection."""
    names = collection.audit.exclude(actor=None).values_list("actor__username", flat=True).order_by().distinct()
    people = [(name, name) for name in sorted(filter(None, names))]
    return Listing(
        name="activity",
        noun=("act", "acts"),
        columns=COLUMNS,
        search=("sentence", "verb"),
        choices=(Choice("who", "User", "actor__username", people),),
        order="-at",
    )


@login_required
@require_safe
def activity(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = AuditRow.objects.filter(collection=collection).select_related("actor")
    return answer(request, listing(collection), rows, "judgments/jobs/activity.html", {"collection": collection})
