"""Query pages: the list with the traffic it represents, and the page of one query with its narrative."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import forms
from django.db.models import Case, Value, When
from django.http import Http404, HttpRequest, HttpResponse

from assay.formats.row_types import StratumRow
from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Collection, Judgment, Pair, Query
from judgments.queries import narratives, strata
from judgments.queries.narratives import LONGEST
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer, how_many
from judgments.web.pages import finish, form_page, get_page


class NarrativeForm(AssayForm):
    """Form for the need of a query."""

    narrative = forms.CharField(
        label="Need",
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text="Describe the searcher's goal, and what is relevant and what is not.",
    )

    def clean(self) -> dict[str, Any]:
        # An empty field removes the need; a request without the field is invalid.
        if "narrative" not in self.data:
            self.add_error("narrative", "Enter the need.")
        return super().clean() or {}


QUERY = ("query", "collection.slug", "uuid")
QUERIES = Listing(
    name="queries",
    noun=("query", "queries"),
    columns=(
        Column("query_id", "Id", order="query_id", style="id"),
        Column("query", "Query", order="text", value="text", url=QUERY, head=True, style="clip"),
        Column("frequency", "Searches", order="frequency", numeric=True),
        Column("tier", "Tier", order="tier"),
        Column("stratum", "Stratum", order="stratum__name", value=lambda query: str(query.stratum or ""), style="id"),
        Column("clients", "Clients", order="clients", numeric=True),
        Column("probability", "Inclusion probability", order="probability", numeric=True),
        Column("weight", "Weight", order="weight", numeric=True, digits=5),
        Column("group", "Group", order="group", style="id"),
        Column("narrative", "Need", style="clip muted"),
        Column("pairs", "Pairs", order="pair_count", numeric=True, value="pair_count"),
    ),
    search=("query_id", "text", "narrative"),
    choices=(
        ChoiceFilter("tier", "Tier", "tier", Query.Tier.choices),
        ChoiceFilter(
            "need",
            "Need",
            lambda rows, value: rows.filter(narrative="") if value == "without" else rows.exclude(narrative=""),
            [("with", "with a need"), ("without", "without a need")],
        ),
    ),
    order="query_id",
)
_WITHOUT_STRATA = replace(QUERIES, columns=tuple(column for column in QUERIES.columns if column.key != "stratum"))


@get_page.of_collection(access.STAFF)
def query_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = collection.queries.select_related("collection", "stratum")
    rows = rows.annotate(pair_count=how_many(Pair.objects, "query"))
    context = {
        "collection": collection,
        "step": "queries",
        "sample": collection.query_samples.first(),
        "draws": collection.query_samples.filter(queries__isnull=False).distinct().count(),
        "progress": narratives.progress(collection),
        "groups": collection.query_groups.count(),
        "strata": collection.strata.count(),
    }
    listing = QUERIES if context["strata"] else _WITHOUT_STRATA
    return answer(request, listing, rows, "judgments/queries/queries.html", context)


PAIRS = Listing(
    name="pairs",
    noun=("pair", "pairs"),
    columns=(
        Column("round", "Round", order="round__name", value="round.name"),
        Column("doc_id", "Document", order="document__doc_id", value="document.doc_id", style="id"),
        Column(
            "title",
            "Title",
            order="document__title",
            value=lambda pair: str(pair.document),
            url=("document", "round.collection.slug", "document.uuid"),
            head=True,
            style="clip",
        ),
        # Counts only: a lead who also rates must not see a grade here, nor an extra rating.
        Column(
            "ratings",
            "Ratings",
            order="ratings",
            numeric=True,
            show=lambda pair: "hidden" if pair.ratings is None else f"{pair.ratings:,}",
        ),
        Column("ratings_wanted", "Ratings wanted", order="ratings_wanted", numeric=True),
    ),
    search=("document__doc_id", "document__title", "round__name"),
    order="round",
)


@form_page
def query(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    rows = Query.of_any_kind.filter(collection=collection).select_related("sample", "stratum")
    row = rows.filter(uuid=uuid).first()
    if row is None:
        raise Http404
    form = NarrativeForm(request.POST or None, initial={"narrative": row.narrative or row.draft})
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return finish(request, _write(row, form.cleaned_data["narrative"], request), request.get_full_path())
    pairs = Pair.objects.filter(query=row).select_related("round__collection", "document", "query")
    untold = _untold(request.user, row)
    pairs = pairs.annotate(
        ratings=Case(When(pk__in=untold, then=Value(None)), default=how_many(Judgment.objects.counted(), "pair"))
    )
    context = {"collection": collection, "query": row, "step": "queries", "form": form, **_around(collection, row)}
    return answer(request, PAIRS, pairs, "judgments/queries/query.html", context, form.status)


def _untold(reader: Any, query: Query) -> list[int]:
    """Return the pairs of the query that the reader may still grade; an extra rating reveals that grades differ."""
    rounds = query.collection.rounds.filter(pairs__query=query).distinct()
    return [
        pk
        for one in rounds
        for pk in pairs_with_hidden_grades(reader, one).filter(query=query).values_list("pk", flat=True)
    ]


def _write(query: Query, text: str, request: HttpRequest) -> str:
    """Save the need or a draft, and show what raters see."""
    if request.POST.get("act") == "draft":
        narratives.save_draft(query, text=text, actor=request.user)  # type: ignore[arg-type]
        return "Saved as a draft. Raters do not see it."
    before = query.narrative
    seen = request.POST.get("seen")
    narratives.write(query, text=text, actor=request.user, seen=seen)  # type: ignore[arg-type]
    judged = narratives.judged_before(query) if before != text.strip() else 0
    older = (
        f" {judged:,} judgment{'' if judged == 1 else 's'} so far {'was' if judged == 1 else 'were'} made without it."
    )
    return "Saved. Raters see it from their next pair." + (older if judged else "")


def _places(query: Query) -> list[StratumRow]:
    """Return what the query represents beyond the draw that the page's head describes."""
    places = strata.places([query]).get(query.pk, [])
    return places if [place.stratum for place in places] != [str(query.stratum)] else []


def _around(collection: Collection, query: Query) -> dict[str, Any]:
    """Return further context of a query: its strata, its group, open rounds, and the neighbors without a need."""
    bare = collection.queries.filter(narrative="").order_by("pk")
    group = collection.query_groups.filter(name=query.group).first() if query.group else None
    return {
        "places": _places(query),
        "group": group,
        "spellings": [one for one in group.queries[:20] if one.pk != query.pk] if group else [],
        "open_rounds": list(narratives.open_rounds(query)),
        "seen": narratives.version(query),
        "previous": bare.filter(pk__lt=query.pk).last(),
        "next": bare.filter(pk__gt=query.pk).first(),
        "progress": narratives.progress(collection),
    }
