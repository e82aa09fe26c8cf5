"""Import pages: upload, report, store; and the label sources of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.utils.dateformat import format as date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst, slugify

from assay.core.errors import AssayError, NotFound
from assay.core.read_report import Alike, Problem, Report, grouped
from assay.core.text_rules import amount
from judgments.hooks import IMPORT_KINDS
from judgments.imports import ingestion
from judgments.imports.forms import FileForm, ReadForm, StoreForm
from judgments.imports.kinds import ImportKind
from judgments.labels import grade_visibility
from judgments.models import Collection, Job, LabelSource, Upload
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.middleware import check_quota, takes_files
from judgments.web.pages import finish, form_page, get_page, post_action
from judgments.web.posted_values import uuid_of

# The list of a kind's stored rows, and the evaluation step that it belongs to.
STEPS = {"queries": "queries", "query-logs": "queries", "runs": "runs", "judgments": "round", "bundles": "snapshot"}
LISTS = {
    "qrels": "Label sources",
    "clicks": "Labels from clicks",
    "query-logs": "Query logs",
    "runs": "Runs",
    "judgments": "Rounds",
    "bundles": "Snapshots",
    "samples": "RAG",
    "outputs": "RAG",
}
LISTED_AT = {"judgments": "rounds", "bundles": "snapshots", "samples": "rag", "outputs": "rag"}
MOST_TOGETHER = 100
# After storing one of these, the user continues on the page of the new object.
NEXT_ACT = {"query-logs": "query_log", "clicks": "click_source", "samples": "rag_set"}


@takes_files
@form_page
def new(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    member = IMPORT_KINDS[kind]
    collection = access.collection_for(request.user, slug, member.roles)
    post = request.method == "POST"
    if post:
        check_quota(request.user)
    form = FileForm(member, request.POST if post else None, request.FILES if post else None)
    if post and form.is_valid():
        if len(form.uploaded_files) > 1:
            uploads = [_receive(request, collection, member, form, file) for file in form.uploaded_files]
            return redirect(_together(collection, member, uploads))
        with form.telling():
            upload = _receive(request, collection, member, form, form.uploaded_files[0])
            if ingestion.refusal(upload):
                return _ask(request, collection, member, ReadForm(upload), upload)
            if upload.report:
                return redirect("upload", upload.uuid)
            return _read_by(request, upload)
    return _ask(request, collection, member, form)


def _read_by(request: HttpRequest, upload: Upload) -> HttpResponse:
    return finish(request, f"{upload.filename} is being checked. You can leave this page.", _reading(upload))


def _ask(
    request: HttpRequest, collection: Collection, member: ImportKind, form: FileForm, upload: Upload | None = None
) -> HttpResponse:
    """Return the page to choose a file and its reader options, or only the options for an uploaded file."""
    context = {
        "collection": collection,
        "kind": member,
        "form": form,
        "upload": upload,
        "refusal": ingestion.refusal(upload) if upload and not form.is_bound else "",
        "list_url": _list_url(collection, member),
        "list_name": LISTS.get(member.name, member.title),
        "step": STEPS.get(member.name, ""),
    }
    status = 422 if context["refusal"] and request.method == "POST" else form.status
    return render(request, "judgments/imports/import_new.html", context, status=status)


@form_page
def read_again(request: HttpRequest, uuid: str) -> HttpResponse:
    """Read an uploaded file again as another format or with other column names."""
    row = _upload_for(request, uuid)
    if row.stored_at is not None:
        return redirect("upload", row.uuid)
    form = ReadForm(row, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            chosen = form.cleaned_data["format"]
            job = ingestion.read_again(row, format=chosen, options=form.options(), actor=request.user)
            return redirect("upload", row.uuid) if job is None else _read_by(request, row)
    return _ask(request, row.collection, IMPORT_KINDS[row.kind], form, row)


def _receive(request: HttpRequest, collection: Collection, member: ImportKind, form: FileForm, file: Any) -> Upload:
    upload = ingestion.take_in(
        collection,
        kind=member.name,
        file=file,
        filename=file.name,
        actor=request.user,
        format=form.cleaned_data["format"],
        options=form.options(),
        keep_refused=True,
    )
    if not upload.report and not ingestion.refusal(upload):
        ingestion.read_later(upload, actor=request.user)  # type: ignore[arg-type]
    return upload


def _together(collection: Collection, member: ImportKind, uploads: Sequence[Upload]) -> str:
    """Return the page of several files sent together."""
    query = urlencode([("upload", upload.uuid) for upload in uploads])
    return f"{reverse('uploads_together', args=[collection.slug, member.name])}?{query}"


@form_page
def together(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Preview several files sent together, with one button to store those without errors."""
    if kind not in IMPORT_KINDS or IMPORT_KINDS[kind].names is None:
        raise NotFound("Import files of this kind one at a time.")
    member = IMPORT_KINDS[kind]
    collection = access.collection_for(request.user, slug, member.roles)
    wanted = [one for text in request.GET.getlist("upload")[:MOST_TOGETHER] if (one := uuid_of(text))]
    rows = list(Upload.objects.filter(collection=collection, kind=kind, uuid__in=wanted).order_by("filename", "pk"))
    names = dict(zip(rows, member.names(collection, [row.filename for row in rows]), strict=True))  # type: ignore[misc]
    ready = [row for row in rows if row.stored_at is None and row.report and not row.report["error_count"]]
    if request.method == "POST":
        stored = [_store_one(request, row, names[row]) for row in ready]
        messages.success(request, f"{amount(sum(stored), 'file')} stored.")
        return redirect(request.get_full_path() if len(ready) < len(rows) else _list_url(collection, member))
    context = {
        "collection": collection,
        "kind": member,
        "files": [(row, names[row], ingestion.refusal(row)) for row in rows],
        "ready": len(ready),
        "list_url": _list_url(collection, member),
        "list_name": LISTS.get(kind, member.title),
        "step": STEPS.get(kind, ""),
    }
    return render(request, "judgments/imports/imports_together.html", context)


