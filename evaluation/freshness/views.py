"""Views of freshness: the page of a snapshot, its forms, recorded changes and values that appeared."""

from __future__ import annotations

import datetime as dt
import uuid as uuid_module
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.staleness.actions import ACTIONS
from assay.staleness.distinctive_words import WORD, telling_words
from evaluation.freshness import freshness, refresh, uploads
from evaluation.freshness import job as freshness_job
from evaluation.freshness.freshness import Freshness
from evaluation.freshness.tables import CHECKS, RUNS, SIGNALS, acts, check_rows, run_rows, signal_rows
from evaluation.freshness.uploads import MOST_BYTES
from judgments.members import recorded_changes
from judgments.models import Collection, Declaration, Role, Snapshot
from judgments.snapshots import baselines, snapshots
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.downloads import json_file
from judgments.web.forms import AssayForm
from judgments.web.lists import answer, download
from judgments.web.middleware import takes_files
from judgments.web.pages import form_page, get_page, post_action
from judgments.web.posted_values import uuid_of

WORDS = {
    "schema": "Schema or analyzer changed",
    "embedding": "Embedding model changed",
    "category": "New category",
    "language": "New language",
}


class DeclarationForm(AssayForm):
    """Kind, date and note of a recorded change."""

    kind = forms.ChoiceField(label="Change", choices=list(WORDS.items()), widget=forms.RadioSelect)
    on = forms.DateField(
        label="Date", widget=forms.DateInput(attrs={"type": "date"}), help_text="In UTC. Assay flags older ratings."
    )
    note = forms.CharField(
        label="Note (optional)",
        required=False,
        max_length=300,
        help_text="The name of the model, field, category or language.",
    )

    def clean_on(self) -> dt.date:
        on: dt.date = self.cleaned_data["on"]
        if on > timezone.now().date():
            raise forms.ValidationError("This date is in the future. Record the change after it has happened.")
        return on

    @property
    def happened_at(self) -> dt.datetime:
        """Return the end of that day, or now if the day is today, because earlier ratings of the same day may be
        affected."""
        return min(dt.datetime.combine(self.cleaned_data["on"], dt.time.max, dt.UTC), timezone.now())


class FieldsForm(AssayForm):
    """The document fields that hold category and language."""

    category = forms.CharField(label="Category field", max_length=100)
    language = forms.CharField(label="Language field", max_length=100)


