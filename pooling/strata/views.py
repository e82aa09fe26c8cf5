"""Page of the collection's strata, with the form to add one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from assay.core.counted_nouns import amount
from judgments.models import Collection, Stratum
from judgments.web import access
from judgments.web.figures import percent
from judgments.web.lists import Column, Listing, answer
from pooling.logs import traffic
from pooling.strata import strata as strata_actions
from pooling.strata.forms import StratumForm
from pooling.strata.strata import Joined

STRATA = Listing(
    name="strata",
    noun=("stratum", "strata"),
    columns=(
        Column("name", "Stratum", order="name", head=True, style="clip"),
        Column("share", "Share of the traffic", order="share", numeric=True, show=lambda row: percent(row.share)),
        Column("part_of", "Part of", value=lambda row: row.part_of.name if row.part_of else ""),
        Column("own", "Drawn for it", order="own", numeric=True),
        Column("also", "Existing", order="also", numeric=True),
        Column("filters", "Filter", value=lambda row: _filter_words(row.filters), style="clip muted"),
        Column("created_at", "Since", order="created_at", style="nowrap"),
    ),
    search=("name",),
    order="-share",
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def stratum_list(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    form = StratumForm(
        request.POST or None, collection=collection, initial={**StratumForm.DEFAULTS, **_from_link(request)}
    )
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return _add(request, collection, form)
    rows = Stratum.objects.filter(collection=collection).select_related("part_of")
    rows = rows.annotate(own=Count("queries", distinct=True), also=Count("places", distinct=True))
    context = {
        "collection": collection,
        "step": "queries",
        "form": form,
        "drawn": collection.queries.filter(probability__isnull=False).count(),
    }
    return answer(request, STRATA, rows, "pooling/strata/strata.html", context, form.status)


def _add(request: HttpRequest, collection: Collection, form: StratumForm) -> HttpResponse:
    log = form.cleaned_data["log"]
    if log is None:
        part_of = form.part_of or ""
        joined = strata_actions.add_list(collection, actor=request.user, part_of=part_of, **form.common)
    elif traffic.is_large(log):
        return redirect("job", strata_actions.add_later(log, actor=request.user, **form.common, **form.draw).uuid)
    else:
        joined = strata_actions.add_stratum(log, actor=request.user, **form.common, **form.draw)
    messages.success(request, _words(joined))
    return redirect("strata", collection.slug)


def _words(joined: Joined) -> str:
    number, there = len(joined.new), len(joined.there)
    also = f" {amount(there, 'existing query also belongs', 'existing queries also belong')} to it." if there else ""
    share = percent(joined.stratum.share)
    return f"{joined.stratum} represents {share} of the traffic, with {number:,} new quer{_ies(number)}.{also}"


def _ies(number: int) -> str:
    return "y" if number == 1 else "ies"


def _from_link(request: HttpRequest) -> dict[str, Any]:
    """Return the values that a link to this page prefills, for a missing stratum."""
    names = ("name", "words", "language", "log", "share")
    return {name: request.GET[name][:200] for name in names if request.GET.get(name)}


def _filter_words(filters: dict[str, Any]) -> str:
    parts = []
    if filters.get("words"):
        parts.append("words " + ", ".join(filters["words"]))
    if filters.get("queries"):
        parts.append(amount(len(filters["queries"]), "listed query", "listed queries"))
    if filters.get("language"):
        parts.append(f"language {filters['language']}")
    return "; ".join(parts)