def _store_one(request: HttpRequest, row: Upload, name: str) -> bool:
    """Store one of several files; an error is reported and does not stop the others."""
    try:
        ingestion.store_soon(row, actor=request.user, accept_errors=False, options={"name": name})  # type: ignore[arg-type]
    except AssayError as error:
        messages.error(request, f"{row.filename}: {error}")
        return False
    return True


def _kind_of_problem(alike: Alike) -> SafeString:
    look = "danger" if alike.severity == "error" else "warn"
    return format_html('<span class="badge badge--{}">{}</span>', look, alike.severity)


def _as_they_stand(alike: Alike) -> SafeString:
    return format_html_join(SafeString("<br>"), "{}", ((problem.raw,) for problem in alike.shown))


ISSUES = Listing(
    name="odd",
    noun=("kind of issue", "kinds of issues"),
    columns=(
        Column("line", "Lines", order="line", show=lambda alike: alike.lines),
        Column("number", "Count", order="number", numeric=True),
        Column("severity", "Severity", order="severity", show=_kind_of_problem),
        Column("raw", "Source line", style="mono clip", show=_as_they_stand),
        Column("what", "Issue", order="what", style="why"),
        Column("done", "Action"),
        Column("fix", "Fix", style="muted why"),
        Column("code", "Code", order="code", style="id"),
    ),
    search=("raw", "what", "code"),
    choices=(ChoiceFilter("severity", "Severity", "severity", [("error", "errors"), ("warning", "warnings")]),),
    order="line",
    mark=lambda problem: problem.severity,
    stacked=True,
)


