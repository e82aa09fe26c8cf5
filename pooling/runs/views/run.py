"""Page of one run: its ranking by query, and its health."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.scoring.run_similarity import DEPTH
from judgments.charts import charts
from judgments.models import Collection, Document, Query
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import streamed
from judgments.web.figures import percent
from judgments.web.forms import AssayForm
from judgments.web.lists import ChoiceFilter, Listing, answer, requested_table, small_table
from judgments.web.pages import form_page, get_page
from pooling.models import Run
from pooling.runs import downloads, overlap, runs
from pooling.runs import health as run_health
from pooling.runs import runs as stored_runs
from pooling.runs.known_pairs import judged_pairs
from pooling.runs.runs import family_field


class RenameForm(AssayForm):
    """A new name for a run."""

    name = forms.CharField(max_length=120)


class FamilyForm(AssayForm):
    """The family of the language model behind a run."""

    generator_family = family_field()


# A chart of more systems is unreadable; the table and its file contain all.
MOST_IN_PICTURE = MOST_IN_TABLE = 10

DEPTHS = (
    Column("documents", "Documents", head=True, value=lambda row: _depth(row[0], row[1])),
    Column("queries", "Queries", numeric=True, value=lambda row: row[2]),
)
OTHERS = (
    Column("run", "Run", head=True, style="clip", value="run.name", url=("run", "run.collection.slug", "run.uuid")),
    Column("jaccard", f"Jaccard@{DEPTH}", numeric=True, value=lambda row: row.likeness.jaccard),
    Column("rbo", f"RBO@{DEPTH}", numeric=True, value=lambda row: row.likeness.rbo),
    Column("same", "Queries with identical results", numeric=True, value=lambda row: row.likeness.same),
    Column("queries", "Compared queries", numeric=True, value=lambda row: row.likeness.queries),
)


def shown(run: Run) -> dict[str, Any]:
    """Return the context of a run's health, with its tables for download."""
    health = run_health.check(run)
    depths = small_table("depths", ("depth", "depths"), DEPTHS, health.depths)
    others = small_table("likeness", ("run", "runs"), OTHERS, health.others)
    return {
        "health": health,
        "now": health.now,
        "warnings": _warnings(health),
        "remarks": _remarks(health),
        "depths": depths,
        "depths_chart": charts.depth_bars(health.depths) if health.figures.smallest != health.figures.largest else None,
        "others": others,
        "shown_others": small_table("likeness", ("run", "runs"), OTHERS, health.others[:MOST_IN_TABLE]),
        "others_chart": charts.share_bars(_bars(health)),
        "tables": (depths, others),
    }


def _bars(health: run_health.Health) -> list[tuple[str, float]]:
    return [(other.run.name, other.likeness.jaccard or 0.0) for other in health.others[:MOST_IN_PICTURE]]


