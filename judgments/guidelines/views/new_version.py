"""Page for the next guidelines version: type it or load a file, preview it, store it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from assay.core.errors import AssayError, NotValid
from judgments.guidelines import examples, files
from judgments.guidelines import guidelines as verbs
from judgments.guidelines.files import GuidelineFile
from judgments.guidelines.forms import GuidelinesFileForm, GuidelinesForm
from judgments.guidelines.written_examples import written_into
from judgments.jobs.file_reading import read_at_once
from judgments.models import Collection, Example, GuidelinesVersion
from judgments.web import access
from judgments.web.body_limit import takes_files


@takes_files
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    examples.check_readable(request.user, verbs.latest(collection))
    act = request.POST.get("act", "") if request.method == "POST" else ""
    if act == "read":
        return _read(request, collection)
    last, waiting = verbs.latest(collection), examples.visible_examples(request.user, collection)
    form = GuidelinesForm(request.POST or None, waiting=waiting, initial={"markdown": _start(last, waiting)})
    if request.method == "POST" and form.is_valid() and act != "preview":
        with form.telling():
            markdown = form.cleaned_data["markdown"]
            added = verbs.add_version(collection, actor=request.user, markdown=markdown, written=form.written)
            messages.success(
                request, f"Version {added.number} created. New rounds can use it; existing rounds keep their version."
            )
            return redirect("guidelines_version", added.uuid)
    preview = verbs.normalize(form.cleaned_data.get("markdown", "")) if act == "preview" and form.is_bound else ""
    return _page(request, collection, form, preview)


def _start(last: GuidelinesVersion | None, waiting: list[Example]) -> str:
    """Return the last version, or the template, with the pending examples inserted."""
    return written_into(last.markdown if last else verbs.DEFAULT_TEMPLATE, waiting)


def _read(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Fill the form with a file's text and show the changes; nothing is stored."""
    file_form = GuidelinesFileForm(request.POST, request.FILES)
    waiting = examples.visible_examples(request.user, collection)
    if file_form.is_valid():
        with file_form.telling():
            upload = file_form.cleaned_data["file"]
            content, most = upload.read(files.MOST_BYTES + 1), files.MOST_BYTES
            file = read_at_once(files.read, content, upload.name, most=most)
            _refuse_the_same(collection, file)
            form = GuidelinesForm(waiting=waiting, initial={"markdown": file.markdown, "examples": []})
            context = {"file": upload.name, "remarks": file.remarks(collection), "file_form": file_form}
            return _page(request, collection, form, file.markdown, **context)
    start = _start(verbs.latest(collection), waiting)
    form = GuidelinesForm(waiting=waiting, initial={"markdown": start})
    return _page(request, collection, form, file_form=file_form)


def _refuse_the_same(collection: Collection, file: GuidelineFile) -> None:
    last = verbs.latest(collection)
    if last is not None and last.sha256 == GuidelinesVersion.hash_of(file.markdown):
        message = f"The text of this file is identical to version {last.number}. Nothing was stored."
        raise NotValid(message, {"file": message})


def _page(
    request: HttpRequest, collection: Collection, form: GuidelinesForm, preview: str = "", **more: Any
) -> HttpResponse:
    """Return the form page, with a preview and the changes if there is a text."""
    last = verbs.latest(collection)
    file_form = more.pop("file_form", None) or GuidelinesFileForm()
    context = {
        "collection": collection,
        "form": form,
        "file_form": file_form,
        "last": last,
        "step": "round",
        "preview": preview,
        "difference": verbs.difference_of_texts(last.markdown, preview) if preview and last else "",
        **more,
    }
    status = file_form.status if file_form.errors else form.status
    return render(request, "judgments/guidelines/guidelines_new.html", context, status=status)


@login_required
@require_POST
def remove_example(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Remove a pending example."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    row = access.reach(Example.objects.filter(collection=collection), request.user, access.LEADS, uuid=uuid)
    try:
        examples.remove(row, actor=request.user)
        messages.success(request, "Example withdrawn. Its resolution stays.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("guidelines", collection.slug)