@form_page
def upload(request: HttpRequest, uuid: str) -> HttpResponse:
    row = _upload_for(request, uuid)
    if ingestion.refusal(row):
        return redirect("upload_read", row.uuid)
    if not row.report:
        return redirect(_reading(row))
    if request.GET.get("format") in ("json", "csv"):
        return _report_file(request, row)
    if request.method == "POST" and row.stored_at is not None:
        messages.info(request, f"{row.filename} is already stored.")
        return redirect("upload", row.uuid)
    form = StoreForm(row, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return _store(request, row, form)
    from assay.formats import FORMATS

    report = report_of(row)
    context = {
        "collection": row.collection,
        "upload": row,
        "kind": IMPORT_KINDS[row.kind],
        "report": report,
        "format": FORMATS[row.format].title if row.format in FORMATS else row.format,
        "figures": _figures(row),
        "hash": _hash_shown(request, row),
        "first_rows": _first_rows(row),
        "form": form,
        "list_url": _list_url(row.collection, IMPORT_KINDS[row.kind]),
        "list_name": LISTS.get(row.kind, IMPORT_KINDS[row.kind].title),
        "step": STEPS.get(row.kind, ""),
    }
    return answer(
        request, ISSUES, grouped(report.problems), "judgments/imports/import_check.html", context, form.status
    )


def _first_rows(row: Upload) -> dict[str, Any]:
    """Return the first rows as read, without columns that are empty in all of them."""
    rows = row.preview["rows"]
    shown = [place for place in range(len(row.preview["columns"])) if any(cells[place] for cells in rows)]
    names = [capfirst(row.preview["columns"][place].replace("_", " ")) for place in shown]
    return {"columns": names, "rows": [[cells[place] for place in shown] for cells in rows]}


def _figures(row: Upload) -> dict[str, Any]:
    """Return the figures of a file, without obvious ones; times are shown as days to save space."""
    quiet = IMPORT_KINDS[row.kind].quiet
    figures = {name: value for name, value in row.preview["figures"].items() if name != "rows"}
    return {name: _day(value) for name, value in figures.items() if value or name not in quiet}


def _day(value: Any) -> Any:
    """Return the day of an ISO 8601 time; any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return str(date_format(datetime.fromisoformat(value), "j M Y"))
    except ValueError:
        return value


def _reading(row: Upload) -> str:
    """Return the page of the job that reads or stores a file."""
    job = access.existing(
        Job.objects.filter(collection=row.collection, parameters__upload=str(row.uuid)),
        "This file was not read. Import it again.",
    )
    return reverse("job", args=[job.uuid])


@post_action
def throw_away(request: HttpRequest, uuid: str) -> HttpResponse:
    row = _upload_for(request, uuid)
    if row.stored_at is None:
        ingestion.throw_away(row, actor=request.user)
        messages.success(request, f"{row.filename} was discarded. Nothing was stored.")
    else:
        messages.info(request, f"{row.filename} is already stored.")
    return redirect(_list_url(row.collection, IMPORT_KINDS[row.kind]))


def _upload_for(request: HttpRequest, uuid: str) -> Upload:
    rows = Upload.objects.select_related("collection")
    row = access.reach(rows, request.user, access.STAFF, uuid=uuid)
    return access.reach(rows, request.user, IMPORT_KINDS[row.kind].roles, uuid=uuid)


def _store(request: HttpRequest, row: Upload, form: StoreForm) -> HttpResponse:
    options = {name: form.cleaned_data[name] for name in IMPORT_KINDS[row.kind].asks if name in form.cleaned_data}
    accept = form.cleaned_data.get("accept_errors", False)
    stored = ingestion.store_soon(row, actor=request.user, accept_errors=accept, options=options)
    if isinstance(stored, Job):
        return finish(request, f"{row.filename} is being stored. You can leave this page.", "job", stored.uuid)
    rows = f"{stored['rows']:,} row{'' if stored['rows'] == 1 else 's'}"
    left_out = f" {stored['left_out']:,} left out." if stored["left_out"] else ""
    messages.success(request, f"Stored {rows} from {row.filename}.{left_out}")
    if row.kind == "judgments":
        return redirect("round_agreement", stored["id"])
    if row.kind == "outputs":
        return redirect("rag_set", row.collection.slug, stored["samples"])
    if row.kind in NEXT_ACT:
        return redirect(NEXT_ACT[row.kind], row.collection.slug, stored["id"])
    return redirect(_list_url(row.collection, IMPORT_KINDS[row.kind]))


def report_of(row: Upload) -> Report:
    """Return the report as it was written when the file was read."""
    return Report(**{**row.report, "problems": tuple(Problem(**problem) for problem in row.report["problems"])})


def _report_file(request: HttpRequest, row: Upload) -> HttpResponse:
    name = slugify(f"{row.collection.slug} {row.filename} report")
    report = report_of(row)
    if request.GET["format"] == "csv":
        return attachment(f"{name}.csv", report.as_csv())
    return attachment(f"{name}.json", (report if _hash_shown(request, row) else replace(report, sha256="")).as_json())


def _hash_shown(request: HttpRequest, row: Upload) -> bool:
    """Return whether the file's hash may be shown; the hash of a file of labels can reveal the labels."""
    own = row.kind != "qrels" or row.created_by_id == request.user.pk
    return own or grade_visibility.may_read_hashes(request.user, row.collection)  # type: ignore[arg-type]


def _list_url(collection: Collection, member: ImportKind) -> str:
    """Return the address of the kind's list, or of the overview if the kind has no list."""
    try:
        return reverse(LISTED_AT.get(member.name, member.name.replace("-", "_")), args=[collection.slug])
    except NoReverseMatch:
        return reverse("collection", args=[collection.slug])


LABEL_SOURCES = Listing(
    name="label-sources",
    noun=("label source", "label sources"),
    columns=(
        Column("name", "Source", order="name", head=True, style="clip", url=lambda source: _page(source)),
        Column("kind", "Kind", order="kind", value=lambda source: source.get_kind_display()),
        Column("labels", "Labels", order="label_count", numeric=True, value="label_count"),
        Column("queries", "Queries", order="query_count", numeric=True, value="query_count"),
        Column("created_by", "Stored by", value=lambda source: str(source.created_by or "")),
        Column("created_at", "Stored", order="created_at", style="nowrap"),
        Column("sha256", "SHA-256", show=lambda source: f"{source.sha256[:12]}…", style="id"),
    ),
    search=("name",),
    choices=(ChoiceFilter("kind", "Kind", "kind", LabelSource.Kind.choices),),
    order="-created_at",
)


@get_page.of_collection(access.STAFF)
def source_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = collection.label_sources.select_related("collection", "created_by").annotate(
        label_count=Count("labels"), query_count=Count("labels__query", distinct=True)
    )
    shown = grade_visibility.may_read_hashes(request.user, collection)
    listing = LABEL_SOURCES if shown else LABEL_SOURCES.without("sha256")
    return answer(request, listing, rows, "judgments/imports/label_sources.html", {"collection": collection})


def _page(source: LabelSource) -> str:
    """Return the page of labels from clicks; imported labels have no page."""
    if source.kind != LabelSource.Kind.CLICKS:
        return ""
    return reverse("click_source", args=[source.collection.slug, source.uuid])