def _depth(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _warnings(health: run_health.Health) -> list[str]:
    """Return the problems of the file as sentences."""
    warnings, own = [], health.figures
    if own.against_rows:
        warnings.append(
            f"The ranks contradict the scores in {amount(own.against_queries, 'query', 'queries')}, first in "
            f"{own.first_against}. Assay orders the run by score."
        )
    if health.strange:
        warnings.append(
            f"The run has results for {amount(health.strange, 'query', 'queries')} that the collection does not have. "
            "They are stored but never scored or pooled."
        )
    if health.stayed_out:
        twice = f", {health.twice:,} of them with a repeated document" if health.twice else ""
        warnings.append(
            f"{amount(health.stayed_out, 'invalid row was', 'invalid rows were')} left out at import{twice}."
        )
    if own.mostly_tied:
        warnings.append(
            f"{percent(own.ties)} of the rows share their score with another row of the same query. Metrics order them "
            "by document id, not in the system’s order."
        )
    if own.infinite:
        warnings.append(f"{amount(own.infinite, 'score')} {_is(own.infinite)} infinite.")
    return warnings


def _remarks(health: run_health.Health) -> list[str]:
    """Return facts about the file that are no problem, as sentences."""
    remarks, own = [], health.figures
    if own.reordered_rows:
        remarks.append(
            f"{amount(own.reordered_rows, 'tied row')} had a different position for users, because the system orders "
            "equal scores by rank and metrics order them by document id."
        )
    if not own.ranked_rows and own.tied_rows:
        remarks.append("The run has no ranks, so the order of equal scores that users saw is unknown.")
    return remarks


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


TOP = 20


@dataclass(frozen=True)
class QueryRow:
    """One query with the run's documents."""

    query: Query
    documents: int
    tied: int
    best: float | None
    unjudged: int


PER_QUERY = Listing(
    name="queries",
    noun=("query", "queries"),
    columns=(
        Column("query_id", "Id", order="-", style="id clip", value=lambda row: row.query.query_id),
        Column(
            "query",
            "Query",
            order="-",
            head=True,
            style="clip",
            value=lambda row: row.query.text,
            url=lambda row: f"?query={row.query.uuid}#top",
        ),
        Column("documents", "Documents", order="-", numeric=True),
        Column("unjudged", "Unjudged@10", order="-", numeric=True),
        Column("tied", "Tied rows", order="-", numeric=True),
        Column("best", "Best score", order="-", numeric=True, digits=4),
        Column("tier", "Tier", order="-", value=lambda row: row.query.tier),
    ),
    search=("query__query_id", "query__text"),
    choices=(
        ChoiceFilter("tier", "Tier", "query__tier", Query.Tier.choices),
        ChoiceFilter(
            "answered",
            "Results",
            lambda rows, value: [row for row in rows if bool(row.documents) == (value == "yes")],
            [("yes", "with results"), ("no", "without results")],
        ),
    ),
    order="query_id",
    mark=lambda row: "" if row.documents else "warning",
)
TOP_COLUMNS = (
    Column("rank", "Rank", numeric=True),
    Column("title", "Document", head=True, style="clip", url=lambda row: row.url),
    Column("doc_id", "Id", style="id clip"),
    Column("score", "Score", numeric=True, digits=4),
    Column("others", "Other runs with this document in the top 10", style="clip muted"),
)


@dataclass(frozen=True)
class TopRow:
    """One document at its rank."""

    rank: int
    doc_id: str
    score: float
    title: str
    url: str
    others: str


@form_page
def run(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = _run_for(request, collection, uuid)
    if request.POST.get("act") == "baseline":
        removed = row.baseline
        stored_runs.set_baseline(collection, None if removed else row, actor=request.user)
        messages.success(request, f"{row} is no longer the baseline." if removed else f"{row} is now the baseline.")
        return redirect("run", collection.slug, row.uuid)
    families = request.POST.get("act") == "family"
    posted = request.POST or None
    form = RenameForm(None if families else posted, initial={"name": row.name})
    family = FamilyForm(posted if families else None, initial={"generator_family": row.generator_family})
    active: RenameForm | FamilyForm = family if families else form
    if request.method == "POST" and active.is_valid():
        with active.telling():
            messages.success(request, _changed(row, active.cleaned_data, request.user))
            return redirect("run", collection.slug, row.uuid)
        row.refresh_from_db()
    top = _top(request, collection, row)
    context = {"collection": collection, "step": "runs", "run": row, "form": form, "family": family, **top}
    health = shown(row)
    context |= health
    listed = _per_query(collection, row)
    return requested_table(request, (*top["tables"], *health["tables"]), context) or answer(
        request, PER_QUERY, listed, "pooling/runs/run.html", context, status=active.status
    )


def _changed(row: Run, given: dict[str, Any], actor: Any) -> str:
    """Run the action of one of the two forms; return a message."""
    if "generator_family" in given:
        runs.declare(row, family=given["generator_family"], actor=actor)
        return "Model family saved. Judges of the same family now show a warning."
    stored_runs.rename(row, name=given["name"], actor=actor)
    return f"Run renamed to {row.name}. Pools and snapshots refer to it by its hash."


@get_page
def run_file(request: HttpRequest, slug: str, uuid: str) -> HttpResponseBase:
    """Return the run as TREC run, CSV or Parquet."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    row = _run_for(request, collection, uuid)
    try:
        name, body = downloads.export(row, request.GET.get("as", "trec-run"))
    except NotValid as error:
        messages.error(request, f"{error}. Choose CSV or Parquet, which support all ids.")
        return redirect("run", collection.slug, row.uuid)
    return streamed(name, body, "application/octet-stream")


def _run_for(request: HttpRequest, collection: Collection, uuid: str) -> Run:
    rows = Run.objects.filter(collection=collection).select_related("collection", "created_by")
    return access.reach(rows.annotate(pool_count=Count("pools")), request.user, access.STAFF, uuid=uuid)


def _per_query(collection: Collection, row: Run) -> list[QueryRow]:
    """Return every query of the collection with the run's documents; empty if it has none."""
    table = stored_runs.ranked(row)
    judged = judged_pairs(collection)
    bounds = table.offsets.tolist()
    spans = {query_id: (bounds[place], bounds[place + 1]) for place, query_id in enumerate(table.query_ids)}
    rows = []
    for query in collection.queries.all():
        start, end = spans.get(query.query_id, (0, 0))
        scores = table.scores[start:end].tolist()
        tied = sum(number for number in Counter(scores).values() if number > 1)
        first = table.doc_ids[start : min(end, start + overlap.DEPTH)]
        unjudged = sum((query.query_id, doc_id) not in judged for doc_id in first)
        rows.append(QueryRow(query, end - start, tied, scores[0] if scores else None, unjudged))
    return rows


def _top(request: HttpRequest, collection: Collection, row: Run) -> dict[str, Any]:
    """Return the first documents of the requested query."""
    wanted = request.GET.get("query", "")
    try:
        query = collection.queries.filter(uuid=wanted).first() if wanted else None
    except ValidationError:
        query = None
    if query is None:
        return {"query": None, "tables": ()}
    page = small_table("top", ("document", "documents"), TOP_COLUMNS, _top_rows(collection, row, query))
    return {"query": query, "top": page, "tables": (page,)}


def _top_rows(collection: Collection, row: Run, query: Query) -> list[TopRow]:
    table = stored_runs.ranked(row)
    top = table.ranking(query.query_id)[:TOP]
    if not top:
        return []
    start = int(table.offsets[table.query_ids.index(query.query_id)])
    known = Document.objects.filter(collection=collection, doc_id__in=top).defer("text", "fields")
    documents = {document.doc_id: document for document in known}
    others = {
        other.name: overlap.first(other).get(query.query_id, ())
        for other in collection.runs.active().exclude(pk=row.pk)
    }
    return [
        TopRow(
            rank,
            doc_id,
            float(table.scores[start + rank - 1]),
            *_named(collection, documents.get(doc_id)),
            ", ".join(f"{name} {first.index(doc_id) + 1}" for name, first in others.items() if doc_id in first),
        )
        for rank, doc_id in enumerate(top, 1)
    ]


def _named(collection: Collection, document: Document | None) -> tuple[str, str]:
    if document is None:
        return "not in the collection", ""
    title = document.title or ("no title stored" if document.stub else document.doc_id)
    return title, reverse("document", args=[collection.slug, document.uuid])