class FeedForm(AssayForm):
    """A file from an engine."""

    what = forms.ChoiceField(
        label="File contains",
        choices=[
            (Declaration.Kind.UNRATED, "a _rank_eval response as JSON"),
            (Declaration.Kind.INDEX, "the ids of all documents in the index, one per line"),
        ],
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File")
    name = forms.CharField(
        label="System name (optional)",
        required=False,
        max_length=120,
        help_text="A newer response with the same name replaces the older one.",
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError("The file is larger than 32 MB. Split it, or upload a smaller response.")
        return file


# Only the newest documents are read, because a user waits for this; documents of a new category are among them.
MOST_READ = 50_000
ACTION = "new-stratum"


def filled_in(collection: Collection, reading: Freshness) -> dict[str, str]:
    """Return prefilled stratum fields for new values, largest first; a recorded value by its name."""
    one = next((one for one in reading.report.asking if one.signal.action == ACTION), None)
    if one is None:
        return {}
    kind, first = one.signal.name, one.detail[0]
    name = str(first.get(kind) or first.get("note") or "")
    if kind == "language":
        return {"name": name, "language": name}
    return {"name": name, "words": ", ".join(words_for(collection, kind, name))}


def words_for(collection: Collection, kind: str, name: str) -> list[str]:
    """Return words that find queries of a category: its name if it is a single word, and typical words of its
    titles."""
    inside: list[str] = []
    outside: list[str] = []
    for title, value in _titles(collection, recorded_changes.fields_of(collection)[kind]):
        (inside if name in baselines.plain_values(value) else outside).append(title)
    own = [name.casefold()] if WORD.fullmatch(name) else []
    return list(dict.fromkeys([*own, *telling_words(inside, outside)])) or [name]


def _titles(collection: Collection, field: str) -> Any:
    rows = collection.documents.filter(stub=False).exclude(title="").order_by("-pk")
    return rows.values_list("title", KeyTextTransform(field, "fields"))[:MOST_READ].iterator(chunk_size=2_000)


@get_page
def freshness_page(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    context: dict[str, Any] = {"collection": collection, "step": "freshness", "snapshot": snapshot}
    if snapshot is None:
        return render(request, "evaluation/freshness/freshness_empty.html", context)
    reading = freshness.look(snapshot)
    if file := _file_of(request, snapshot, reading):
        return file
    listing = replace(RUNS, given={"snapshot": str(snapshot.uuid)} if request.GET.get("snapshot") else {})
    context |= _signals_context(request, snapshot, reading)
    return answer(request, listing, run_rows(reading), "evaluation/freshness/freshness.html", context)


def _signals_context(request: HttpRequest, snapshot: Snapshot, reading: Freshness) -> dict[str, Any]:
    collection = snapshot.collection
    # Lists load snapshots without the manifest.
    frozen = Snapshot.objects.filter(pk=snapshot.pk, manifest__has_key="baseline")
    lead = access.role_in(request.user, collection) == Role.LEAD
    return {
        "reading": reading,
        "lead": lead,
        "rows": signal_rows(reading),
        "acts": acts(snapshot, reading),
        "checks": check_rows(snapshot),
        "job": collection.jobs.filter(kind=freshness_job.KIND, state__in=freshness_job.OPEN).first(),
        "snapshots": list(collection.snapshots(manager="of_documents").defer("manifest")),
        "newest": collection.snapshots(manager="of_documents").first() == snapshot,
        "declared": list(recorded_changes.standing(collection, *recorded_changes.SPOKEN).select_related("created_by")),
        "history": Declaration.objects.filter(collection=collection).select_related("created_by", "withdraws")[:50],
        "fields": recorded_changes.fields_of(collection),
        "baseline": bool(snapshot.manifest.get("baseline")) if "manifest" in vars(snapshot) else frozen.exists(),
        "days": freshness_job.every(),
    }


@post_action
def freshness_check(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.POST.get("snapshot", ""))
    if snapshot is None:
        messages.error(request, "The collection has no snapshot to check yet.")
        return redirect("freshness", slug)
    job = freshness_job.check_later(snapshot, actor=request.user)
    return redirect("job", job.uuid)


@post_action
def freshness_pool(request: HttpRequest, slug: str) -> HttpResponse:
    """Create the pool and redirect to the form of its round; show errors on the page of the signals."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    snapshot = chosen_snapshot(collection, request.POST.get("snapshot", ""))
    try:
        if snapshot is None:
            raise NotValid("The collection has no snapshot yet, so no labels can be stale.")
        how = {"action": request.POST.get("action", ""), "seed": _seed(request), "actor": request.user}
        if how["action"] in ACTIONS and refresh.too_large(snapshot, how["action"]):
            return redirect("job", refresh.refresh_later(snapshot, **how).uuid)
        pool = refresh.refresh(snapshot, token=uuid_of(request.POST.get("token", "")), **how)
    except NotValid as error:
        messages.error(request, str(error))
        return redirect(_page_of(collection, snapshot))
    count = pool.entries.count()
    messages.success(request, f"Pool with {amount(count, 'pair')} created. Create a round from it.")
    return redirect(f"{reverse('round_new', args=[slug])}?pool={pool.uuid}")


@get_page
def freshness_stratum(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect to the form of a stratum with prefilled values, which are computed only on request."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    log = collection.query_logs.first()
    params = filled_in(collection, freshness.look(snapshot)) if snapshot else {}
    params |= {"log": str(log.uuid)} if log else {}
    return redirect(f"{reverse('strata', args=[slug])}?{urlencode(params)}")


def _page_of(collection: Collection, snapshot: Snapshot | None) -> str:
    """Redirect to the previous page, with the id of the snapshot unless it is the newest."""
    if snapshot is None or snapshot == collection.snapshots(manager="of_documents").defer("manifest").first():
        return reverse("freshness", args=[collection.slug])
    return freshness.page_of(snapshot)


def _seed(request: HttpRequest) -> int:
    text = request.POST.get("seed", "") or str(refresh.SEED)
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise NotValid(f"The seed {text!r} is not a whole number of at least 0.")
    return int(text)


def _form_page(
    request: HttpRequest, collection: Collection, form: AssayForm, page: str, save: Callable[[dict[str, Any]], str]
) -> HttpResponse:
    """Show a form, or save it and return to the signals with the message of `save`."""
    if request.method == "POST" and form.is_valid():
        with form.telling():
            messages.success(request, save(form.cleaned_data))
            return redirect("freshness", collection.slug)
    context = {"collection": collection, "step": "freshness", "form": form}
    # An empty post is an error about a required field.
    status = 422 if request.method == "POST" and form.status == 200 else form.status
    return render(request, f"evaluation/freshness/freshness_{page}.html", context, status=status)


@form_page
def freshness_declare(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    form = DeclarationForm(request.POST or None, initial={"kind": request.GET.get("kind", "schema")})

    def save(data: dict[str, Any]) -> str:
        fields = {"kind": data["kind"], "note": data["note"], "happened_at": form.happened_at}
        recorded_changes.declare(collection, actor=request.user, **fields)
        return "Change recorded. This page shows the ratings that are older than the change."

    return _form_page(request, collection, form, "declare", save)


@post_action
def freshness_withdraw(request: HttpRequest, slug: str, uuid: uuid_module.UUID) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    row = access.reach(Declaration.objects.filter(collection=collection), request.user, access.LEADS, uuid=uuid)
    recorded_changes.withdraw(row, actor=request.user)
    messages.success(request, "Change withdrawn. Both entries remain in the history.")
    return redirect("freshness", slug)


@form_page
def freshness_fields(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)

    def save(data: dict[str, Any]) -> str:
        given = {name: value for name, value in data.items() if value}
        recorded_changes.declare(collection, kind=Declaration.Kind.FIELDS, data=given, actor=request.user)
        return "Fields saved. The next snapshot uses them."

    form = FieldsForm(request.POST or None, initial=recorded_changes.fields_of(collection))
    return _form_page(request, collection, form, "fields", save)


@takes_files
@form_page
def freshness_feed(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    form = FeedForm(request.POST or None, request.FILES or None, initial={"what": Declaration.Kind.UNRATED})
    return _form_page(request, collection, form, "feed", lambda data: _fed(collection, data, request.user))


def _fed(collection: Collection, data: dict[str, Any], actor: Any) -> str:
    content = data["file"].read()
    if data["what"] == Declaration.Kind.INDEX:
        row = uploads.feed_index(collection, doc_ids=uploads.ids_of(content), actor=actor)
        gone = len(row.data["gone"])
        read, missing = amount(row.data["documents"], "id"), amount(gone, "judged document is", "judged documents are")
        return f"{read} read; {missing} missing."
    row = uploads.feed_unrated(collection, reply=content, actor=actor, name=data["name"])
    return (
        f"The response covers {amount(len(row.data['details']), 'query', 'queries')}; "
        "its unrated documents count as unjudged."
    )


@get_page
def freshness_history(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    if snapshot is None:
        return redirect("freshness", slug)
    context = {"collection": collection, "step": "freshness", "snapshot": snapshot}
    rows = check_rows(snapshot)
    return answer(request, CHECKS, rows, "evaluation/freshness/freshness_history.html", context)


def _file_of(request: HttpRequest, snapshot: Snapshot, reading: Freshness) -> HttpResponse | None:
    """Return the signals as JSON or CSV, if requested."""
    collection, wanted = snapshot.collection, request.GET.get("format")
    if wanted == "json":
        content = snapshots.redacted_for(request.user, collection, freshness.as_json(snapshot, reading))
        return json_file(slugify(f"{collection.slug} {snapshot} freshness"), content)
    return (
        download(SIGNALS.read({}, signal_rows(reading)), {"collection": collection})
        if wanted == "signals.csv"
        else None
    )
