"""Pages of sample sets: the list, the files, and the rounds in which people grade answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify

from assay.core.csv_cells import csv_row, escape
from assay.core.errors import NotAllowed, NotFound
from assay.core.text_rules import amount
from evaluation.models import RagSampleSet
from evaluation.rag import from_collection, people, scorecards, systems
from evaluation.rag import sample_sets as files
from evaluation.rag.critic_ledger import ledger_rows
from evaluation.rag.forms import FromCollectionForm, GradeForm
from evaluation.rag.sample_sets import sample_set_of
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import json_file, streamed
from judgments.web.lists import Listing, answer, on_record
from judgments.web.pages import form_page, get_page


@get_page
def set_file(request: HttpRequest, slug: str, uuid: str, name: str) -> HttpResponse | StreamingHttpResponse:
    """Download the samples, the scorecards, the values of the samples or the critic's calls as a file."""
    row = sample_set_of(request, slug, uuid)
    if name not in FILES:
        raise NotFound(f"Unknown file {name!r}. Known files: {', '.join(FILES)}.")
    on_record(request, f"{name} of {row}", row.collection)
    return FILES[name](row, request.user)


def _file_name(row: RagSampleSet, name: str) -> str:
    return f"{slugify(f'{row.collection.slug} {row.name}')}-{name}"


def _csv(
    row: RagSampleSet, name: str, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]
) -> StreamingHttpResponse:
    def lines() -> Iterator[str]:
        yield csv_row(list(columns))
        for one in rows:
            yield csv_row(["" if one[key] is None else _plain(one[key]) for key in columns])

    return streamed(_file_name(row, name), lines())


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, int | float) else escape(str(value))


def _critic_calls(row: RagSampleSet, reader: Any) -> StreamingHttpResponse:
    access.collection_for(reader, row.collection.slug, access.LEADS)
    if scorecards.hides_critics(row, reader):
        raise NotAllowed(
            "You may still have to grade answers of this set, so the critic's calls are hidden until then."
        )
    lines = (json.dumps(call, ensure_ascii=False) + "\n" for call in ledger_rows(row))
    return streamed(_file_name(row, "critic-calls.jsonl"), lines)


SCORE_COLUMNS = (
    "system", "slice", "slice_value", "metric", "value", "low", "high", "num_samples", "num_skipped", "reason",
    "critic",
)  # fmt: skip
SAMPLE_COLUMNS = ("system", "sample_id", "metric", "value")


def _samples_csv(row: RagSampleSet, reader: Any) -> StreamingHttpResponse:
    rows = (
        {"system": card.system.name, "sample_id": sample_id, "metric": label, "value": value}
        for card in scorecards.cards_of(row, reader, per_sample=True)
        for label, values in card.per_sample.items()
        for sample_id, value in values.items()
    )
    return _csv(row, "per-sample.csv", rows, SAMPLE_COLUMNS)


FILES: dict[str, Callable[[RagSampleSet, Any], HttpResponse | FileResponse | StreamingHttpResponse]] = {
    "samples.jsonl": lambda row, reader: files.download(row, _file_name(row, "samples.jsonl")),
    "scorecards.json": lambda row, reader: json_file(
        _file_name(row, "scorecards"), scorecards.as_json(row, reader, per_sample=True)
    ),
    "scorecards.csv": lambda row, reader: _csv(row, "scorecards.csv", scorecards.rows_of(row, reader), SCORE_COLUMNS),
    "per-sample.csv": _samples_csv,
    "critic-calls.jsonl": _critic_calls,
}


@get_page
def system_file(request: HttpRequest, slug: str, uuid: str) -> FileResponse:
    """Download the outputs of a system."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    system = systems.system_for(request.user, collection, uuid)
    on_record(request, f"the outputs of {system}", collection)
    return files.download(system, _file_name(system.sample_set, f"{slugify(system.name) or 'system'}-outputs.jsonl"))


@form_page
def grade(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Create rounds in which people grade the answers of systems."""
    row = sample_set_of(request, slug, uuid, access.LEADS)
    form = GradeForm(row, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            made = people.start(row, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
            messages.success(request, f"{amount(len(made), 'draft round')} created. Open a round to start rating.")
            return redirect("rounds", slug)
    context = {"collection": row.collection, "sample_set": row, "form": form, "systems": row.systems.active().exists()}
    return render(request, "evaluation/rag/grade.html", context, status=form.status)


SETS = Listing(
    name="sample-sets",
    stacked=True,
    noun=("sample set", "sample sets"),
    columns=(
        Column("name", "Sample set", order="name", head=True, style="clip", url=("rag_set", "collection.slug", "uuid")),
        Column("rows", "Samples", order="rows", numeric=True),
        Column("systems", "Systems", order="system_count", numeric=True, value=lambda row: row.system_count),
        Column("references", "With reference", numeric=True, value=lambda row: row.figures["with a reference answer"]),
        Column(
            "relevant",
            "With relevant documents",
            numeric=True,
            value=lambda row: row.figures["with relevant documents"],
        ),
        Column("labels", "Labels", style="clip muted", value=lambda row: ", ".join(row.labels)),
        Column("created_by", "Added by", style="muted", value=lambda row: str(row.created_by or "")),
        Column("created_at", "Added", order="created_at", style="nowrap"),
    ),
    search=("name", "filename", "systems__name"),
    order="-created_at",
)


@get_page
def sample_sets(request: HttpRequest, slug: str) -> HttpResponse:
    """List the sample sets of a collection."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.rag_sample_sets.active().select_related("collection", "created_by").distinct()
    rows = rows.annotate(system_count=Count("systems", filter=Q(systems__archived_at__isnull=True), distinct=True))
    return answer(request, SETS, rows, "evaluation/rag/sets.html", {"collection": collection})


@form_page
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a sample set from the collection's queries, a snapshot and a run."""
    collection = access.collection_for(request.user, slug, access.STAFF)
    form = FromCollectionForm(collection, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            job = from_collection.start(collection, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
            return redirect("job", job.uuid)
    context = {"collection": collection, "form": form, "queries": collection.queries.count()}
    return render(request, "evaluation/rag/new.html", context, status=form.status)
